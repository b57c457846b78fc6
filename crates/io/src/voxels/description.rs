//! [`Description`]: a volume as boxes, each with the segment of its bytes.

use std::sync::{Arc, OnceLock};

use zippy_plan::extents::Index;
use zippy_plan::region::Region;

use super::layout::VoxelLayout;
use super::segment::Segment;
use crate::IoError;
use crate::axis_order::AxisOrder;

const MOST_SUBVOLUMES: usize = 1 << 16;

/// Box of a volume and its bytes in a file.
#[derive(Debug, Clone)]
pub(crate) struct Subvolume {
    /// Box of all voxels in the bytes, axis 0 fastest.
    pub stored: Region,
    /// Box of the voxels that are read, inside `stored`.
    pub used: Region,
    pub segment: Segment,
}

/// Locations of all voxels of a volume in its files. The `used` boxes of the subvolumes cover the
/// grid without overlap.
#[derive(Debug, Clone)]
pub(crate) struct Description {
    pub format: &'static str,
    pub grid: VoxelLayout,
    /// Order of the file's axes, if it differs from the grid's; the numbers of a voxel count as
    /// axis 0. The subvolumes are then boxes of numbers in the file's order.
    pub order: Option<AxisOrder>,
    pub subvolumes: Vec<Subvolume>,
    /// Names of the arrays in the file; empty for formats without names.
    pub arrays: Vec<String>,
    /// Note found after the last voxel.
    pub late_note: Arc<OnceLock<String>>,
}

impl Description {
    pub(crate) fn new(format: &'static str, grid: VoxelLayout, subvolumes: Vec<Subvolume>) -> Self {
        Self { format, grid, order: None, subvolumes, arrays: Vec::new(), late_note: Arc::default() }
    }

    pub(crate) fn single(format: &'static str, mut grid: VoxelLayout, segment: Segment) -> Self {
        let whole = grid.whole();
        grid.notes.extend(segment.note());
        Self::new(format, grid, vec![Subvolume { stored: whole, used: whole, segment }])
    }

    pub(crate) fn in_order(
        format: &'static str,
        grid: VoxelLayout,
        order: Option<AxisOrder>,
        segment: Segment,
    ) -> Self {
        let mut all = Self::single(format, grid, segment);
        if let Some(order) = &order {
            let whole = order.region_in_file(&all.grid.numbers(&all.grid.whole()));
            (all.subvolumes[0].stored, all.subvolumes[0].used) = (whole, whole);
        }
        Self { order, ..all }
    }

    /// Volume of equal slabs along the last axis, one file each. `segment` locates the data of a
    /// file; `problem` creates the error for a wrong number of files.
    pub(crate) fn slabs(
        format: &'static str,
        mut grid: VoxelLayout,
        files: &[String],
        problem: impl Fn(String) -> IoError,
        segment: impl Fn(&str, &VoxelLayout, u64) -> Result<Segment, IoError>,
    ) -> Result<Self, IoError> {
        let axis = grid.shape.axes() - 1;
        let (slices, count) = (grid.shape[axis], files.len() as i64);
        if count == 0 || slices % count != 0 || files.len() > MOST_SUBVOLUMES {
            let message =
                format!("{count} files cannot hold {slices} slices in equal shares (at most {MOST_SUBVOLUMES} files)");
            return Err(problem(message));
        }
        let slab = |file: i64, axes: usize| {
            let plane = |n: i64| Index::from_fn(axes, |a| if a == axis { n } else { grid.shape[a] });
            let start = Index::from_fn(axes, |a| if a == axis { file * (slices / count) } else { 0 });
            Region::between(start, plane((file + 1) * (slices / count)))
        };
        let bytes = grid.bytes() / count as u64;
        let subvolume = |(number, name): (usize, &String)| {
            let stored = slab(number as i64, axis + 1);
            Ok(Subvolume { stored, used: stored, segment: segment(name, &grid, bytes)? })
        };
        let subvolumes: Vec<Subvolume> = files.iter().enumerate().map(subvolume).collect::<Result<_, IoError>>()?;
        // Only the first note: a header may name many files.
        grid.notes.extend(subvolumes.iter().find_map(|subvolume| subvolume.segment.note()));
        Ok(Self::new(format, grid, subvolumes))
    }
}
