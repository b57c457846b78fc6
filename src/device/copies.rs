//! Boxes of chunk buffers → boxes of chunk buffers, on one device.

use std::collections::BTreeMap;

use wgpu::MapMode;

use super::boxes::{Strided, Transfer, bad, check_element, check_view};
use super::host_put::HostPut;
use super::mapping::{read_mapped, write_mapped};
use super::memory::{SLICE_BYTES, Staging};
use super::movers::{Move, common_multiple};
use super::order::{Copy, Step, any_hazard, cut, order};
use super::scatter::check_destinations;
use super::{ChunkBuffer, Device, host_copy};
use crate::error::DeviceError;

/// Host copies between boxes of the same buffer go through this much memory at a time, which stays in cache.
const HOST_BYTES: u64 = 1 << 20;

/// A box in a chunk buffer.
#[derive(Debug, Clone, Copy)]
pub struct BoxOf<'a> {
    /// The buffer.
    pub buffer: &'a ChunkBuffer,
    /// The box in it.
    pub view: Strided,
}

/// Copies that have been checked, with buffers as numbers.
pub(super) struct Numbered<'a> {
    buffers: Vec<&'a wgpu::Buffer>,
    pub copies: Vec<Copy>,
    element_bytes: usize,
    /// Boxes stand at multiples of this in temporary memory.
    align: u64,
}

impl Device {
    /// Copies boxes of elements of `element_bytes` (1, 2 or a multiple of 4) to boxes of equal extents, cell *p* of the
    /// source to cell *p* of the destination, as if every source were read before anything is written: boxes may
    /// overlap within a buffer, and buffers may be copied in circles. Destinations must not overlap each other.
    ///
    /// Local. Recorded work comes first, later work sees the new cells. Cost: on host-mapped memory a copy by the host;
    /// elsewhere one dispatch for all boxes between two buffers and no wait. Temporary memory is used only where a
    /// destination overlaps a source, at most 8 MiB at a time unless sources and destinations form a circle.
    ///
    /// # Errors
    /// Extents that differ, a box that leaves its buffer, an element size that cannot be moved, or a failing device.
    pub fn copy_boxes(&self, element_bytes: usize, copies: &[(BoxOf, BoxOf)]) -> Result<(), DeviceError> {
        let mut numbered = number("copy", element_bytes, copies)?;
        self.check("copy")?;
        if numbered.copies.is_empty() {
            return Ok(());
        }
        let limit = (SLICE_BYTES.min(self.limits().binding_bytes) / element_bytes as u64).max(1);
        let steps = if any_hazard(&numbered.copies) {
            numbered.copies = cut(&numbered.copies, limit);
            order(&numbered.copies, limit)
        } else {
            vec![Step::Direct((0..numbered.copies.len()).collect())]
        };
        if self.host_mapped() {
            return self.copy_mapped(&numbered, &steps, &HostPut::copying(element_bytes));
        }
        let mut held = Vec::new();
        for step in steps {
            match step {
                Step::Direct(all) if numbered.better_aside(&all, limit * element_bytes as u64) => {
                    for some in numbered.batches(&all, limit * element_bytes as u64) {
                        let temporary = self.read_aside(&numbered, some)?;
                        self.write_aside(&numbered, some, &temporary)?;
                        self.core().memory.keep_staging(Staging::Device, temporary);
                    }
                }
                Step::Direct(all) => {
                    let moves = all.iter().map(|&i| numbered.between(i, None, None));
                    self.record_moves(element_bytes, moves)?;
                }
                Step::Staged(all) => {
                    let temporary = self.read_aside(&numbered, &all)?;
                    self.write_aside(&numbered, &all, &temporary)?;
                    self.core().memory.keep_staging(Staging::Device, temporary);
                }
                Step::Hold(i) => held.push((i, self.read_aside(&numbered, &[i])?)),
                Step::Release(i) => {
                    for (_, temporary) in held.extract_if(.., |(held, _)| *held == i) {
                        self.write_aside(&numbered, &[i], &temporary)?;
                        self.core().memory.keep_staging(Staging::Device, temporary);
                    }
                }
            }
        }
        Ok(())
    }

    /// Records reading sources into a temporary buffer, one after the other.
    pub(super) fn read_aside(&self, of: &Numbered, which: &[usize]) -> Result<wgpu::Buffer, DeviceError> {
        let places = of.places(which);
        let temporary = self.staging(Staging::Device, places.1)?;
        let moves = which.iter().zip(&places.0).map(|(&i, &at)| of.between(i, None, Some((&temporary, at))));
        self.record_moves(of.element_bytes, moves)?;
        Ok(temporary)
    }

    fn write_aside(&self, of: &Numbered, which: &[usize], from: &wgpu::Buffer) -> Result<(), DeviceError> {
        let places = of.places(which).0;
        let moves = which.iter().zip(&places).map(|(&i, &at)| of.between(i, Some((from, at)), None));
        self.record_moves(of.element_bytes, moves)
    }

    /// Carries out steps on mapped chunks.
    pub(super) fn copy_mapped(&self, of: &Numbered, steps: &[Step], put: &HostPut) -> Result<(), DeviceError> {
        let mut held: Vec<(usize, Vec<u64>)> = Vec::new();
        let memory = &self.core().memory;
        for step in steps {
            match step {
                Step::Direct(all) => self.copy_mapped_directly(of, all, put)?,
                Step::Staged(all) => self.copy_mapped_aside(of, all, put)?,
                Step::Hold(i) => held.push((*i, self.read_mapped_aside(of, &[*i])?)),
                Step::Release(i) => {
                    for (_, block) in held.extract_if(.., |(held, _)| held == i) {
                        self.write_mapped_aside(of, &[*i], &block, put)?;
                        memory.keep_host_block(block);
                    }
                }
            }
        }
        Ok(())
    }

    fn copy_mapped_directly(&self, of: &Numbered, all: &[usize], put: &HostPut) -> Result<(), DeviceError> {
        let (sources, destinations) = (of.used(all, |c| c.src.0), of.used(all, |c| c.dst.0));
        if sources.iter().any(|b| destinations.contains(b)) {
            // A buffer is mapped for reading or for writing, not for both.
            for some in of.batches(all, HOST_BYTES) {
                self.copy_mapped_aside(of, some, put)?;
            }
            return Ok(());
        }
        let raw = |numbers: &[usize]| numbers.iter().map(|&b| of.buffers[b]).collect::<Vec<_>>();
        let _mapped = self.map_for(put, &raw(&sources), &raw(&destinations))?;
        let views: Result<Vec<_>, _> =
            sources.iter().map(|&b| read_mapped(of.buffers[b], 0..of.buffers[b].size())).collect();
        let views = views?;
        for (b, onto) in of.by(all, |copy| copy.dst.0) {
            write_mapped(of.buffers[b], 0..of.buffers[b].size(), |to| {
                for (_, i) in onto {
                    let copy = &of.copies[i];
                    let from = &views[sources.binary_search(&copy.src.0).unwrap_or(0)];
                    (put.cells)(from, to, &Transfer::new(&copy.src.1, &copy.dst.1));
                }
            })?;
        }
        Ok(())
    }

    fn copy_mapped_aside(&self, of: &Numbered, which: &[usize], put: &HostPut) -> Result<(), DeviceError> {
        let block = self.read_mapped_aside(of, which)?;
        self.write_mapped_aside(of, which, &block, put)?;
        self.core().memory.keep_host_block(block);
        Ok(())
    }

    fn read_mapped_aside(&self, of: &Numbered, which: &[usize]) -> Result<Vec<u64>, DeviceError> {
        let (places, bytes) = of.places(which);
        let mut block = self.core().memory.host_block(bytes as usize);
        let aside: &mut [u8] = bytemuck::cast_slice_mut(&mut block);
        let sources = of.used(which, |c| c.src.0);
        let modes: Vec<_> = sources.iter().map(|&b| (of.buffers[b], MapMode::Read)).collect();
        let _mapped = self.map_many(&modes)?;
        for (b, from_here) in of.by(which, |copy| copy.src.0) {
            let from = read_mapped(of.buffers[b], 0..of.buffers[b].size())?;
            for (place, i) in from_here {
                let view = of.copies[i].src.1;
                let transfer = Transfer::new(&view, &Strided::dense(0, view.extents));
                host_copy::copy(&from, &mut aside[places[place] as usize..], of.element_bytes, &transfer);
            }
        }
        Ok(block)
    }

    fn write_mapped_aside(
        &self,
        of: &Numbered,
        which: &[usize],
        block: &[u64],
        put: &HostPut,
    ) -> Result<(), DeviceError> {
        let places = of.places(which).0;
        let aside: &[u8] = bytemuck::cast_slice(block);
        let destinations: Vec<_> = of.used(which, |c| c.dst.0).into_iter().map(|b| of.buffers[b]).collect();
        let _mapped = self.map_for(put, &[], &destinations)?;
        for (b, onto) in of.by(which, |copy| copy.dst.0) {
            write_mapped(of.buffers[b], 0..of.buffers[b].size(), |to| {
                for (place, i) in onto {
                    let view = of.copies[i].dst.1;
                    let transfer = Transfer::new(&Strided::dense(0, view.extents), &view);
                    (put.cells)(&aside[places[place] as usize..], to, &transfer);
                }
            })?;
        }
        Ok(())
    }
}

impl<'a> Numbered<'a> {
    fn bytes(&self, i: usize) -> u64 {
        self.copies[i].src.1.cells() * self.element_bytes as u64
    }

    /// Whether reading all into temporary memory and writing all from it takes fewer dispatches: copies between many
    /// pairs of buffers, as in the ghost update of a rank with many chunks.
    fn better_aside(&self, which: &[usize], limit: u64) -> bool {
        if which.iter().any(|&i| self.bytes(i) > limit) {
            return false;
        }
        let mut pairs: Vec<_> = which.iter().map(|&i| (self.copies[i].src.0, self.copies[i].dst.0)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs.len() > self.used(which, |c| c.src.0).len() + self.used(which, |c| c.dst.0).len()
    }

    /// Runs of copies of at most `limit` bytes together, or of one.
    fn batches<'b>(&self, which: &'b [usize], limit: u64) -> Vec<&'b [usize]> {
        let mut out = Vec::new();
        let (mut from, mut bytes) = (0, 0);
        for (at, &i) in which.iter().enumerate() {
            if at > from && bytes + self.bytes(i) > limit {
                out.push(&which[from..at]);
                (from, bytes) = (at, 0);
            }
            bytes += self.bytes(i);
        }
        out.push(&which[from..]);
        out
    }

    /// Where boxes stand in temporary memory, and its length.
    pub fn places(&self, which: &[usize]) -> (Vec<u64>, u64) {
        let mut end = 0;
        let place = |&i: &usize| {
            let at = end;
            end = (end + self.bytes(i)).next_multiple_of(self.align);
            at
        };
        let places = which.iter().map(place).collect();
        (places, end)
    }

    /// The copies of a list by the buffer at one end, each with its place in the list, in its order.
    fn by(&self, which: &[usize], side: fn(&Copy) -> usize) -> BTreeMap<usize, Vec<(usize, usize)>> {
        let mut out: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for (place, &i) in which.iter().enumerate() {
            out.entry(side(&self.copies[i])).or_default().push((place, i));
        }
        out
    }

    fn used(&self, which: &[usize], side: fn(&Copy) -> usize) -> Vec<usize> {
        let mut used: Vec<usize> = which.iter().map(|&i| side(&self.copies[i])).collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Copy `i`, one side replaced by a dense box at a byte of a temporary buffer.
    pub fn between<'b>(
        &'b self,
        i: usize,
        src: Option<(&'b wgpu::Buffer, u64)>,
        dst: Option<(&'b wgpu::Buffer, u64)>,
    ) -> Move<'b> {
        let copy = &self.copies[i];
        let dense = Strided::dense(0, copy.src.1.extents);
        let src_view = if src.is_some() { &dense } else { &copy.src.1 };
        let dst_view = if dst.is_some() { &dense } else { &copy.dst.1 };
        let (src, src_at) = src.unwrap_or((self.buffers[copy.src.0], 0));
        let (dst, dst_at) = dst.unwrap_or((self.buffers[copy.dst.0], 0));
        Move { src, dst, transfer: Transfer::new(src_view, dst_view), base: [src_at, dst_at] }
    }
}

/// Checks copies and leaves out empty ones.
pub(super) fn number<'a>(
    what: &str,
    element_bytes: usize,
    copies: &[(BoxOf<'a>, BoxOf<'a>)],
) -> Result<Numbered<'a>, DeviceError> {
    check_element(what, element_bytes)?;
    check_destinations(what, copies.iter().map(|(_, dst)| &dst.view))?;
    let align = common_multiple(16, element_bytes as u64);
    let mut out = Numbered { buffers: Vec::new(), copies: Vec::new(), element_bytes, align };
    let mut numbers = std::collections::HashMap::new();
    for (src, dst) in copies {
        if src.view.extents != dst.view.extents {
            let message = format!("extents {} do not go with extents {}", src.view.extents, dst.view.extents);
            return Err(bad(what, message));
        }
        let mut side = |of: &BoxOf<'a>| {
            check_view(what, &of.view, element_bytes, of.buffer.bytes())?;
            let number = *numbers.entry(of.buffer.id()).or_insert_with(|| {
                out.buffers.push(of.buffer.raw());
                out.buffers.len() - 1
            });
            Ok((number, of.view))
        };
        let copy = Copy { src: side(src)?, dst: side(dst)? };
        if src.view.cells() > 0 {
            out.copies.push(copy);
        }
    }
    Ok(out)
}
