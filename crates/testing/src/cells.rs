//! Cells that encode their position, all kinds of layouts, and comparison of arrays.

use std::fmt::Display;

use half::f16;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::{ArrayOptions, Element, GlobalArray, Layout, Ownership, Result, Split, World};

pub use crate::random::splitmix64 as mix;

/// Hash of a position: neighbours, wrapped and transposed positions differ in every byte. Arrays
/// with different `seed` have different cells.
pub fn code<const D: usize>(seed: u64, at: [i64; D]) -> u64 {
    at.iter().fold(mix(seed), |code, &x| mix(code ^ x as u64))
}

pub trait Value: Element {
    fn of(code: u64) -> Self;
}

macro_rules! integers {
    ($($int:ty),*) => {$(
        impl Value for $int {
            fn of(code: u64) -> Self {
                code as $int
            }
        }
    )*};
}
integers!(u8, i8, u16, i16, u32, i32, u64, i64);

impl Value for f32 {
    fn of(code: u64) -> Self {
        f32::from_bits(code as u32)
    }
}

impl Value for f64 {
    fn of(code: u64) -> Self {
        f64::from_bits(code)
    }
}

impl Value for f16 {
    fn of(code: u64) -> Self {
        f16::from_bits(code as u16)
    }
}

impl<T: Value, const N: usize> Value for [T; N]
where
    [T; N]: Element,
{
    fn of(code: u64) -> Self {
        std::array::from_fn(|n| T::of(mix(code + n as u64)))
    }
}

pub fn position<const D: usize>(at: &Index) -> [i64; D] {
    std::array::from_fn(|axis| at[axis])
}

pub fn boxed<const D: usize>(start: [i64; D], extents: [i64; D]) -> Region {
    Region::at(start.into(), extents.into())
}

pub fn fill<T: Value, const D: usize>(array: &GlobalArray<T, D>, seed: u64) -> Result<()> {
    array.fill_with(|at| T::of(code(seed, at)))
}

/// Compares this rank's owned cells bitwise.
pub fn expect<T: Element, const D: usize>(
    array: &GlobalArray<T, D>,
    label: &dyn Display,
    expected: impl Fn([i64; D]) -> T,
) -> Result<()> {
    for chunk in array.chunks() {
        same(chunk.region().points().zip(chunk.all().read()?), label, &expected);
    }
    Ok(())
}

/// Compares all cells of the array bitwise, on every rank. Collective.
pub fn expect_whole<T: Element, const D: usize>(
    world: &World,
    array: &GlobalArray<T, D>,
    label: &dyn Display,
    expected: impl Fn([i64; D]) -> T,
) -> Result<()> {
    let ticket = world.get(array.at(..))?;
    let cells = world.fence()?.redeem(ticket)?;
    let points = Region::whole(array.shape().into()).points();
    assert_eq!(points.clone().count(), cells.len(), "{label}");
    same(points.zip(cells), label, &expected);
    Ok(())
}

pub fn same<T: Element, const D: usize>(
    cells: impl Iterator<Item = (Index, T)>,
    label: &dyn Display,
    expected: &dyn Fn([i64; D]) -> T,
) {
    for (at, cell) in cells {
        let expected = expected(position(&at));
        same_bytes(&at, label, bytemuck::bytes_of(&cell), bytemuck::bytes_of(&expected));
    }
}

fn same_bytes(at: &Index, label: &dyn Display, found: &[u8], expected: &[u8]) {
    assert!(found == expected, "{label}: at {at}: {found:02x?} is not {expected:02x?}");
}

pub struct Cut {
    pub name: &'static str,
    pub layout: Layout,
    owners: Option<Vec<usize>>,
}

impl Cut {
    /// Creates an array of this cut. Collective.
    pub fn array<T: Element, const D: usize>(&self, world: &World, name: &str) -> Result<GlobalArray<T, D>> {
        match &self.owners {
            None => world.array(name, &self.layout),
            Some(owners) => {
                let owner = Ownership::table(owners.clone(), world.size())?;
                world.array(name, ArrayOptions::new(&self.layout).owned_by(owner))
            }
        }
    }

    pub fn with(self, change: impl FnOnce(Layout) -> Layout) -> Self {
        Self { layout: change(self.layout), ..self }
    }
}

/// All kinds of layouts of a shape.
///
/// * Cuts: automatic, slabs, unequal sizes, chunks without cells, boxes, and one chunk.
/// * Owners: balanced, scattered, and ranks without chunks.
pub fn cuts<const D: usize>(shape: [i64; D], ranks: usize) -> Vec<Cut> {
    let last = D - 1;
    let splits = |of: &dyn Fn(usize) -> Split| Layout::new(shape).split::<D>(std::array::from_fn(of));
    let scattered = |chunks: usize| (0..chunks).map(|chunk| mix(chunk as u64) as usize % ranks).collect::<Vec<_>>();
    let slabs = splits(&|axis| if axis == last { Split::Even(ranks) } else { Split::Whole });
    let uneven = splits(&|axis| match axis {
        0 if shape[0] > 2 => [1, 0, shape[0] - 1].into(),
        0 => Split::Even(2),
        1 => Split::Even(3),
        _ => Split::Whole,
    });
    let uneven_chunks = if shape[0] > 2 { 3 } else { 2 } * if D > 1 { 3 } else { 1 };
    let empties = splits(&|axis| if axis == 0 { Split::Even(shape[0] as usize + 2) } else { Split::Whole });
    let mut boxes = vec![Region::whole([0; D].into())];
    tree(Region::whole(shape.into()), 2 * ranks, 7, &mut boxes);
    // With several ranks, rank 0 owns no box.
    let of_boxes = scattered(boxes.len()).into_iter().map(|rank| if ranks > 1 { rank.max(1) } else { 0 }).collect();
    vec![
        Cut { name: "auto", layout: Layout::new(shape), owners: None },
        Cut { name: "slabs", layout: slabs, owners: None },
        Cut { name: "uneven", layout: uneven, owners: Some((0..uneven_chunks).map(|c| (c + 1) % ranks).collect()) },
        Cut { name: "empties", layout: empties, owners: Some(scattered(shape[0] as usize + 2)) },
        Cut { name: "boxes", layout: Layout::new(shape).boxes(boxes), owners: Some(of_boxes) },
        Cut { name: "whole", layout: Layout::new(shape).split_all(Split::Whole), owners: Some(vec![ranks - 1]) },
    ]
}

/// Cuts a box recursively at pseudo-random planes.
fn tree(whole: Region, leaves: usize, seed: u64, out: &mut Vec<Region>) {
    let extents = whole.extents();
    let axis = (0..whole.axes()).max_by_key(|&axis| (extents[axis], mix(seed + axis as u64))).unwrap_or(0);
    if leaves < 2 || extents[axis] < 2 {
        return out.push(whole);
    }
    let (mut low, mut high) = (whole, whole);
    low.end[axis] = whole.start[axis] + 1 + (mix(seed) % (extents[axis] as u64 - 1)) as i64;
    high.start[axis] = low.end[axis];
    tree(low, leaves / 2, mix(seed + 1), out);
    tree(high, leaves - leaves / 2, mix(seed + 2), out);
}
