//! Levels of detail: every second cell.

use zippy::array::{GlobalArray, GlobalSection};
use zippy::element::Element;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{Layout, Result, World};

use crate::array::staging::ranges;

/// So many bytes of cells are brought to the host at once.
const BLOCK_BYTES: u64 = 8 << 20;

/// An array of every second cell of a section along each axis, from its first on; each cell stays with its rank. Collective.
///
/// # Errors
/// No memory; a failure of this or of another rank.
pub fn half<T: Element, const D: usize>(
    world: &World,
    name: &str,
    section: &GlobalSection<T, D>,
) -> Result<GlobalArray<T, D>> {
    let (whole, array) = (section.region()?, section.array());
    let (chunks, ownership) = (array.core().chunks(), array.core().ownership());
    let up = |at: i64| at / 2 + at % 2;
    let part = |region: Region| {
        let Some(own) = region.intersect(&whole) else { return Region::whole(Index::zeros(D)) };
        let at = |place: &Index| Index::from_fn(D, |axis| up(place[axis] - whole.start[axis]));
        Region::between(at(&own.start), at(&own.end))
    };
    let boxes: Vec<Region> = (0..chunks.count()).map(|chunk| part(chunks.region(chunk))).collect();
    let shape: [i64; D] = std::array::from_fn(|axis| up(whole.extents()[axis]));
    let half = world.array_owned::<T, D>(name, &Layout::new(shape).boxes(boxes), (**ownership).clone())?;
    let most = ((BLOCK_BYTES / T::INFO.bytes as u64) >> D).max(1);
    let copied = array.chunks().zip(half.chunks()).try_for_each(|(from, to)| {
        to.region().cut(most).iter().filter(|part| !part.is_empty()).try_for_each(|part| {
            let start = Index::from_fn(D, |axis| whole.start[axis] + 2 * part.start[axis]);
            let end = Index::from_fn(D, |axis| whole.start[axis] + 2 * part.end[axis] - 1);
            let source = Region::between(start, end);
            let cells = from.at_global(ranges::<D>(&source)).read()?;
            to.at_global(ranges::<D>(part)).write(&every_second(&cells, &source.extents()))
        })
    });
    world.agree("making a level of detail", copied)?;
    Ok(half)
}

/// Every second cell of a box along each axis.
fn every_second<T: Copy>(cells: &[T], extents: &Index) -> Vec<T> {
    let row = extents[0].max(1) as usize;
    let mut out = Vec::new();
    for (number, row) in cells.chunks_exact(row).enumerate() {
        let mut rest = number as i64;
        let is_wanted = (1..extents.axes()).all(|axis| {
            let at = rest % extents[axis];
            rest /= extents[axis];
            at % 2 == 0
        });
        if is_wanted {
            out.extend(row.iter().step_by(2));
        }
    }
    out
}
