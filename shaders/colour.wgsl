// The arithmetic of premultiplied colours: of operators, of pixels and of the ray caster. A colour is four floats, red,
// green, blue and opacity, or a word with 8 bits of each (`rgba8`), red lowest, rounded to nearest. The twin, whose
// functions have the same names, is src/device/colour.rs.

// A colour in front of another.
fn over(front: vec4<f32>, back: vec4<f32>) -> vec4<f32> {
    return front + (1.0 - front.w) * back;
}

// The opacity becomes exactly 1 where it is `opaque` or more.
fn closed(colour: vec4<f32>, opaque: f32) -> vec4<f32> {
    return vec4<f32>(colour.xyz, select(colour.w, 1.0, colour.w >= opaque));
}

// `over` of 8 bits a component; sums beyond 255 stay there.
fn over_rgba8(front: u32, back: u32) -> u32 {
    let shifts = vec4<u32>(0u, 8u, 16u, 24u);
    let f = (vec4<u32>(front) >> shifts) & vec4<u32>(255u);
    let b = (vec4<u32>(back) >> shifts) & vec4<u32>(255u);
    let t = (255u - f.w) * b + vec4<u32>(128u);
    let c = min(f + ((t + (t >> vec4<u32>(8u))) >> vec4<u32>(8u)), vec4<u32>(255u));
    return c.x | (c.y << 8u) | (c.z << 16u) | (c.w << 24u);
}

// `closed` of 8 bits a component: the opacity becomes 255.
fn closed_rgba8(colour: u32, opaque: u32) -> u32 {
    return select(colour, colour | 0xff000000u, (colour >> 24u) >= opaque);
}

// Floats as 8 bits a component. Light may add more colour than there is opacity, for which there is no room.
fn rgba8_of(colour: vec4<f32>) -> u32 {
    let c = vec4<u32>(clamp(min(colour, vec4<f32>(colour.w)), vec4<f32>(0.0), vec4<f32>(1.0)) * 255.0 + 0.5);
    return c.x | (c.y << 8u) | (c.z << 16u) | (c.w << 24u);
}
