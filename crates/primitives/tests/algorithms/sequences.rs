//! Test sequences with lengths near all limits, in one and in several chunks.

use zippy::array::LocalSection;
use zippy::array::Sequence;
use zippy::{Element, Layout, Result, Split, World};

use crate::support;

/// Runs a program on one rank. Does nothing under a launcher, which would not change the program.
pub(crate) fn run_on_one_rank(program: impl Fn(&World) -> Result<()> + Send + Sync) {
    if support::launcher::size().is_none() {
        support::ranks(&[1], program);
    }
}

/// Lengths of test sequences near multiples of runs, blocks and workgroups.
pub(crate) const LENGTHS: [usize; 16] = [0, 1, 2, 15, 16, 17, 31, 255, 257, 2047, 2048, 2049, 2064, 4096, 6145, 40_000];

pub(crate) fn pseudo_random_number(i: usize) -> u32 {
    let x = (i as u32).wrapping_add(1).wrapping_mul(0x9e37_79b9);
    (x ^ x >> 15).wrapping_mul(0x85eb_ca6b) ^ x >> 13
}

/// Division of a test sequence into chunks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Cut {
    /// One chunk.
    Whole,
    /// Chunks of odd lengths, some empty, with ghost cells, so that sections do not begin at the
    /// start of a chunk's memory.
    Odd,
    /// Chunks of whole blocks.
    Blocks,
}

pub(crate) const CUTS: [Cut; 3] = [Cut::Whole, Cut::Odd, Cut::Blocks];

/// Creates sections of a new local array with the given values.
pub(crate) fn sections<T: Element>(world: &World, values: &[T], cut: Cut) -> Result<Vec<LocalSection<T, 1>>> {
    let mut sections = Vec::new();
    for (number, lengths) in lengths(values.len(), cut).into_iter().enumerate() {
        let ghost = if cut == Cut::Odd { [(2, 1)] } else { [(0, 0)] };
        let layout = Layout::new([lengths as i64]).split([Split::Whole]).ghost_sides(ghost);
        sections.push(world.local_array::<T, 1>(&format!("part {number}"), &layout)?.all());
    }
    write(&sections, values)?;
    Ok(sections)
}

fn lengths(all: usize, cut: Cut) -> Vec<usize> {
    match cut {
        Cut::Whole => vec![all],
        Cut::Odd => vec![all / 7, 0, all / 3, all - all / 7 - all / 3, 0],
        Cut::Blocks => (0..all.div_ceil(4096)).map(|i| 4096.min(all - 4096 * i)).collect(),
    }
}

pub(crate) fn write<T: Element>(sections: &[LocalSection<T, 1>], mut values: &[T]) -> Result<()> {
    for section in sections {
        let (now, rest) = values.split_at(section.region()?.cells() as usize);
        section.write(now)?;
        values = rest;
    }
    Ok(())
}

pub(crate) fn read<T: Element>(sections: &[LocalSection<T, 1>]) -> Result<Vec<T>> {
    Ok(sections.iter().map(LocalSection::read).collect::<Result<Vec<_>>>()?.concat())
}

pub(crate) fn sequence<T: Element>(
    world: &World,
    values: &[T],
    cut: Cut,
) -> Result<(Sequence<T>, Vec<LocalSection<T, 1>>)> {
    let sections = sections(world, values, cut)?;
    Ok(((&sections).into(), sections))
}
