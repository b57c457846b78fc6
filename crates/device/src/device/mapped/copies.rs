//! Boxes of mapped chunks → boxes of mapped chunks.

use wgpu::MapMode;

use super::super::boxes::{BoxPair, Strided};
use super::super::numbered::Numbered;
use super::super::order::Step;
use super::super::ranges::{access_mapped, read_mapped};
use super::copy::copy as host_copy;
use super::put::{HostPut, map_for};
use crate::device::{Device, Staged};
use crate::error::DeviceError;

/// Greatest size, in bytes, of the copy that the host sets aside at a time: it stays in the caches.
const HOST_BYTES: u64 = 1 << 20;

/// Carries out steps on mapped chunks.
pub(super) fn copy(on: &Device, of: &Numbered, steps: &[Step], put: &HostPut) -> Result<(), DeviceError> {
    let mut held: Vec<(usize, Staged)> = Vec::new();
    for step in steps {
        match step {
            Step::Direct(all) => directly(on, of, all, put)?,
            Step::Staged(all) => aside(on, of, all, put)?,
            Step::Hold(i) => held.push((*i, read_aside(on, of, &[*i])?)),
            Step::Release(i) => {
                for (_, block) in held.extract_if(.., |(held, _)| held == i) {
                    write_aside(on, of, &[*i], &block, put)?;
                }
            }
        }
    }
    Ok(())
}

fn directly(on: &Device, of: &Numbered, all: &[usize], put: &HostPut) -> Result<(), DeviceError> {
    let (sources, destinations) = (of.used(all, |c| c.src.0), of.used(all, |c| c.dst.0));
    if sources.iter().any(|b| destinations.contains(b)) {
        // A buffer is mapped for reading or for writing, not for both.
        for some in of.batches(all, HOST_BYTES) {
            aside(on, of, some, put)?;
        }
        return Ok(());
    }
    let raw = |numbers: &[usize]| numbers.iter().map(|&b| of.buffers[b]).collect::<Vec<_>>();
    let _mapped = map_for(on, put, &raw(&sources), &raw(&destinations))?;
    let views: Result<Vec<_>, _> =
        sources.iter().map(|&b| read_mapped(of.buffers[b], 0..of.buffers[b].size())).collect();
    let views = views?;
    for (b, onto) in of.by(all, |copy| copy.dst.0) {
        access_mapped(of.buffers[b], 0..of.buffers[b].size(), |to| {
            for (_, i) in onto {
                let copy = &of.copies[i];
                let from = &views[sources.binary_search(&copy.src.0).unwrap_or(0)];
                (put.cells)(from, to, &BoxPair::new(&copy.src.1, &copy.dst.1));
            }
        })?;
    }
    Ok(())
}

fn aside(on: &Device, of: &Numbered, which: &[usize], put: &HostPut) -> Result<(), DeviceError> {
    let block = read_aside(on, of, which)?;
    write_aside(on, of, which, &block, put)
}

fn read_aside(on: &Device, of: &Numbered, which: &[usize]) -> Result<Staged, DeviceError> {
    let (places, bytes) = of.places(which);
    Staged::on_host(&on.logical().memory, bytes as usize, |aside| {
        let sources = of.used(which, |c| c.src.0);
        let modes: Vec<_> = sources.iter().map(|&b| (of.buffers[b], MapMode::Read)).collect();
        let _mapped = on.map_many(&modes)?;
        for (b, from_here) in of.by(which, |copy| copy.src.0) {
            let from = read_mapped(of.buffers[b], 0..of.buffers[b].size())?;
            for (place, i) in from_here {
                let view = of.copies[i].src.1;
                let transfer = BoxPair::new(&view, &Strided::dense(0, view.extents));
                host_copy(&from, &mut aside[places[place] as usize..], of.element_bytes, &transfer);
            }
        }
        Ok(())
    })
}

fn write_aside(on: &Device, of: &Numbered, which: &[usize], block: &Staged, put: &HostPut) -> Result<(), DeviceError> {
    let places = of.places(which).0;
    let aside = block.as_ref();
    let destinations: Vec<_> = of.used(which, |c| c.dst.0).into_iter().map(|b| of.buffers[b]).collect();
    let _mapped = map_for(on, put, &[], &destinations)?;
    for (b, onto) in of.by(which, |copy| copy.dst.0) {
        access_mapped(of.buffers[b], 0..of.buffers[b].size(), |to| {
            for (place, i) in onto {
                let view = of.copies[i].dst.1;
                let transfer = BoxPair::new(&Strided::dense(0, view.extents), &view);
                (put.cells)(&aside[places[place] as usize..], to, &transfer);
            }
        })?;
    }
    Ok(())
}
