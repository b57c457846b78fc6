// Pre-integrated classification: colour of a segment between the values at its ends; one segment
// per sample. Equivalent Rust code: crates/render/src/volume/integrals.rs;
// shaders/volume/decay.wgsl precedes this file.

// Running sums of red, green, blue and density over cells of values.
@group(0) @binding(1) var<storage, read> transfer: array<vec4<u32>>;

// Position among the entries: the cell of values around it, with the sums below and above.
struct Position {
  at: f32,
  cell: i32,
  above: vec4<u32>,
  below: vec4<u32>,
}

struct End {
  depth: Position,
  colour: Position,           // of two components
  direct: vec3<f32>,       // of four
}

// The far end of a segment is the near end of the next.
var<private> far: End;
var<private> far_of: i32 = -1;

fn position_in(value: f32) -> Position {
  let at = clamp((value - view.first_value) * view.per_value, -1e9, 1e9);
  let cell = clamp(i32(floor(at)), 0, i32(view.last_entry) - 1);
  return Position(at, cell, transfer_load(cell + 1), transfer_load(cell));
}

// Mean between two positions: parts of the outer cells and whole cells between them. All terms are
// positive: the mean is equally exact for close and for distant positions.
fn mean(a: Position, b: Position) -> vec4<f32> {
  let rising = a.at <= b.at;
  let i = select(b.cell, a.cell, rising);
  let j = select(a.cell, b.cell, rising);
  let rest = 1.0 - (min(a.at, b.at) - f32(i));
  let part = max(a.at, b.at) - f32(j);
  let in_a = vec4<f32>(a.above - a.below);
  let in_b = vec4<f32>(b.above - b.below);
  let first = select(in_b, in_a, rising);
  let end = select(in_a, in_b, rising);
  let between = vec4<f32>(select(a.below, b.below, rising) - select(b.above, a.above, rising));
  let whole = (rest * first + between + part * end) / (rest + f32(j - i - 1) + part);
  return select(whole, first, i == j);
}

fn half_of(a: Position, b: Position) -> vec4<f32> {
  let sums = mean(a, b) * (0.5 * view.depth_unit);
  let alpha = absorbed(sums.a);
  // Without absorption there is no colour.
  let share = alpha / max(sums.a, 1e-30);
  return vec4(sums.rgb * share, alpha);
}

fn end_of(ray: Ray, steps: f32) -> End {
  let p = ray.entry + ray.delta * steps;
  // The end may lie a cell outside of the samples' cells.
  let low = max(subvolume.low - 1, vec3(0));
  let high = min(subvolume.high + 1, view.cells) - 1;
  let cell = clamp(vec3<i32>(floor(p)), low, high);
  let share = clamp(p - vec3<f32>(cell), vec3(0.0), vec3(1.0));
  let at = cell - subvolume.origin;
  var end: End;
  end.depth = position_in(value_at(at, share, COMPONENTS - 1));
  if COMPONENTS == 2 { end.colour = position_in(value_at(at, share, 0)); }
  if COMPONENTS == 4 { end.direct = direct_at(at, share); }
  return end;
}

fn sample_of(ray: Ray, sample: i32, p: vec3<f32>, cell: vec3<i32>) -> vec4<f32> {
  if far_of != sample { far = end_of(ray, f32(sample)); }
  let near = far;
  far = end_of(ray, f32(sample + 1));
  far_of = sample + 1;
  if COMPONENTS > 1 {
    let alpha = absorbed(mean(near.depth, far.depth).a * view.depth_unit);
    if COMPONENTS == 4 { return vec4(0.5 * (near.direct + far.direct) * alpha, alpha); }
    return vec4(mean(near.colour, far.colour).rgb * view.colour_unit * alpha, alpha);
  }
  let middle = 0.5 * (near.depth.at + far.depth.at);
  let half_cell = clamp(i32(floor(middle)), 0, i32(view.last_entry) - 1);
  let half_way = Position(middle, half_cell, transfer_load(half_cell + 1), transfer_load(half_cell));
  let front = half_of(near.depth, half_way);
  let back = half_of(half_way, far.depth);
  return over(front, back);
}
