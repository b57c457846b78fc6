//! [`Lending`]: sequences in host memory, cut into ranges for work on several threads.

use std::ops::Range;

use super::buffers::{BufferRange, LentBuffers, split_written};
use super::cell_sequence::CellSequence;
use crate::device::Device;
use crate::error::{CallSite, Result};

/// Cells of one range of several sequences, as slices of bytes, one slice per part.
pub struct LentRange<'a> {
    /// Slices of each sequence that is read.
    pub read: Vec<Vec<&'a [u8]>>,
    /// Slices of the sequence that is written.
    pub written: Vec<&'a mut [u8]>,
}

/// Sequences of equal length that the host processes range by range, for example on the threads of
/// [`Device::host_threads`]. Sequences are lent in place if the host can access their memory, and
/// copied otherwise.
///
/// A program calls [`with`](Self::with) once per window of [`windows`](Self::windows), and divides
/// each window into ranges of any size.
pub struct Lending<'c> {
    device: &'c Device,
    read: Vec<&'c CellSequence>,
    written: Option<&'c CellSequence>,
    /// True if the written cells are also read.
    updates: bool,
    /// True if the host can access the device memory directly.
    in_place: bool,
}

impl<'c> Lending<'c> {
    /// Prepares sequences for the host; `updates` is true if the written cells are also read.
    pub fn new(
        device: &'c Device,
        read: Vec<&'c CellSequence>,
        written: Option<&'c CellSequence>,
        updates: bool,
    ) -> Self {
        let apart = written
            .is_none_or(|written| !written.has_cells_twice() && !read.iter().any(|cells| cells.shares_memory(written)));
        let in_place = device.is_host() && apart;
        Self { device, read, written, updates, in_place }
    }

    /// Windows of cells to lend one after another: the whole sequence if the host can access its
    /// memory, else ranges of about `bytes` bytes in whole groups of `group` cells.
    pub fn windows(&self, bytes: usize, group: usize) -> Vec<Range<u64>> {
        let Some(cells) = self.read.first().copied().or(self.written) else { return Vec::new() };
        let whole = 0..cells.len();
        if self.in_place { vec![whole] } else { cells.slices(bytes, group).collect() }
    }

    /// Calls `f` with the cells of consecutive ranges of one window, and returns its result. `f`
    /// must not use the device.
    ///
    /// # Errors
    /// Too little memory, a device failure.
    #[track_caller]
    pub fn with<R>(&self, ranges: &[Range<u64>], f: impl FnOnce(Vec<LentRange<'_>>) -> R) -> Result<R> {
        let _call = CallSite::enter();
        if self.in_place { self.with_lent(ranges, f) } else { self.with_copies(ranges, f) }
    }

    fn with_lent<R>(&self, ranges: &[Range<u64>], f: impl FnOnce(Vec<LentRange<'_>>) -> R) -> Result<R> {
        let mut buffers = LentBuffers::default();
        let read: Vec<Vec<Vec<BufferRange>>> = (ranges.iter())
            .map(|range| self.read.iter().map(|cells| buffers.byte_ranges(cells, range)).collect())
            .collect();
        let written: Vec<Vec<BufferRange>> = (ranges.iter())
            .map(|range| self.written.map_or(Vec::new(), |cells| buffers.byte_ranges(cells, range)))
            .collect();
        let found = self.device.lend_all(&buffers.all, |bytes| {
            let (shared, mut parts) = split_written(bytes, written.iter().flatten());
            let range = |(read, written): (&Vec<Vec<BufferRange>>, &Vec<BufferRange>)| LentRange {
                read: (read.iter())
                    .map(|places| places.iter().map(|(buffer, bytes)| &shared[*buffer][bytes.clone()]).collect())
                    .collect(),
                written: parts.by_ref().take(written.len()).collect(),
            };
            f(read.iter().zip(&written).map(range).collect())
        })?;
        if let (Some(cells), Some(first), Some(last)) = (self.written, ranges.first(), ranges.last()) {
            cells.were_written(first.start..last.end);
        }
        Ok(found)
    }

    fn with_copies<R>(&self, ranges: &[Range<u64>], f: impl FnOnce(Vec<LentRange<'_>>) -> R) -> Result<R> {
        let copy = |cells: &CellSequence, range: &Range<u64>, filled: bool| -> Result<Vec<u8>> {
            let mut bytes = vec![0; (range.end - range.start) as usize * cells.element().bytes];
            if filled {
                cells.read(range.clone(), &mut bytes)?;
            }
            Ok(bytes)
        };
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for range in ranges {
            let copies = self.read.iter().map(|cells| copy(cells, range, true));
            read.push(copies.collect::<Result<Vec<_>>>()?);
            written.push(self.written.map(|cells| copy(cells, range, self.updates)).transpose()?);
        }
        let range = |(read, written)| {
            let read: &Vec<Vec<u8>> = read;
            let written: &mut Option<Vec<u8>> = written;
            LentRange {
                read: read.iter().map(|bytes| vec![&bytes[..]]).collect(),
                written: written.iter_mut().map(|bytes| &mut bytes[..]).collect(),
            }
        };
        let found = f(read.iter().zip(&mut written).map(range).collect());
        if let Some(cells) = self.written {
            for (range, bytes) in ranges.iter().zip(written.into_iter().flatten()) {
                cells.write(range.clone(), &bytes)?;
            }
        }
        Ok(found)
    }
}
