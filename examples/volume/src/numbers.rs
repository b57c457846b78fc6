//! The numbers on the device and their values.

use zippy_render::volume::{Look, Rescale, Values};

/// The numbers on the device and their meaning.
#[derive(Debug, Clone)]
pub struct Numbers {
    pub stored: Values,
    /// From stored numbers to those of the file.
    pub units: Rescale,
    /// From there to values.
    pub file: Rescale,
}

impl Numbers {
    /// From stored numbers to values.
    pub fn rescale(&self) -> Rescale {
        self.file.of(self.units)
    }

    /// The same without an offset for the sake of floats: only values without one are known by
    /// their size.
    pub fn fitted(&self) -> Rescale {
        let intercept = if self.units.intercept == 0.0 { self.file.intercept } else { 0.0 };
        Rescale { slope: self.rescale().slope, intercept }
    }

    /// A look for stored numbers, with a table no wider than their range.
    pub fn seen(&self, look: Look) -> Look {
        let (min, max) = self.stored.range();
        Look { transfer: look.transfer.within(min, max), ..look }
    }
}
