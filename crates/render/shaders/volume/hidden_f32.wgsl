// Accumulated opacity of this rank's layers, for layers of four 32-bit components.

// Opacity of a layer behind an accumulated opacity `front`.
fn joined(front: f32, alpha: f32) -> f32 {
  return over(vec4(front), vec4(alpha)).a;
}

fn is_hidden(front: f32) -> bool {
  return 1.0 - front <= subvolume.hidden;
}
