// Accumulated opacity of this rank's layers, for layers of four 8-bit components. Opacity is joined
// as in compositing and only grows.

fn joined(front: f32, alpha: f32) -> f32 {
  return f32(over_rgba8(u32(front) << 24u, to_rgba8(vec4(alpha)) & 0xff000000u) >> 24u);
}

fn is_hidden(front: f32) -> bool {
  return front >= 255.0 && subvolume.hidden >= 0.0;
}
