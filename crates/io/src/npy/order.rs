//! [`NumpyAxes`]: which of NumPy's indices counts along which axis.

use std::fmt;
use std::str::FromStr;

use crate::axis_order::AxisOrder;

/// How the indices of a volume are called in NumPy, the first one first. It holds for both values of `fortran_order`, which
/// says where cells stand in the file and not which index names them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum NumpyAxes {
    /// `volume[z, y, x]`: NumPy's last axis is axis 0, x.
    #[default]
    Zyx,
    /// `volume[x, y, z]`: NumPy's first axis is axis 0, x.
    Xyz,
}

impl NumpyAxes {
    /// The sizes or indices along NumPy's axes, by the axes of the volume; and back.
    pub(crate) fn reorder(self, mut along: Vec<i64>) -> Vec<i64> {
        if self == Self::Zyx {
            along.reverse();
        }
        along
    }

    /// In which order a file counts the axes of a volume, behind the numbers of a voxel, which are NumPy's last axis.
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
            // A single number has no place of its own.
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
