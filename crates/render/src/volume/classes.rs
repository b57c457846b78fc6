//! Classification: maps values to colour and opacity, at samples or integrated between samples.

use super::integrals::IntegralTable;
use super::look::{Interpolation, Look};
use super::transfer::{MAX_EVEN, MOST_LABELS, TransferTable};
use crate::error::RenderError;

/// Tables of a transfer function for one sample distance.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Classes {
    Points(TransferTable),
    Segments(IntegralTable),
}

impl Classes {
    /// Tables of a look for voxels with `components` components.
    pub(super) fn of(look: &Look, components: usize) -> Result<Self, RenderError> {
        if look.preintegrated {
            look.transfer.integrals(look.step, components > 1).map(Self::Segments)
        } else {
            let most = if look.interpolation == Interpolation::Nearest { MOST_LABELS } else { MAX_EVEN };
            look.transfer.table_of(look.step, most).map(Self::Points)
        }
    }

    /// Value of the first entry, and number of entries per unit of value.
    pub(super) fn scale(&self) -> (f32, f32) {
        match self {
            Self::Points(table) => (table.first, table.per_value),
            Self::Segments(table) => (table.first, table.per_value),
        }
    }

    /// Units of the integer densities and colours of an integral table.
    pub(super) fn units(&self) -> [f32; 2] {
        match self {
            Self::Points(_) => [1.0; 2],
            Self::Segments(table) => [table.depth_unit, table.colour_unit],
        }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Points(table) => table.entries.len(),
            Self::Segments(table) => table.entries.len(),
        }
    }

    /// Number of cells by which the values of a sample may exceed its cell: 1 for segments.
    pub(super) fn reach(&self) -> i32 {
        match self {
            Self::Points(_) => 0,
            Self::Segments(_) => 1,
        }
    }

    /// For each entry, the first visible entry at or after it; for segments, the first entry
    /// followed by a visible interval. The number of entries if there is none.
    pub(super) fn next_visible(&self) -> Vec<u32> {
        let visible = |entry: usize| match self {
            Self::Points(table) => table.entries[entry][3] > 0.0,
            Self::Segments(table) => {
                let cell = entry.min(table.entries.len() - 2);
                table.entries[cell + 1][3] > table.entries[cell][3]
            }
        };
        let mut next = self.count() as u32;
        let mut all: Vec<u32> = (0..next)
            .rev()
            .map(|entry| {
                if visible(entry as usize) {
                    next = entry;
                }
                next
            })
            .collect();
        all.reverse();
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_visible_entry_is_correct_for_every_entry() {
        let points = |alphas: &[f32]| {
            let entries = alphas.iter().map(|&alpha| [1.0, 1.0, 1.0, alpha]).collect();
            Classes::Points(TransferTable { first: 0.0, per_value: 1.0, entries }).next_visible()
        };
        assert_eq!(points(&[0.0, 0.0, 0.5, 0.0, 0.1, 0.0]), [2, 2, 2, 4, 4, 6]);
        assert_eq!(points(&[0.0, 0.0]), [2, 2]);
        assert_eq!(points(&[0.3, 0.0]), [0, 2]);
        let segments = |sums: &[u32]| {
            let entries = sums.iter().map(|&sum| [9, 9, 9, sum]).collect();
            let (first, per_value, depth_unit, colour_unit) = (0.0, 1.0, 1.0, 1.0);
            Classes::Segments(IntegralTable { first, per_value, depth_unit, colour_unit, apart: false, entries })
                .next_visible()
        };
        // The interval between entries 2 and 3 is visible.
        assert_eq!(segments(&[0, 0, 0, 5, 5, 5]), [2, 2, 2, 6, 6, 6]);
        assert_eq!(segments(&[0, 0, 0, 1]), [2, 2, 2, 3]);
    }
}
