// Premultiplied colours, for the built-in operators `over` and `under` and for compositing: of 8 bits a component in a word,
// red lowest, rounded to nearest as src/device/host_combine.rs does, and four floats.

// One in front of another; sums beyond 255 stay there, opacities from `opaque` on become 255.
fn bytes_over(front: u32, back: u32, opaque: u32) -> u32 {
    let shifts = vec4<u32>(0u, 8u, 16u, 24u);
    let f = (vec4<u32>(front) >> shifts) & vec4<u32>(255u);
    let b = (vec4<u32>(back) >> shifts) & vec4<u32>(255u);
    let t = (255u - f.w) * b + vec4<u32>(128u);
    var c = min(f + ((t + (t >> vec4<u32>(8u))) >> vec4<u32>(8u)), vec4<u32>(255u));
    if c.w >= opaque {
        c.w = 255u;
    }
    return c.x | (c.y << 8u) | (c.z << 16u) | (c.w << 24u);
}

// The opacity becomes exactly 1 where it reaches the float with these bits.
fn floats_closed(colour: vec4<f32>, from_bits: u32) -> vec4<f32> {
    var c = colour;
    if c.w >= bitcast<f32>(from_bits) {
        c.w = 1.0;
    }
    return c;
}
