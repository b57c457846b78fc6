pub(crate) fn f32_to_half(value: f32) -> u16 {
    let sign = ((value.to_bits() >> 16) & 0x8000) as u16;
    let magnitude = value.abs();
    if value.is_nan() {
        return sign | 0x7e00;
    }
    if magnitude >= 65520.0 {
        return sign | 0x7c00;
    }
    // Number of steps of the smallest subnormal value, exact in `f64`.
    let exponent = if magnitude < 2.0_f32.powi(-14) { -14 } else { (magnitude.to_bits() >> 23) as i32 - 127 };
    let steps = (f64::from(magnitude) / 2.0_f64.powi(exponent - 10)).round_ties_even() as u32;
    // A step count of 1024 is the hidden bit, 2048 carries into the exponent.
    sign | (((exponent + 14) as u32) * 1024 + steps) as u16
}

pub(crate) fn half_to_f32(bits: u16) -> f32 {
    let sign = if bits & 0x8000 != 0 { -1.0 } else { 1.0 };
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    sign * match exponent {
        0 => mantissa * 2.0_f32.powi(-24),
        31 if mantissa == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (mantissa + 1024.0) * 2.0_f32.powi(exponent - 25),
    }
}
