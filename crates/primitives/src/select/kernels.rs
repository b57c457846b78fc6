//! Selection by kernels.

use bytemuck::{bytes_of, pod_read_unaligned};
use zippy::World;
use zippy::collective::{CellSequence, CollectiveWorld, align_parts};
use zippy::device::Operator;
use zippy::element::Element;
use zippy::error::Result;
use zippy::kernel::{Kernel, KernelSource, WgslComposer};
use zippy::wgsl_module;

use crate::heads::Heads;
use crate::scan::{ScanOperation, run};

/// Returns the number of cells whose flag is not 0, and the number of such cells before each cell.
pub(crate) fn count_selected_by_scan(world: &World, flags: &CellSequence) -> Result<(u64, CellSequence)> {
    let before = world.scratch_cells("places of selected cells", &u32::INFO, flags.len())?;
    mark_by_kernel(world, flags, &before)?;
    let zero = 0_u32;
    let operation =
        ScanOperation { first: Some(bytes_of(&zero)), ..ScanOperation::inclusive(&Operator::Add, &u32::INFO) };
    let all = run(world, &operation, &before, Heads::None, Some(&before))?;
    let count = all.item.map_or(0, |item| pod_read_unaligned::<u32>(&item.value));
    Ok((count.into(), before))
}

/// Returns the output index of each cell, from the number of selected cells before each cell.
pub(super) fn destinations(
    world: &World,
    entry: &str,
    [flags, before]: [&CellSequence; 2],
    count: u64,
) -> Result<CellSequence> {
    let destinations = world.scratch_cells("places of cells", &u32::INFO, before.len())?;
    before.copy_to(&destinations)?;
    let destination_kernel = create_flags_kernel(world, entry)?;
    for piece in align_parts(&[flags, &destinations]) {
        let call = destination_kernel.call().read("flags", piece.parts[0].binding());
        let call = call.update("places", piece.parts[1].binding());
        let counted = [piece.first as u32, count as u32, before.len() as u32, 0];
        let call = if entry == "place_all" { call.param("counted", counted) } else { call };
        call.over([piece.cells() as i64]).run()?;
    }
    Ok(destinations)
}

pub(crate) fn mark_by_kernel(world: &World, flags: &CellSequence, marks: &CellSequence) -> Result<()> {
    let mark = create_flags_kernel(world, "mark")?;
    for piece in align_parts(&[flags, marks]) {
        let call = mark.call().read("flags", piece.parts[0].binding());
        call.write("marks", piece.parts[1].binding()).over([piece.cells() as i64]).run()?;
    }
    Ok(())
}

pub(crate) fn tails_by_kernel(world: &World, heads: &CellSequence) -> Result<CellSequence> {
    let tails = world.scratch_cells("ends of segments", &u32::INFO, heads.len())?;
    let tail = create_flags_kernel(world, "tail")?;
    for piece in align_parts(&[heads, &tails]) {
        let call = tail.call().read("flags", piece.parts[0].binding()).write("marks", piece.parts[1].binding());
        let counted = [piece.first as u32, 0, heads.len() as u32, 0];
        call.param("counted", counted).over([piece.cells() as i64]).run()?;
        // The cell after the last one is in another part.
        let end = piece.first + piece.cells();
        if end < heads.len() {
            let mut next = 0_u32;
            heads.read(end..end + 1, bytemuck::bytes_of_mut(&mut next))?;
            tails.write(end - 1..end, bytes_of(&u32::from(next != 0)))?;
        }
    }
    Ok(tails)
}

fn create_flags_kernel(world: &World, entry: &str) -> Result<Kernel> {
    let text = WgslComposer::new().module(wgsl_module!("../../shaders/select/flags.wgsl")).compose()?;
    world.cached_kernel(&KernelSource::composed("selection", text))?.entry(entry)
}
