//! Reads the points of this rank on the host.

use zippy::World;
use zippy::collective::CollectiveWorld;
use zippy::error::Result;

use super::point::{Point, Position};
use crate::vectors::Vector;

/// Calls `f` with the index in the vector and the position of each point of this rank.
pub(super) fn for_each_point<P: Point>(points: &Vector<P>, mut f: impl FnMut(u64, Position)) -> Result<()> {
    let begin = points.region()?.start[0];
    for part in points.section().local_parts()? {
        let first = (part.region()?.start[0] - begin) as u64;
        (first..).zip(part.read()?).for_each(|(index, point)| f(index, point.position()));
    }
    Ok(())
}

/// Returns the first point of all ranks for which `fine` is false, the same on every rank. Must be
/// called inside a collective.
pub(super) fn first_violation<P: Point>(
    world: &World,
    points: &Vector<P>,
    fine: impl Fn(&Position) -> bool,
) -> Result<Option<(String, String)>> {
    // The index, and the bits of the coordinates.
    let mut first = [[u64::MAX, 0, 0, 0]];
    for_each_point(points, |index, position| {
        if index < first[0][0] && !fine(&position) {
            let [x, y, z] = position.map(|x| u64::from(x.to_bits()));
            first = [[index, x, y, z]];
        }
    })?;
    world.inner_group().all_reduce(&mut first, |a, b| *a = if b[0] < a[0] { *b } else { *a })?;
    let [[index, bits @ ..]] = first;
    let position = bits.map(|bits| f32::from_bits(bits as u32));
    Ok((index < u64::MAX).then(|| (format!("point {index} of {}", label(points)), position_text::<P>(&position))))
}

fn label<P: Point>(points: &Vector<P>) -> String {
    points.label().unwrap_or_default()
}

pub(super) fn position_text<P: Point>(position: &Position) -> String {
    format!("{:?}", &position[..P::DIMENSIONS])
}
