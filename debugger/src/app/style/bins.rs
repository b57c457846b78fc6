//! [`Bins`]: how often numbers occur.

use zippy::debug::protocol::Component;

/// Counts of numbers in bins of one width.
#[derive(Debug, Clone, PartialEq)]
pub struct Bins {
    /// Where the bins begin and end.
    pub range: (f64, f64),
    pub counts: Vec<u64>,
}

impl From<&Component> for Bins {
    fn from(component: &Component) -> Self {
        let (low, high) = component.range;
        let known = low.is_finite() && high.is_finite() && low <= high;
        Self { range: if known { (low, high) } else { (0.0, 0.0) }, counts: component.bins.clone() }
    }
}

impl Bins {
    /// Those of the finite numbers; none where there are none.
    pub fn of(numbers: &[f64], count: usize) -> Option<Self> {
        let finite = || numbers.iter().copied().filter(|value| value.is_finite());
        let low = finite().reduce(f64::min)?;
        let high = finite().reduce(f64::max)?;
        let mut counts = vec![0; count.max(1)];
        let last = counts.len() - 1;
        let width = high - low;
        for value in finite() {
            let share = if width > 0.0 && width.is_finite() { (value - low) / width } else { 0.0 };
            counts[((share * count as f64) as usize).min(last)] += 1;
        }
        Some(Self { range: (low, high), counts })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_number_is_in_a_bin() {
        let numbers = [0.0, 1.0, 1.9, 4.0, f64::NAN, f64::INFINITY];
        assert_eq!(Bins::of(&numbers, 4), Some(Bins { range: (0.0, 4.0), counts: vec![1, 2, 0, 1] }));
        assert_eq!(Bins::of(&[7.0; 3], 2), Some(Bins { range: (7.0, 7.0), counts: vec![3, 0] }));
        assert_eq!(Bins::of(&[f64::NAN], 2), None);
    }
}
