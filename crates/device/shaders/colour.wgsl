// Arithmetic of premultiplied colours, for merge operators, pixels and the ray caster.
//
// A colour is four floats (red, green, blue, opacity), or a word with 8 bits per component
// (`rgba8`), red in the lowest bits, rounded to nearest. The CPU version in src/device/colour.rs
// has the same function names.

// Blends `front` over `back`.
fn over(front: vec4<f32>, back: vec4<f32>) -> vec4<f32> {
    return front + (1.0 - front.w) * back;
}

// Sets an opacity of at least `min_opacity` to exactly 1.
fn saturate_opacity(colour: vec4<f32>, min_opacity: f32) -> vec4<f32> {
    return vec4<f32>(colour.xyz, select(colour.w, 1.0, colour.w >= min_opacity));
}

// Blends `front` over `back`, with 8 bits per component. Sums saturate at 255.
fn over_rgba8(front: u32, back: u32) -> u32 {
    let shifts = vec4<u32>(0u, 8u, 16u, 24u);
    let f = (vec4<u32>(front) >> shifts) & vec4<u32>(255u);
    let b = (vec4<u32>(back) >> shifts) & vec4<u32>(255u);
    let t = (255u - f.w) * b + vec4<u32>(128u);
    let c = min(f + ((t + (t >> vec4<u32>(8u))) >> vec4<u32>(8u)), vec4<u32>(255u));
    return c.x | (c.y << 8u) | (c.z << 16u) | (c.w << 24u);
}

// Sets an opacity of at least `min_opacity` to 255, with 8 bits per component.
fn saturate_opacity_rgba8(colour: u32, min_opacity: u32) -> u32 {
    return select(colour, colour | 0xff000000u, (colour >> 24u) >= min_opacity);
}

// Converts floats to 8 bits per component. Colour components are limited to the opacity: with light
// they can be larger.
fn to_rgba8(colour: vec4<f32>) -> u32 {
    let c = vec4<u32>(clamp(min(colour, vec4<f32>(colour.w)), vec4<f32>(0.0), vec4<f32>(1.0)) * 255.0 + 0.5);
    return c.x | (c.y << 8u) | (c.z << 16u) | (c.w << 24u);
}
