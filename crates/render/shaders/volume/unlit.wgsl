// Unlit colours.

fn lit(ray: Ray, p: vec3<f32>, cell: vec3<i32>, colour: vec4<f32>) -> vec4<f32> {
  return colour;
}
