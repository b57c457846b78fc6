//! Iteration over the corresponding chunks of several arrays.

use super::core::ArrayCore;
use super::global::{ChunkRef, GlobalArray};
use crate::chunks::ChunkId;
use crate::element::Element;
use crate::error::{ArrayError, CallSite, Result};
use crate::extents::Index;
use crate::region::Region;

/// Arguments of [`zip_chunks`]: a tuple of references to 2 to 6 global arrays of any element types,
/// or an array of references.
#[diagnostic::on_unimplemented(
    message = "`zip_chunks` cannot iterate over `{Self}`",
    label = "not references to 2 to 6 global arrays",
    note = "name whole arrays by reference: `zip_chunks((&a, &b))`; sections of their chunks are taken inside the loop"
)]
pub trait ZippedArrays: sealed::Sealed {
    /// Corresponding chunks, one of each array.
    type Chunks;
    #[doc(hidden)]
    fn cores(&self) -> Vec<&ArrayCore>;
    #[doc(hidden)]
    fn chunk(&self, chunk: ChunkId) -> Self::Chunks;
}

mod sealed {
    pub trait Sealed {}
}

/// Iterates over the corresponding chunks of several global arrays on this rank: each item holds
/// one chunk of each array, in slot order. Empty if this rank owns no chunk. Local.
///
/// The arrays must have the same cuts along the axes of the array with the fewest axes, and the
/// same owners; element types and ghost widths may differ. Additional axes, such as an axis of
/// components, must not be cut. The check covers the chunks of all ranks, so that every rank
/// returns the same error. The check is free for arrays created with the same layout; otherwise it
/// visits every chunk.
///
/// # Errors
/// The arrays have different cuts or owners, for example after a re-arrangement; the error names
/// the first chunk that differs.
///
/// # Examples
/// ```
/// # use zippy::{Layout, Split};
/// zippy::run(|world| {
///     let layout = Layout::new([6, 4]).split([Split::Even(3), Split::Whole]);
///     let speed = world.array::<f32, 2>("speed", &layout.clone().ghost([1, 0]))?;
///     let count = world.array::<u32, 2>("count", &layout)?;
///     for (speed, count) in zippy::zip_chunks((&speed, &count))? {
///         assert_eq!(speed.region(), count.region());
///     }
///     let halves = world.array::<u32, 2>("halves", &Layout::new([6, 4]).split([Split::Even(2), Split::Whole]))?;
///     let error = zippy::zip_chunks((&speed, &halves)).err().expect("other cuts");
///     assert!(error.to_string().contains("chunk 0 of \"speed\" is"));
///     Ok(())
/// }).unwrap();
/// ```
#[track_caller]
pub fn zip_chunks<A: ZippedArrays>(arrays: A) -> Result<impl Iterator<Item = A::Chunks> + use<A>> {
    let _call = CallSite::enter();
    let cores = arrays.cores();
    let chunks: Vec<ChunkId> = match cores.iter().min_by_key(|core| core.chunks().axes()) {
        None => Vec::new(),
        Some(lead) => match cores.iter().find_map(|other| first_difference(lead, other)) {
            None => lead.owned().collect(),
            Some(error) => return Err(error.into()),
        },
    };
    Ok(chunks.into_iter().map(move |chunk| arrays.chunk(chunk)))
}

/// Finds the first chunk that differs between two arrays.
fn first_difference(a: &ArrayCore, b: &ArrayCore) -> Option<ArrayError> {
    let (cuts, owners) = ([a.chunks(), b.chunks()], [a.ownership(), b.ownership()]);
    let differ = |problem: String| {
        Some(ArrayError::NotAlike { array: a.name().to_string(), other: b.name().to_string(), problem })
    };
    let chunk_differs = |chunk: ChunkId, of_a: String, of_b: String| {
        differ(format!("chunk {chunk} of \"{}\" is {of_a}, of \"{}\" {of_b}", a.name(), b.name()))
    };
    let both = 0..cuts[0].count().min(cuts[1].count());
    if !cuts[0].same_cuts(cuts[1]) {
        let axes = cuts[0].axes().min(cuts[1].axes());
        let regions = |chunk| cuts.map(|cuts| cuts.region(chunk));
        let differs = |chunk: ChunkId| {
            let [of_a, of_b] = regions(chunk).map(|region| leading_axes(&region, axes));
            of_a != of_b || cuts.iter().any(|cuts| !is_whole_from(axes, &cuts.region(chunk), &cuts.shape()))
        };
        if let Some(chunk) = both.clone().find(|&chunk| differs(chunk)) {
            let [of_a, of_b] = regions(chunk).map(|region| region.to_string());
            return chunk_differs(chunk, of_a, of_b);
        }
        if cuts[0].count() != cuts[1].count() {
            let (m, n) = (cuts[0].count(), cuts[1].count());
            return differ(format!("\"{}\" has {m} chunks, \"{}\" has {n}", a.name(), b.name()));
        }
    }
    if owners[0] == owners[1] {
        return None;
    }
    let ranks = |chunk| owners.map(|owners| owners.owner(chunk).rank);
    let chunk = both.into_iter().find(|&chunk| ranks(chunk)[0] != ranks(chunk)[1])?;
    let [of_a, of_b] = ranks(chunk).map(|rank| format!("on rank {rank}"));
    chunk_differs(chunk, of_a, of_b)
}

/// Restricts a region to its first axes.
fn leading_axes(region: &Region, axes: usize) -> Region {
    let restrict = |index: &Index| Index::from_fn(axes, |axis| index[axis]);
    Region::between(restrict(&region.start), restrict(&region.end))
}

/// True if a region covers the whole shape along the axes from `first` on.
fn is_whole_from(first: usize, region: &Region, shape: &Index) -> bool {
    (first..shape.axes()).all(|axis| region.start[axis] == 0 && region.end[axis] == shape[axis])
}

macro_rules! tuples {
    ($(($($type:ident $axes:ident $array:ident),*))*) => {$(
        impl<$($type: Element, const $axes: usize),*> sealed::Sealed for ($(&GlobalArray<$type, $axes>,)*) {}
        impl<$($type: Element, const $axes: usize),*> ZippedArrays for ($(&GlobalArray<$type, $axes>,)*) {
            type Chunks = ($(ChunkRef<$type, $axes>,)*);
            fn cores(&self) -> Vec<&ArrayCore> {
                let ($($array,)*) = self;
                vec![$($array.core()),*]
            }
            fn chunk(&self, chunk: ChunkId) -> Self::Chunks {
                let ($($array,)*) = self;
                ($($array.chunk(chunk),)*)
            }
        }
    )*};
}
tuples!(
    (A M a, B N b)
    (A M a, B N b, C O c)
    (A M a, B N b, C O c, E P e)
    (A M a, B N b, C O c, E P e, F Q f)
    (A M a, B N b, C O c, E P e, F Q f, G R g)
);

impl<T: Element, const D: usize, const N: usize> sealed::Sealed for [&GlobalArray<T, D>; N] {}
impl<T: Element, const D: usize, const N: usize> ZippedArrays for [&GlobalArray<T, D>; N] {
    type Chunks = [ChunkRef<T, D>; N];
    fn cores(&self) -> Vec<&ArrayCore> {
        self.iter().map(|array| &**array.core()).collect()
    }
    fn chunk(&self, chunk: ChunkId) -> Self::Chunks {
        self.map(|array| array.chunk(chunk))
    }
}
