//! [`Scale`]: where numbers lie between two ends.

use zippy::debug::protocol::ScalarValue;

/// How numbers are spread between the ends of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// Evenly.
    Linear,
    /// By their logarithms. Needs a range above 0.
    Log,
    /// Evenly near 0, up to this size, and by their logarithms beyond, on both sides.
    SymLog(f64),
}

/// A norm and a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    norm: Norm,
    range: (ScalarValue, ScalarValue),
}

/// Where a number lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// Between the ends, 0 to 1; in the middle where both ends are one.
    Within(f64),
    /// Finite, below the range.
    Below,
    /// Finite, above it.
    Above,
    /// Not a number.
    Nan,
    /// Infinite, above 0.
    PlusInfinity,
    /// Infinite, below 0.
    MinusInfinity,
}

impl Norm {
    /// The norm of this name: `linear`, `log`, `symlog` or `symlog:0.01` with the size up to which it is even.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no norm; there are linear, log and symlog:SIZE with a size above 0");
        match text.split_once(':') {
            None if text == "linear" => Ok(Self::Linear),
            None if text == "log" => Ok(Self::Log),
            None if text == "symlog" => Ok(Self::SymLog(1.0)),
            Some(("symlog", size)) => match size.parse::<f64>() {
                Ok(size) if size > 0.0 && size.is_finite() => Ok(Self::SymLog(size)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }

    fn forth(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.ln(),
            Self::SymLog(size) => {
                let share = (value / size).abs();
                (if share <= 1.0 { share } else { 1.0 + share.ln() }).copysign(value)
            }
        }
    }

    /// Difference of two numbers on the scale of this norm. Numbers that are close to each other
    /// are subtracted first, as their positions on the scale have too few digits.
    fn way(self, from: ScalarValue, to: ScalarValue) -> f64 {
        let plain = |scale: f64| (self.forth(to.to_f64()) * scale) - self.forth(from.to_f64()) * scale;
        match self {
            Self::Linear => to.minus(from),
            Self::Log => logarithm(from, to).unwrap_or_else(|| plain(1.0)),
            Self::SymLog(size) => {
                let (low, high) = (from.to_f64(), to.to_f64());
                match low.abs().max(high.abs()) <= size {
                    true => to.minus(from) / size,
                    false if low >= size && high >= size => logarithm(from, to).unwrap_or_else(|| plain(1.0)),
                    false if low <= -size && high <= -size => {
                        logarithm(to.negated(), from.negated()).unwrap_or_else(|| plain(1.0))
                    }
                    false => plain(1.0),
                }
            }
        }
    }

    /// The part of the way from the lower end to the upper one.
    fn part(self, (low, high): (ScalarValue, ScalarValue), at: ScalarValue) -> f64 {
        let whole = self.way(low, high);
        if whole.is_finite() || self != Self::Linear {
            return self.way(low, at) / whole;
        }
        // Halves, as the whole may be more than there is.
        let [low, high, at] = [low, high, at].map(|value| value.to_f64() / 2.0);
        (at - low) / (high - low)
    }

    fn back(self, place: f64) -> f64 {
        match self {
            Self::Linear => place,
            Self::Log => place.exp(),
            Self::SymLog(size) => {
                let share = place.abs();
                size * (if share <= 1.0 { share } else { (share - 1.0).exp() }).copysign(place)
            }
        }
    }
}

/// The logarithm of the ratio of two numbers above 0 that are close to each other.
fn logarithm(from: ScalarValue, to: ScalarValue) -> Option<f64> {
    let ratio = to.minus(from) / from.to_f64();
    (from.to_f64() > 0.0 && (-0.5..=1.0).contains(&ratio)).then(|| ratio.ln_1p())
}

impl Scale {
    /// A norm between two ends.
    ///
    /// # Errors
    /// They are not finite, or not in their order; the norm has no logarithm of one.
    pub fn new<N: Into<ScalarValue>>(norm: Norm, (low, high): (N, N)) -> Result<Self, String> {
        let (low, high) = (low.into(), high.into());
        if !low.is_finite() || !high.is_finite() || low > high {
            return Err(format!(
                "a range goes from a number to one that is not below it, and not from {low} to {high}"
            ));
        }
        if norm == Norm::Log && low <= 0.0.into() {
            return Err(format!("a logarithmic norm needs a range above 0, and this one begins at {low}"));
        }
        if let Norm::SymLog(size) = norm
            && !(size > 0.0 && size.is_finite())
        {
            return Err(format!("a symlog norm is even up to a size above 0, and not up to {size}"));
        }
        Ok(Self { norm, range: (low, high) })
    }

    /// Its ends.
    pub fn range(&self) -> (ScalarValue, ScalarValue) {
        self.range
    }

    /// Its norm.
    pub fn norm(&self) -> Norm {
        self.norm
    }

    /// Where a number lies.
    pub fn share(&self, value: impl Into<ScalarValue>) -> Share {
        let (value, (low, high)) = (value.into(), self.range);
        if value.is_nan() {
            Share::Nan
        } else if !value.is_finite() {
            if value > low { Share::PlusInfinity } else { Share::MinusInfinity }
        } else if value < low {
            Share::Below
        } else if value > high {
            Share::Above
        } else if low == high {
            Share::Within(0.5)
        } else {
            Share::Within(self.norm.part(self.range, value).clamp(0.0, 1.0))
        }
    }

    /// Where a finite number lies, of any: below 0 where [`share`](Self::share) says below, above 1 where it says above. None of
    /// others, and where the norm has no place for it, as a logarithm for 0.
    pub fn place(&self, value: impl Into<ScalarValue>) -> Option<f64> {
        let value = value.into();
        match self.share(value) {
            Share::Within(share) => Some(share),
            Share::Below | Share::Above if self.range.0 == self.range.1 => {
                Some(if value < self.range.0 { -1.0 } else { 2.0 })
            }
            Share::Below | Share::Above => Some(self.norm.part(self.range, value)).filter(|place| place.is_finite()),
            Share::Nan | Share::PlusInfinity | Share::MinusInfinity => None,
        }
    }

    /// The number at a share of the way from the lower end to the upper one; between large integers
    /// a whole one.
    pub fn value(&self, share: f64) -> ScalarValue {
        let (low, high) = self.range;
        let share = share.clamp(0.0, 1.0);
        if share == 0.0 {
            return low;
        }
        if share == 1.0 {
            return high;
        }
        let width = high.minus(low);
        if self.norm == Norm::Linear && width.is_finite() {
            return low.plus(width * share).max(low).min(high);
        }
        let [first, last] = [low, high].map(|value| self.norm.forth(value.to_f64()));
        ScalarValue::from(self.norm.back(first * (1.0 - share) + last * share)).max(low).min(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_on_outside_of_the_range() {
        let linear = Scale::new(Norm::Linear, (-1.0, 3.0)).unwrap();
        assert_eq!([-3.0, -1.0, 1.0, 3.0, 7.0].map(|value| linear.place(value)), [-0.5, 0.0, 0.5, 1.0, 2.0].map(Some));
        assert_eq!([f64::NAN, f64::INFINITY].map(|value| linear.place(value)), [None; 2]);
        let log = Scale::new(Norm::Log, (1.0, 100.0)).unwrap();
        assert!((log.place(1000.0).unwrap() - 1.5).abs() < 1e-12 && (log.place(0.1).unwrap() + 0.5).abs() < 1e-12);
        assert_eq!([0.0, -1.0].map(|value| log.place(value)), [None; 2]);
        let one = Scale::new(Norm::Linear, (2.0, 2.0)).unwrap();
        assert_eq!([1.0, 2.0, 3.0].map(|value| one.place(value)), [-1.0, 0.5, 2.0].map(Some));
        let wide = Scale::new(Norm::Linear, (-f64::MAX, f64::MAX)).unwrap();
        assert_eq!(wide.place(0.0), Some(0.5));
    }
}
