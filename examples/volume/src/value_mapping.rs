//! Mapping from the numbers on the device to the values of the volume.

use zippy_render::volume::{Look, Rescale, Values};

/// Stored values and their mapping to the numbers of the file and to values.
#[derive(Debug, Clone)]
pub struct ValueMapping {
    pub stored: Values,
    /// Maps a stored number to the number in the file.
    pub units: Rescale,
    /// Maps a number of the file to a value (slope and intercept of the file).
    pub file: Rescale,
}

impl ValueMapping {
    /// Maps a stored number to a value.
    pub fn rescale(&self) -> Rescale {
        self.file.of(self.units)
    }

    /// The mapping that presets are fitted to: [`rescale`](Self::rescale) without the offset of
    /// `units`. The offset only serves the precision of floats; presets judge values by their size
    /// and must not see it.
    pub fn fitted(&self) -> Rescale {
        let intercept = if self.units.intercept == 0.0 { self.file.intercept } else { 0.0 };
        Rescale { slope: self.rescale().slope, intercept }
    }

    /// Limits the transfer function of `look`, which is in stored numbers, to their range.
    pub fn limit_transfer(&self, look: Look) -> Look {
        let (min, max) = self.stored.range();
        Look { transfer: look.transfer.within(min, max), ..look }
    }
}
