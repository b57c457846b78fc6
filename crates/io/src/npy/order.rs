//! [`NumpyAxes`]: meaning of NumPy's indices.

use std::fmt;
use std::str::FromStr;

use crate::axis_order::AxisOrder;

/// Order of the indices of a volume in NumPy, independent of `fortran_order` (the order of cells in
/// the file).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum NumpyAxes {
    /// `volume[z, y, x]`: NumPy's last axis is axis 0, x.
    #[default]
    Zyx,
    /// `volume[x, y, z]`: NumPy's first axis is axis 0, x.
    Xyz,
}

impl NumpyAxes {
    /// Converts sizes or indices between NumPy's axes and the volume's.
    pub(crate) fn reorder(self, mut along: Vec<i64>) -> Vec<i64> {
        if self == Self::Zyx {
            along.reverse();
        }
        along
    }

    /// Order of a volume's axes in a file. The numbers of a voxel, NumPy's last axis, come first.
    pub(crate) fn in_file(self, axes: usize, is_fortran: bool, components: i64) -> Option<AxisOrder> {
        let spatial = 1..=axes;
        let mut order: Vec<usize> = match self {
            Self::Zyx => spatial.rev().collect(),
            Self::Xyz => spatial.collect(),
        };
        order.push(0);
        if !is_fortran {
            order.reverse();
        } else if components == 1 {
            // A single component has no axis in the file.
            order.rotate_right(1);
        }
        AxisOrder::new(order)
    }
}

impl fmt::Display for NumpyAxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Zyx => "zyx",
            Self::Xyz => "xyz",
        })
    }
}

impl FromStr for NumpyAxes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "zyx" => Ok(Self::Zyx),
            "xyz" => Ok(Self::Xyz),
            _ => Err("the indices of a NumPy array are called zyx or xyz".into()),
        }
    }
}
