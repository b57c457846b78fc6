// What this rank's layers in front hide, for layers of four components of 32 bits.

// The opacity of a layer behind what has the opacity `front`.
fn joined(front: f32, alpha: f32) -> f32 {
  return over(vec4(front), vec4(alpha)).a;
}

fn is_hidden(front: f32) -> bool {
  return 1.0 - front <= subvolume.hidden;
}
