//! Shewchuk's exact sum of floating-point numbers, like Python's `math.fsum`: an independent
//! reference.

/// Sum of finite numbers, rounded once, to nearest even. Intermediate sums must not overflow.
pub(crate) fn fsum(values: &[f64]) -> f64 {
    // Non-overlapping numbers in ascending order of magnitude, with the exact sum.
    let mut partials: Vec<f64> = Vec::new();
    for &value in values {
        let mut x = value;
        let mut kept = 0;
        for i in 0..partials.len() {
            let mut y = partials[i];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        partials.truncate(kept);
        partials.push(x);
    }
    let Some(mut high) = partials.pop() else { return 0.0 };
    let mut low = 0.0;
    while let Some(y) = partials.pop() {
        let x = high;
        high = x + y;
        low = y - (high - x);
        if low != 0.0 {
            break;
        }
    }
    // Corrects a tie that was rounded to even, if smaller numbers decide otherwise.
    if let Some(&next) = partials.last()
        && ((low < 0.0 && next < 0.0) || (low > 0.0 && next > 0.0))
    {
        let doubled = low * 2.0;
        let rounded = high + doubled;
        if doubled == rounded - high {
            high = rounded;
        }
    }
    high + 0.0
}
