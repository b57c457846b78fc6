//! [`subsample`]: every n-th cell of an array.

use zippy::array::{GlobalArray, GlobalSection};
use zippy::collective::CollectiveWorld;
use zippy::device::{BufferBox, StridedBox};
use zippy::element::Element;
use zippy::error::{ArrayError, CallSite};
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{ArrayOptions, Layout, Ownership, Result, World};

/// Creates an array `name` with every `step`-th cell of a section along each axis, from its first
/// cell: of `n` cells along an axis, `n` / `step` rounded up.
///
/// The array has the cuts and the owners of the source: a chunk with the cells `[a, b)` of the
/// section keeps those from `a` / `step` to `b` / `step`, both rounded up, and may become empty. No
/// ghost cells. Collective, without messages; on return the work is queued like a kernel. Needs no
/// host memory.
///
/// # Errors
/// A step below 1; a bad section; as [`World::array`].
///
/// ```
/// use zippy::{Layout, Split};
///
/// zippy::run_with(zippy::Config::threads(2), |world| {
///     let array = world.array::<i32, 1>("array", &Layout::new([7]).split([Split::Even(2)]))?;
///     array.fill_with(|[x]| x as i32)?;
///     let coarse = zippy_store::array::subsample(world, &array.at(..), [3], "coarse")?;
///     let ticket = world.get(coarse.at(..))?;
///     assert_eq!(world.fence()?.redeem(ticket)?, [0, 3, 6]);
///     Ok(())
/// })?;
/// # Ok::<(), zippy::Error>(())
/// ```
#[track_caller]
pub fn subsample<T: Element, const D: usize>(
    world: &World,
    section: &GlobalSection<T, D>,
    step: [i64; D],
    name: &str,
) -> Result<GlobalArray<T, D>> {
    let _call = CallSite::enter();
    let whole = section.region()?;
    let source = section.array();
    if step.iter().any(|&step| step < 1) {
        let message =
            format!("array \"{}\" cannot be taken in steps of {step:?}; each must be at least 1", source.name());
        return Err(ArrayError::Other(message).into());
    }
    let divided_up = |cells: i64, axis: usize| cells / step[axis] + i64::from(cells % step[axis] != 0);
    let selected = |chunk: usize| match source.core().chunks().region(chunk).intersect(&whole) {
        Some(cells) => Region::between(
            Index::from_fn(D, |axis| divided_up(cells.start[axis] - whole.start[axis], axis)),
            Index::from_fn(D, |axis| divided_up(cells.end[axis] - whole.start[axis], axis)),
        ),
        None => Region::between(Index::zeros(D), Index::zeros(D)),
    };
    let extents = whole.extents();
    let shape: [i64; D] = std::array::from_fn(|axis| divided_up(extents[axis], axis));
    let count = source.core().chunks().count();
    let owners = (0..count).map(|chunk| source.core().ownership().owner(chunk).rank).collect();
    let layout = Layout::new(shape).boxes((0..count).map(selected).collect());
    let array =
        world.array::<T, D>(name, ArrayOptions::new(&layout).owned_by(Ownership::table(owners, world.size())?))?;
    world.failing("taking cells in steps", || copy_selected_cells(&source, &array, &whole, &step))?;
    Ok(array)
}

fn copy_selected_cells<T: Element, const D: usize>(
    source: &GlobalArray<T, D>,
    array: &GlobalArray<T, D>,
    whole: &Region,
    step: &[i64; D],
) -> Result<()> {
    let (from, to) = (source.core(), array.core());
    for chunk in to.owned() {
        let selected = to.chunks().region(chunk);
        if selected.is_empty() {
            continue;
        }
        let (Some(read), Some(written)) = (from.lease(chunk)?, to.lease(chunk)?) else { continue };
        let first = Index::from_fn(D, |axis| whole.start[axis] + selected.start[axis] * step[axis]);
        let dense = from.strided(chunk, &Region::at(first, Index::splat(D, 1)));
        let strides = Index::from_fn(D, |axis| dense.strides[axis].saturating_mul(step[axis]));
        let view = StridedBox { offset: dense.offset, extents: selected.extents(), strides };
        let pair =
            (BufferBox { buffer: &read, view }, BufferBox { buffer: &written, view: to.strided(chunk, &selected) });
        from.device().copy_boxes(T::INFO.bytes, &[pair])?;
        to.mark_written(chunk);
    }
    Ok(())
}
