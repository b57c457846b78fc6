//! [`CopySet`]: the checked copies of a call, with indexed buffers.

use std::collections::{BTreeMap, HashMap};

use super::Device;
use super::box_checks::{bad_box_error, check_box_in_buffer, check_destination_cells_are_distinct, check_element_size};
use super::box_overlap::IndexedBox;
use super::box_pair::least_common_multiple;
use super::boxes::BufferBox;
use super::copy_order::{BoxCopy, CopyStep, cut_copies, has_hazard, order_copies};
use super::memory_pool::SLICE_BYTES;
use crate::error::DeviceError;

/// Copies of one call between boxes of one device, checked for errors. Boxes refer to buffers by
/// index.
pub(super) struct CopySet<'a> {
    pub buffers: Vec<&'a wgpu::Buffer>,
    pub copies: Vec<BoxCopy>,
    pub element_bytes: usize,
    /// Alignment of boxes in temporary memory, in bytes.
    align: u64,
}

/// Offsets of the sources of copies in temporary memory.
pub(super) struct TemporaryLayout {
    /// Offset of each source in temporary memory, in bytes.
    pub offsets: Vec<u64>,
    /// Size of the temporary memory, in bytes.
    pub bytes: u64,
}

/// Copy with its index in a list of copies.
pub(super) struct ListedCopy {
    /// Index of the copy in the list.
    pub position: usize,
    /// Index in [`CopySet::copies`].
    pub copy: usize,
}

impl<'a> CopySet<'a> {
    /// Checks pairs of source and destination boxes, and omits empty boxes.
    pub(super) fn new(
        operation: &str,
        element_bytes: usize,
        pairs: &[(BufferBox<'a>, BufferBox<'a>)],
    ) -> Result<Self, DeviceError> {
        check_element_size(operation, element_bytes)?;
        check_destination_cells_are_distinct(operation, pairs.iter().map(|(_, dst)| &dst.view))?;
        let align = least_common_multiple(16, element_bytes as u64);
        let mut set = Self { buffers: Vec::new(), copies: Vec::new(), element_bytes, align };
        let mut indices = HashMap::new();
        for (src, dst) in pairs {
            if src.view.extents != dst.view.extents {
                let message = format!("extents {} differ from extents {}", src.view.extents, dst.view.extents);
                return Err(bad_box_error(operation, message));
            }
            let mut index_box = |end: &BufferBox<'a>| {
                check_box_in_buffer(operation, &end.view, element_bytes, end.buffer.bytes())?;
                let buffer = *indices.entry(end.buffer.id()).or_insert_with(|| {
                    set.buffers.push(end.buffer.raw());
                    set.buffers.len() - 1
                });
                Ok(IndexedBox { buffer, view: end.view })
            };
            let copy = BoxCopy { src: index_box(src)?, dst: index_box(dst)? };
            if src.view.cells() > 0 {
                set.copies.push(copy);
            }
        }
        Ok(set)
    }

    /// Returns the steps that run the copies. If a destination overlaps a source, first cuts the
    /// copies to the size of temporary memory.
    pub(super) fn order(&mut self, device: &Device) -> Vec<CopyStep> {
        if !has_hazard(&self.copies) {
            return vec![CopyStep::Direct((0..self.copies.len()).collect())];
        }
        let limit = self.max_staged_cells(device);
        self.copies = cut_copies(&self.copies, limit);
        order_copies(&self.copies, limit)
    }

    /// Returns the maximum number of cells that fit in temporary memory.
    pub(super) fn max_staged_cells(&self, device: &Device) -> u64 {
        (SLICE_BYTES.min(device.limits().binding_bytes) / self.element_bytes as u64).max(1)
    }

    fn copy_bytes(&self, copy: usize) -> u64 {
        self.copies[copy].src.view.cells() * self.element_bytes as u64
    }

    /// True if copies through temporary memory need fewer dispatches than direct copies: copies
    /// between many pairs of buffers, such as the ghost update of a rank with many chunks. `limit`
    /// is the size of temporary memory, in bytes.
    pub(super) fn needs_fewer_dispatches_staged(&self, list: &[usize], limit: u64) -> bool {
        if list.iter().any(|&copy| self.copy_bytes(copy) > limit) {
            return false;
        }
        let mut pairs: Vec<_> =
            list.iter().map(|&copy| (self.copies[copy].src.buffer, self.copies[copy].dst.buffer)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.len() > self.src_buffers(list).len() + self.dst_buffers(list).len()
    }

    /// Divides a list of copies into runs of at most `limit` bytes; a larger copy is a run of its
    /// own.
    pub(super) fn batches<'b>(&self, list: &'b [usize], limit: u64) -> Vec<&'b [usize]> {
        let mut batches = Vec::new();
        let (mut start, mut bytes) = (0, 0);
        for (position, &copy) in list.iter().enumerate() {
            if position > start && bytes + self.copy_bytes(copy) > limit {
                batches.push(&list[start..position]);
                (start, bytes) = (position, 0);
            }
            bytes += self.copy_bytes(copy);
        }
        batches.push(&list[start..]);
        batches
    }

    /// Computes the offsets of the sources of listed copies in temporary memory.
    pub(super) fn temporary_layout(&self, list: &[usize]) -> TemporaryLayout {
        let mut bytes = 0;
        let offset = |&copy: &usize| {
            let start = bytes;
            bytes = (bytes + self.copy_bytes(copy)).next_multiple_of(self.align);
            start
        };
        let offsets = list.iter().map(offset).collect();
        TemporaryLayout { offsets, bytes }
    }

    /// Groups listed copies by the index of the source buffer.
    pub(super) fn group_by_src(&self, list: &[usize]) -> BTreeMap<usize, Vec<ListedCopy>> {
        self.group_by(list, |copy| copy.src.buffer)
    }

    /// Groups listed copies by the index of the destination buffer.
    pub(super) fn group_by_dst(&self, list: &[usize]) -> BTreeMap<usize, Vec<ListedCopy>> {
        self.group_by(list, |copy| copy.dst.buffer)
    }

    fn group_by(&self, list: &[usize], buffer: fn(&BoxCopy) -> usize) -> BTreeMap<usize, Vec<ListedCopy>> {
        let mut groups: BTreeMap<usize, Vec<ListedCopy>> = BTreeMap::new();
        for (position, &copy) in list.iter().enumerate() {
            groups.entry(buffer(&self.copies[copy])).or_default().push(ListedCopy { position, copy });
        }
        groups
    }

    /// Returns the distinct source buffers of listed copies, in ascending order of buffer indices.
    pub(super) fn src_buffers(&self, list: &[usize]) -> Vec<usize> {
        self.distinct_buffers(list, |copy| copy.src.buffer)
    }

    /// Returns the distinct destination buffers of listed copies, in ascending order of buffer
    /// indices.
    pub(super) fn dst_buffers(&self, list: &[usize]) -> Vec<usize> {
        self.distinct_buffers(list, |copy| copy.dst.buffer)
    }

    fn distinct_buffers(&self, list: &[usize], buffer: fn(&BoxCopy) -> usize) -> Vec<usize> {
        let mut buffers: Vec<usize> = list.iter().map(|&copy| buffer(&self.copies[copy])).collect();
        buffers.sort_unstable();
        buffers.dedup();
        buffers
    }
}
