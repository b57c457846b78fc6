// Exponentials with the same operations as crates/render/src/volume/decay.rs; built-in functions of
// drivers differ by more than the tolerance of samples.

struct Decay {
  power: f32,              // of two
  rest: f32,               // small
}

// exp(-depth) as power * (1 - rest).
fn decay_of(depth: f32) -> Decay {
  let most = min(depth, 80.0);
  let whole = floor(most * 1.4426950408889634 + 0.5);
  // ln 2 in two parts. The first has few digits, so that the difference is exact.
  let r = (most - whole * 0.6933594) + whole * 2.1219444e-4;
  let sixth = 1.0 / 120.0 - r * (1.0 / 720.0 - r * (1.0 / 5040.0));
  let rest = r * (1.0 - r * (0.5 - r * (1.0 / 6.0 - r * (1.0 / 24.0 - r * sixth))));
  return Decay(bitcast<f32>((127u - u32(whole)) << 23u), rest);
}

// 1 - exp(-depth) for depth >= 0.
fn absorbed(depth: f32) -> f32 {
  let decay = decay_of(depth);
  return (1.0 - decay.power) + decay.power * decay.rest;
}

// base to the power of exponent, for a base of 0 to 1 and a positive exponent.
fn power_of(base: f32, exponent: f32) -> f32 {
  // Logarithm: base = m 2^e with m near 1, and ln m by the artanh series.
  let bits = bitcast<u32>(max(base, 1e-30));
  let whole = bitcast<i32>(bits - 0x3f3504f3u) >> 23u;
  let m = bitcast<f32>(bits - (bitcast<u32>(whole) << 23u));
  let z = (m - 1.0) / (m + 1.0);
  let z2 = z * z;
  let series = 2.0 * z * (1.0 + z2 * (1.0 / 3.0 + z2 * (0.2 + z2 * (1.0 / 7.0 + z2 * (1.0 / 9.0)))));
  let ln = f32(whole) * 0.6931471805599453 + series;
  let decay = decay_of(max(-ln * exponent, 0.0));
  return decay.power - decay.power * decay.rest;
}
