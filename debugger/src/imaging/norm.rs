//! [`Scale`]: maps numbers in a range to fractions between 0 and 1.

use zippy_protocol::ScalarValue;

/// Function from numbers to positions on a colour scale.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Norm {
    /// Linear.
    Linear,
    /// Logarithmic, for ranges above 0.
    Log,
    /// Linear up to this magnitude, and logarithmic beyond it on both sides of 0.
    SymLog(f64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    norm: Norm,
    range: (ScalarValue, ScalarValue),
}

/// Position of a number relative to a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Share {
    /// Fraction between the ends, 0 to 1; 0.5 if both ends are equal.
    Within(f64),
    /// Finite, below the range.
    Below,
    /// Finite, above the range.
    Above,
    /// NaN.
    Nan,
    /// Positive infinity.
    PlusInfinity,
    /// Negative infinity.
    MinusInfinity,
}

impl Norm {
    /// Parses `linear`, `log`, `symlog`, or `symlog:0.01` with the magnitude up to which the norm
    /// is linear.
    ///
    /// # Errors
    /// The text is no norm.
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

    fn to_scale(self, value: f64) -> f64 {
        match self {
            Self::Linear => value,
            Self::Log => value.ln(),
            Self::SymLog(size) => {
                let share = (value / size).abs();
                (if share <= 1.0 { share } else { 1.0 + share.ln() }).copysign(value)
            }
        }
    }

    /// Returns the difference of two numbers on the scale of this norm. Close numbers are
    /// subtracted first, because their positions on the scale have too few digits.
    fn scaled_distance(self, from: ScalarValue, to: ScalarValue) -> f64 {
        let plain = |scale: f64| (self.to_scale(to.to_f64()) * scale) - self.to_scale(from.to_f64()) * scale;
        match self {
            Self::Linear => to.minus(from),
            Self::Log => logarithm_of_ratio(from, to).unwrap_or_else(|| plain(1.0)),
            Self::SymLog(size) => {
                let (low, high) = (from.to_f64(), to.to_f64());
                if low.abs().max(high.abs()) <= size {
                    to.minus(from) / size
                } else if low >= size && high >= size {
                    logarithm_of_ratio(from, to).unwrap_or_else(|| plain(1.0))
                } else if low <= -size && high <= -size {
                    logarithm_of_ratio(to.negated(), from.negated()).unwrap_or_else(|| plain(1.0))
                } else {
                    plain(1.0)
                }
            }
        }
    }

    /// Returns the fraction of the range from `low` to `high` that is below `at`.
    fn fraction(self, low: ScalarValue, high: ScalarValue, at: ScalarValue) -> f64 {
        let whole = self.scaled_distance(low, high);
        if whole.is_finite() || self != Self::Linear {
            return self.scaled_distance(low, at) / whole;
        }
        // Halves, because the difference of the ends may overflow.
        let [low, high, at] = [low, high, at].map(|value| value.to_f64() / 2.0);
        (at - low) / (high - low)
    }

    fn number_at(self, position: f64) -> f64 {
        match self {
            Self::Linear => position,
            Self::Log => position.exp(),
            Self::SymLog(size) => {
                let share = position.abs();
                size * (if share <= 1.0 { share } else { (share - 1.0).exp() }).copysign(position)
            }
        }
    }
}

/// Returns the logarithm of the ratio of two close numbers above 0.
fn logarithm_of_ratio(from: ScalarValue, to: ScalarValue) -> Option<f64> {
    let ratio = to.minus(from) / from.to_f64();
    (from.to_f64() > 0.0 && (-0.5..=1.0).contains(&ratio)).then(|| ratio.ln_1p())
}

impl Scale {
    /// Creates a scale of a norm and two ends.
    ///
    /// # Errors
    /// The ends are not finite or not in ascending order, or the norm has no logarithm of an end.
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

    pub fn range(&self) -> (ScalarValue, ScalarValue) {
        self.range
    }

    pub fn norm(&self) -> Norm {
        self.norm
    }

    /// Returns the position of a number relative to the range.
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
            Share::Within(self.norm.fraction(self.range.0, self.range.1, value).clamp(0.0, 1.0))
        }
    }

    /// Returns the position of a finite number on the unbounded scale: below 0 for
    /// [`Share::Below`], above 1 for [`Share::Above`]. `None` for other numbers, and for numbers
    /// without a position, such as 0 on a logarithmic scale.
    pub fn position(&self, value: impl Into<ScalarValue>) -> Option<f64> {
        let value = value.into();
        match self.share(value) {
            Share::Within(share) => Some(share),
            Share::Below | Share::Above if self.range.0 == self.range.1 => {
                Some(if value < self.range.0 { -1.0 } else { 2.0 })
            }
            Share::Below | Share::Above => {
                Some(self.norm.fraction(self.range.0, self.range.1, value)).filter(|position| position.is_finite())
            }
            Share::Nan | Share::PlusInfinity | Share::MinusInfinity => None,
        }
    }

    /// Returns the number at a fraction of the range. Between large integers, the number is an
    /// integer.
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
        let [first, last] = [low, high].map(|value| self.norm.to_scale(value.to_f64()));
        ScalarValue::from(self.norm.number_at(first * (1.0 - share) + last * share)).max(low).min(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_continue_outside_of_range() {
        let linear = Scale::new(Norm::Linear, (-1.0, 3.0)).unwrap();
        assert_eq!(
            [-3.0, -1.0, 1.0, 3.0, 7.0].map(|value| linear.position(value)),
            [-0.5, 0.0, 0.5, 1.0, 2.0].map(Some)
        );
        assert_eq!([f64::NAN, f64::INFINITY].map(|value| linear.position(value)), [None; 2]);
        let log = Scale::new(Norm::Log, (1.0, 100.0)).unwrap();
        assert!(
            (log.position(1000.0).unwrap() - 1.5).abs() < 1e-12 && (log.position(0.1).unwrap() + 0.5).abs() < 1e-12
        );
        assert_eq!([0.0, -1.0].map(|value| log.position(value)), [None; 2]);
        let one = Scale::new(Norm::Linear, (2.0, 2.0)).unwrap();
        assert_eq!([1.0, 2.0, 3.0].map(|value| one.position(value)), [-1.0, 0.5, 2.0].map(Some));
        let wide = Scale::new(Norm::Linear, (-f64::MAX, f64::MAX)).unwrap();
        assert_eq!(wide.position(0.0), Some(0.5));
    }
}
