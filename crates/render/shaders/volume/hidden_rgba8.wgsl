// What this rank's layers in front hide, for layers of four components of 8 bits. Opacity is joined as by blending, in which it
// only ever grows: what is opaque with fewer layers is opaque with more.

fn joined(front: f32, alpha: f32) -> f32 {
  return f32(over_rgba8(u32(front) << 24u, rgba8_of(vec4(alpha)) & 0xff000000u) >> 24u);
}

fn is_hidden(front: f32) -> bool {
  return front >= 255.0 && subvolume.hidden >= 0.0;
}
