//! Reductions of a rank's cells on the host.

use super::host::{CellBlock, HostBox, split_into_tasks};
use super::number::Number;
use super::numbers::NumberBlock;
use super::operand::LocalOperand;
use crate::chunks::ChunkId;
use crate::device::{ChunkBuffer, Lease, PackedBox, StagedBytes, StridedBox};
use crate::error::Result;
use crate::region::Region;

impl<S: Number, const N: usize> LocalOperand<S, N> {
    /// Reduces all numbers on the host, with all threads of the rank. `start` creates the state of
    /// a task, and `add` adds a block of numbers of one component to it. The cost of a state
    /// is that of `least` numbers.
    pub(crate) fn fold_on_host<A: Send>(
        &self,
        least: u64,
        start: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, NumberBlock<'_, S, N>) + Sync,
    ) -> Result<Vec<A>> {
        let numbers = self.numbers();
        let with_room = || (start(), std::array::from_fn(|_| Vec::new()));
        let found = self.fold_cells(least, with_room, |(found, room), CellBlock { cells, index, first }| {
            let all = cells.map(bytemuck::cast_slice);
            for component in 0..numbers.components {
                let numbers = numbers.component(component, all, room);
                add(found, NumberBlock { component, index, first, numbers });
            }
        })?;
        Ok(found.into_iter().map(|(found, _)| found).collect())
    }

    /// Reduces whole cells like [`fold_on_host`](Self::fold_on_host).
    pub(crate) fn fold_cells<A: Send>(
        &self,
        least: u64,
        start: impl Fn() -> A + Sync,
        add: impl Fn(&mut A, CellBlock<'_, N>) + Sync,
    ) -> Result<Vec<A>> {
        let threads = self.cores[0].device().host_threads();
        let task = |boxes: Vec<HostBox<'_, N>>| {
            let mut found = start();
            boxes.iter().for_each(|one| one.visit(&mut |block| add(&mut found, block)));
            found
        };
        let mut all = Vec::new();
        self.host_boxes(&mut |boxes| all.extend(threads.map(split_into_tasks(boxes, threads.count(), least), task)))?;
        Ok(all)
    }

    /// Calls `each` with all boxes in mapped memory, else with staged copies of one portion of
    /// cells after another.
    fn host_boxes(&self, each: &mut dyn FnMut(Vec<HostBox<'_, N>>)) -> Result<()> {
        let (device, bytes) = (self.cores[0].device(), self.cores[0].element().bytes);
        let cell = (bytes, self.numbers().per_cell);
        if device.host_mapped() {
            return self.mapped_boxes(cell, each);
        }
        let most = (device.preferred_block_bytes() / bytes as u64).max(1);
        for (index, boxes) in self.aligned().iter().enumerate() {
            let mut first = 0;
            for lead in boxes.0[0].1.cut(most) {
                let shift = lead.start - boxes.0[0].1.start;
                let part =
                    |(chunk, region): (ChunkId, Region)| (chunk, Region::at(region.start + shift, lead.extents()));
                let Some(view) = self.view(0, part(boxes.0[0])) else { continue };
                let staged = (0..N).map(|i| self.stage(i, part(boxes.0[i]))).collect::<Result<Vec<_>>>()?;
                let memory = std::array::from_fn(|i| staged[i].as_ref());
                let views = [StridedBox::dense(0, view.extents); N];
                each(vec![HostBox { memory, views, cell, index, first }]);
                first += view.cells();
            }
        }
        Ok(())
    }

    /// Calls `each` with all boxes, in mapped memory.
    fn mapped_boxes(&self, cell: (usize, usize), each: &mut dyn FnMut(Vec<HostBox<'_, N>>)) -> Result<()> {
        let mut held: Vec<(usize, [StridedBox; N], [Lease; N])> = Vec::with_capacity(self.aligned().len());
        for (index, boxes) in self.aligned().iter().enumerate() {
            let views: [_; N] = std::array::from_fn(|i| self.view(i, boxes.0[i]));
            let leases = (0..N).map(|i| self.cores[i].lease(boxes.0[i].0)).collect::<Result<Option<Vec<_>>>>();
            let Some(leases) = leases? else { continue };
            if let (true, Ok(leases)) = (views.iter().all(Option::is_some), <[Lease; N]>::try_from(leases)) {
                held.push((index, views.map(|view| view.expect("all are there")), leases));
            }
        }
        let mut chunks: Vec<&ChunkBuffer> = held.iter().flat_map(|(.., leases)| leases).map(|lease| &**lease).collect();
        chunks.sort_unstable_by_key(|chunk| chunk.id());
        chunks.dedup_by_key(|chunk| chunk.id());
        self.cores[0].device().lend_to_read(&chunks, &mut |memory| {
            let memory = |lease: &Lease| memory[chunks.partition_point(|chunk| chunk.id() < lease.id())];
            let boxes = held.iter().map(|(index, views, leases)| {
                let memory = leases.each_ref().map(memory);
                HostBox { memory, views: *views, cell, index: *index, first: 0 }
            });
            each(boxes.collect());
        })?;
        Ok(())
    }

    /// Copies the cells of a box of section `which` to the host.
    fn stage(&self, which: usize, part: (ChunkId, Region)) -> Result<StagedBytes> {
        let (core, view) = (&self.cores[which], self.view(which, part));
        let (element, cells) = (core.element().bytes, view.map_or(0, |view| view.extents.product().unwrap_or(0)));
        let bytes = (cells * element as u64).next_multiple_of(8);
        let lease = core.lease(part.0)?;
        let boxes = lease.iter().zip(view);
        let pieces: Vec<_> = boxes.map(|(buffer, view)| PackedBox { buffer, view, payload_offset: 0 }).collect();
        Ok(core.device().gather(element, &pieces, bytes)?)
    }
}
