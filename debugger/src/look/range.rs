//! [`Range`]: from where to where colours go.

use zippy::debug::protocol::Component;

use super::norm::Norm;

/// How the ends of a range are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// The smallest finite number and the largest.
    Extremes,
    /// The numbers that so many percent of the finite ones lie below, and so many: 0 to 100.
    Percentile(f64, f64),
    /// As far on both sides of 0 as the number furthest from it.
    Symmetric,
    /// These.
    Fixed(f64, f64),
}

impl Range {
    /// A range as it is written: `min:max` or `extremes`, `p1:p99`, `symmetric`, `-0.5:2`.
    ///
    /// # Errors
    /// It makes no sense.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            let ways = "min:max, p1:p99 by percentiles, symmetric about 0, or two numbers as -0.5:2";
            Err(format!("`{text}` is no range{why}; there are {ways}"))
        };
        match text {
            "min:max" | "minmax" | "extremes" => return Ok(Self::Extremes),
            "symmetric" => return Ok(Self::Symmetric),
            _ => {}
        }
        let Some((low, high)) = text.split_once(':') else { return wrong("") };
        let percent = |end: &str| end.strip_prefix('p').and_then(|end| end.parse::<f64>().ok());
        if let (Some(low), Some(high)) = (percent(low), percent(high)) {
            return match (0.0..=100.0).contains(&low) && (low..=100.0).contains(&high) {
                true => Ok(Self::Percentile(low, high)),
                false => wrong(": percentiles rise from 0 to 100"),
            };
        }
        match (low.parse::<f64>(), high.parse::<f64>()) {
            (Ok(low), Ok(high)) if low.is_finite() && high.is_finite() && low <= high => Ok(Self::Fixed(low, high)),
            (Ok(_), Ok(_)) => wrong(": its ends are finite and rise"),
            _ => wrong(""),
        }
    }

    /// The ends for these numbers; of a logarithmic norm those above 0 only. None where there is no such number.
    pub fn of(&self, numbers: &[f64], norm: Norm) -> Option<(f64, f64)> {
        let fits = |value: &f64| value.is_finite() && (norm != Norm::Log || *value > 0.0);
        let fitting = || numbers.iter().copied().filter(fits);
        let extremes = || {
            let widen = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
            fitting().map(|value| (value, value)).reduce(|ends, (value, _)| widen(ends, value))
        };
        match *self {
            Self::Fixed(low, high) => Some((low, high)),
            Self::Extremes => extremes(),
            Self::Symmetric => extremes().map(|ends| symmetric(ends, norm)),
            Self::Percentile(low, high) => {
                let mut sorted: Vec<f64> = fitting().collect();
                if sorted.is_empty() {
                    return None;
                }
                let last = sorted.len() - 1;
                let mut nearest = |percent: f64| {
                    let place = (percent / 100.0 * last as f64).round() as usize;
                    *sorted.select_nth_unstable_by(place.min(last), f64::total_cmp).1
                };
                Some((nearest(low), nearest(high)))
            }
        }
    }

    /// The ends for a whole array, by its summary, which has the two percentiles where the range is of these. None where it has
    /// no finite number, or for a logarithmic norm none above 0 that the summary knows of.
    pub fn of_summary(&self, component: &Component, norm: Norm) -> Option<(f64, f64)> {
        let ends = match *self {
            Self::Fixed(low, high) => return Some((low, high)),
            Self::Extremes => component.extremes?,
            Self::Symmetric => symmetric(component.extremes?, norm),
            Self::Percentile(..) => match component.percentiles[..] {
                [low, high] if low <= high => (low, high),
                _ => component.extremes?,
            },
        };
        if norm != Norm::Log || ends.0 > 0.0 {
            return Some(ends);
        }
        // The lower edge of the first bin above 0 that has numbers.
        let (edges, bins) = (edges(component), component.bins.iter());
        let above = bins.zip(edges.windows(2)).find(|(count, edge)| **count > 0 && edge[1] > 0.0);
        let low = above.map_or(ends.1 * 1e-6, |(_, edge)| if edge[0] > 0.0 { edge[0] } else { edge[1] * 1e-3 });
        (ends.1 > 0.0 && low > 0.0).then_some((low.min(ends.1), ends.1))
    }
}

fn symmetric((low, high): (f64, f64), norm: Norm) -> (f64, f64) {
    let size = low.abs().max(high.abs());
    // Below 0 there are no logarithms.
    if norm == Norm::Log { (low, size) } else { (-size, size) }
}

/// Where the bins begin and end, one more than there are.
fn edges(component: &Component) -> Vec<f64> {
    let (low, high) = component.range;
    let bins = component.bins.len().max(1) as f64;
    (0..=component.bins.len()).map(|edge| low + (high - low) * (edge as f64 / bins)).collect()
}
