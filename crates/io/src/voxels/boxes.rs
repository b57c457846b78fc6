//! Reading of any boxes of a volume, without the rest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

use zippy_files::memory::zeros;
use zippy_plan::region::{Region, RegionTree};

use super::description::{Description, Subvolume};
use super::stream::Stream;
use crate::IoError;

struct PartialBox<T> {
    /// Empty before the first voxel.
    out: Vec<T>,
    missing: u64,
}

impl Description {
    /// Reads the voxels of each region, axis 0 fastest, components innermost, in the machine's byte
    /// order, as bytes cast to `T` (the type of a number, or `u8` for plain bytes). `done` receives
    /// the index and the voxels of a region as soon as it is complete. Local.
    ///
    /// Each subvolume that overlaps the regions is read in one pass: raw data row by row,
    /// compressed data from the beginning of a stream or block to the last voxel needed. Needs
    /// memory for the incomplete regions and a buffer; twice per region if the file has another
    /// order of axes.
    pub(crate) fn read_boxes<T: bytemuck::Pod, E: From<IoError>>(
        &self,
        path: &Path,
        regions: &[Region],
        mut done: impl FnMut(usize, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.check(path, regions)?;
        let Some(order) = &self.order else { return self.read_in_file(path, regions, self.grid.voxel_bytes(), done) };
        let boxes: Vec<Region> =
            regions.iter().map(|region| order.region_in_file(&self.grid.numbers(region))).collect();
        let number_bytes = self.grid.kind.bytes();
        self.read_in_file(path, &boxes, number_bytes, |number, numbers: Vec<T>| {
            let mut arranged = memory(path, size_of_val(&numbers[..]) as u64)?;
            let to = bytemuck::cast_slice_mut(&mut arranged);
            order.arrange(&boxes[number].extents(), number_bytes as usize, bytemuck::cast_slice(&numbers), to);
            done(number, arranged)
        })
    }

    /// [`Self::read_boxes`] for boxes in the file's order of axes.
    fn read_in_file<T: bytemuck::Pod, E: From<IoError>>(
        &self,
        path: &Path,
        regions: &[Region],
        cell_bytes: u64,
        mut done: impl FnMut(usize, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let begin = |region: &Region| PartialBox { out: Vec::new(), missing: region.cells() };
        let mut partial_boxes: Vec<PartialBox<T>> = regions.iter().map(begin).collect();
        for (number, partial) in partial_boxes.iter().enumerate() {
            if partial.missing == 0 {
                done(number, Vec::new())?;
            }
        }
        for subvolume in &self.subvolumes {
            self.read_subvolume(path, subvolume, (regions, cell_bytes), &mut partial_boxes, &mut done)?;
        }
        Ok(())
    }

    fn check(&self, path: &Path, regions: &[Region]) -> Result<(), IoError> {
        let whole = self.grid.whole();
        let leaves = |region: &&Region| {
            region.axes() != whole.axes()
                || (0..whole.axes()).any(|axis| {
                    region.start[axis] < 0
                        || region.start[axis] > region.end[axis]
                        || region.end[axis] > whole.end[axis]
                })
        };
        if let Some(region) = regions.iter().find(leaves) {
            let message =
                format!("the region {region} does not lie in the volume of {:?} voxels", &self.grid.shape[..]);
            return Err(IoError::request(path, message));
        }
        if let Some((first, second)) = RegionTree::new(regions).overlapping_pair() {
            let message = format!("regions {first} and {second} overlap; they cannot be read together");
            return Err(IoError::request(path, message));
        }
        Ok(())
    }

    fn read_subvolume<T: bytemuck::Pod, E: From<IoError>>(
        &self,
        path: &Path,
        subvolume: &Subvolume,
        (regions, voxel): (&[Region], u64),
        partial_boxes: &mut [PartialBox<T>],
        done: &mut impl FnMut(usize, Vec<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = Vec::new();
        let mut next = BinaryHeap::new();
        for (number, region) in regions.iter().enumerate() {
            if let Some(common) = region.intersect(&subvolume.used) {
                let mut runs = runs(&common, &subvolume.stored, region);
                next.extend(runs.next().map(|run| Reverse((run, number, rows.len()))));
                rows.push(runs);
            }
        }
        let mut stream = None;
        while let Some(Reverse((run, number, row))) = next.pop() {
            let stream = match &mut stream {
                Some(stream) => stream,
                none => none.insert(Stream::open(&subvolume.segment, self.grid.kind)?),
            };
            let partial = &mut partial_boxes[number];
            if partial.out.is_empty() {
                partial.out = memory(path, partial.missing * voxel)?;
            }
            let target: &mut [u8] = bytemuck::cast_slice_mut(&mut partial.out);
            let range = (run.to * voxel) as usize..((run.to + run.voxels) * voxel) as usize;
            stream.read(run.from * voxel, &mut target[range])?;
            partial.missing -= run.voxels;
            next.extend(rows[row].next().map(|run| Reverse((run, number, row))));
            if partial.missing == 0 {
                if self.grid.big_endian != cfg!(target_endian = "big") {
                    crate::scalar::swap_bytes(self.grid.kind, target);
                }
                done(number, std::mem::take(&mut partial.out))?;
            }
        }
        if let Some(note) = stream.map_or(Ok(None), Stream::finish)? {
            // The same file always gives the same note.
            let _ = self.late_note.set(note);
        }
        Ok(())
    }
}

/// Zeroed memory for a region. The length of the files bounds the size.
fn memory<T: bytemuck::Pod>(path: &Path, bytes: u64) -> Result<Vec<T>, IoError> {
    zeros(bytes / size_of::<T>() as u64).map_err(|message| IoError::request(path, format!("{message} of voxels")))
}

/// Voxels that are contiguous in the file and in the box.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    from: u64,
    to: u64,
    voxels: u64,
}

/// Runs of `common` between the dense boxes `stored` and `wanted`, in the order of the file.
fn runs(common: &Region, stored: &Region, wanted: &Region) -> impl Iterator<Item = Run> + use<> {
    let (extents, from, to) = (common.extents(), stored.extents(), wanted.extents());
    // Whole rows are joined, and whole planes of whole rows.
    let (mut joined, mut voxels) = (1, extents[0] as u64);
    while joined < extents.axes() && extents[joined - 1] == from[joined - 1] && extents[joined - 1] == to[joined - 1] {
        voxels *= extents[joined] as u64;
        joined += 1;
    }
    let rows: u64 = (joined..extents.axes()).map(|axis| extents[axis] as u64).product();
    let (from_first, to_first) = (stored.offset(&common.start), wanted.offset(&common.start));
    let (from, to) = (from.dense_strides(), to.dense_strides());
    (0..rows).map(move |row| {
        let (mut rest, mut run) = (row, Run { from: from_first, to: to_first, voxels });
        for axis in joined..extents.axes() {
            let at = rest % extents[axis] as u64;
            rest /= extents[axis] as u64;
            run.from += at * from[axis] as u64;
            run.to += at * to[axis] as u64;
        }
        run
    })
}
