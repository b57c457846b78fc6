//! Tests that compare deliveries of elements to ranks with plain vectors. A formula gives the
//! elements of all ranks.

mod bounded;
mod mistakes;

use zippy::array::LocalSection;
use zippy::world::{Destinations, IntoDestinations};
use zippy::{Element, Layout, Result, Split, World};

use crate::support::cells::{Value, code, mix};
use crate::support::{RANKS, ranks};

/// Test case of a delivery: numbers of elements of the ranks, and destination of each element.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub name: &'static str,
    pub length: fn(rank: usize) -> u64,
    pub to: fn(rank: usize, place: u64, size: usize) -> usize,
}

impl Case {
    /// Returns the destinations of the elements of a rank.
    pub(crate) fn ranks(&self, rank: usize, size: usize) -> Vec<u32> {
        (0..(self.length)(rank)).map(|place| (self.to)(rank, place, size) as u32).collect()
    }

    /// Returns the elements that arrive at a rank, as source rank and index in the source; and the
    /// number of elements per source.
    fn arriving(&self, at: usize, size: usize) -> [Vec<(usize, u64)>; 2] {
        let mut all = Vec::new();
        let mut counts = Vec::new();
        for source in 0..size {
            let before = all.len();
            let places = (0..(self.length)(source)).filter(|&place| (self.to)(source, place, size) == at);
            all.extend(places.map(|place| (source, place)));
            if all.len() > before {
                counts.push((source, (all.len() - before) as u64));
            }
        }
        [all, counts]
    }
}

/// Returns the number of elements of a rank: odd numbers, and 0 for some ranks.
fn few(rank: usize) -> u64 {
    [137, 0, 1, 96, 301][rank % 5]
}

pub(crate) fn scattered(rank: usize, place: u64, size: usize) -> usize {
    (mix(mix(rank as u64) ^ place) % size as u64) as usize
}

const CASES: &[Case] = &[
    Case { name: "scattered", length: few, to: scattered },
    Case { name: "all to the last", length: few, to: |_, _, size| size - 1 },
    Case { name: "all to oneself", length: few, to: |rank, _, _| rank },
    Case { name: "to the next", length: few, to: |rank, _, size| (rank + 1) % size },
    Case {
        name: "to all others",
        length: few,
        to: |rank, place, size| {
            (rank + if size > 1 { 1 + (mix(place) % (size as u64 - 1)) as usize } else { 0 }) % size
        },
    },
    Case { name: "from one", length: |rank| if rank == 0 { 203 } else { 0 }, to: scattered },
    Case { name: "nothing", length: |_| 0, to: scattered },
    Case { name: "in rising order", length: few, to: |rank, place, size| place as usize * size / few(rank) as usize },
];

/// Creates sections of several local arrays that contain the values. No section is a whole array.
/// Without values there may be no section.
pub(crate) fn sections<T: Element>(
    world: &World,
    name: &str,
    values: &[T],
    cuts: u64,
) -> Result<Vec<LocalSection<T, 1>>> {
    let (mut rest, mut out) = (values, Vec::new());
    if values.is_empty() && cuts == 0 {
        return Ok(out);
    }
    for cut in 0..=cuts {
        let length = if cut == cuts { rest.len() } else { (mix(cut) % 61) as usize % (rest.len() + 1) };
        let (part, behind) = rest.split_at(length);
        let (first, n) = (1 + cut as i64, length as i64);
        let array = world.local_array::<T, 1>(&format!("{name} {cut}"), &Layout::new([n + 7]))?;
        let section = array.at(first..first + n);
        section.write(part)?;
        (rest, out) = (behind, out);
        out.push(section);
    }
    Ok(out)
}

pub(crate) fn element<T: Value>(rank: usize, place: u64) -> T {
    T::of(code(rank as u64, [place as i64]))
}

/// Delivers the elements of a test case and checks the arriving elements.
pub(crate) fn check<T: Value>(world: &World, case: &Case, to: impl IntoDestinations, cuts: u64) -> Result<()> {
    let rank = world.rank();
    let own: Vec<T> = (0..(case.length)(rank)).map(|place| element(rank, place)).collect();
    check_elements(world, case, &sections(world, "own", &own, cuts)?, to)
}

/// Runs [`check`] with elements that are already on the device.
pub(crate) fn check_elements<T: Value>(
    world: &World,
    case: &Case,
    own: &[LocalSection<T, 1>],
    to: impl IntoDestinations,
) -> Result<()> {
    let (rank, size) = (world.rank(), world.size());
    let delivered = world.deliver("delivered", own, to)?;
    let [arriving, counts] = case.arriving(rank, size);
    let expected: Vec<T> = arriving.iter().map(|&(source, place)| element(source, place)).collect();
    let label = format!("{} of {} on rank {rank} of {size}", case.name, T::INFO.name);
    assert_eq!(delivered.counts(), counts, "{label}");
    same(&label, &delivered.elements.all().read()?, &expected);
    assert_eq!(
        (delivered.elements.len(), delivered.elements.capacity()),
        (expected.len() as u64, expected.len() as u64)
    );
    // Elements that stay on the rank are in no message.
    let (all, stays) = ((case.length)(rank), counts.iter().find(|(from, _)| *from == rank).map_or(0, |(_, n)| *n));
    let (moved, bytes) = (delivered.moved(), T::INFO.bytes as u64);
    assert_eq!((moved.bytes_local, moved.bytes_network), (stays * bytes, (all - stays) * bytes), "{label}");
    assert_eq!(moved.messages > 0, all > stays, "{label}");
    Ok(())
}

pub(crate) fn same<T: Element>(label: &str, found: &[T], expected: &[T]) {
    assert_eq!(found.len(), expected.len(), "{label}");
    for (place, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!(
            bytemuck::bytes_of(found) == bytemuck::bytes_of(expected),
            "{label}: place {place} of {}",
            T::INFO.name
        );
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Element)]
#[repr(C)]
struct Three {
    a: u32,
    b: f32,
    c: i32,
}

impl Value for Three {
    fn of(code: u64) -> Self {
        Self { a: code as u32, b: f32::from_bits(mix(code) as u32), c: !code as i32 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Element)]
#[repr(C)]
struct Five {
    first: Three,
    d: u32,
    e: u32,
}

impl Value for Five {
    fn of(code: u64) -> Self {
        Self { first: Three::of(code), d: mix(code + 1) as u32, e: mix(code + 2) as u32 }
    }
}

fn every_case<T: Value>(world: &World) -> Result<()> {
    if T::INFO.supported_by(world.gpu().features(), "").is_err() {
        return Ok(());
    }
    for (number, case) in CASES.iter().enumerate() {
        let ranks = case.ranks(world.rank(), world.size());
        // Elements and destinations have independent sections.
        let to = sections(world, "to", &ranks, number as u64 % 3)?;
        check::<T>(world, case, &to[..], (number as u64 + 1) % 4)?;
    }
    Ok(())
}

macro_rules! of_every_type {
    ($($name:ident: $type:ty),*) => {$(
        #[test]
        fn $name() {
            ranks(RANKS, every_case::<$type>);
        }
    )*};
}
of_every_type! {
    bytes: u8, halves: i16, words: f32, pairs: [i32; 2], long_words: u64, doubles: f64, quads: [f32; 4],
    records_of_12_bytes: Three, records_of_20_bytes: Five
}

/// Returns the elements of a rank in runs by destination, in an order of destinations that depends
/// on `number`. If `number` is even, one destination has two runs.
fn in_runs(case: &Case, rank: usize, size: usize) -> (Vec<u64>, Vec<(usize, u64)>) {
    let to = case.ranks(rank, size);
    let (mut places, mut runs) = (Vec::new(), Vec::new());
    for number in 0..size {
        let destination = (number * 3 + rank + 1) % size;
        // The order is a permutation of 0..size if 3 does not divide `size`; else the order is
        // ascending.
        let destination = if size.is_multiple_of(3) { number } else { destination };
        let of: Vec<u64> = (0..to.len() as u64).filter(|&place| to[place as usize] as usize == destination).collect();
        runs.push((destination, of.len() as u64));
        places.extend(of);
    }
    // The second run of each rank arrives after the first runs of all other ranks.
    if let Some(split) = runs.iter().position(|(_, count)| *count > 1) {
        let start: u64 = runs[..split].iter().map(|(_, count)| count).sum();
        let moved = places.remove((start + runs[split].1 - 1) as usize);
        runs[split].1 -= 1;
        runs.push((runs[split].0, 1));
        places.push(moved);
    }
    (places, runs)
}

pub(crate) fn elements_in_runs(world: &World) -> Result<()> {
    fn check_type<T: Value>(world: &World) -> Result<()> {
        for (number, case) in CASES.iter().enumerate() {
            let (places, runs) = in_runs(case, world.rank(), world.size());
            let own: Vec<T> = places.iter().map(|&place| element(world.rank(), place)).collect();
            let own = sections(world, "own", &own, number as u64 % 4)?;
            check_elements(world, case, &own, Destinations::Runs(runs))?;
        }
        Ok(())
    }
    check_type::<u8>(world)?;
    check_type::<i16>(world)?;
    check_type::<u32>(world)?;
    check_type::<Three>(world)
}

#[test]
fn elements_in_runs_are_delivered() {
    ranks(RANKS, elements_in_runs);
}

pub(crate) fn two_columns(world: &World) -> Result<()> {
    fn check_types<A: Value, B: Value>(world: &World) -> Result<()> {
        let (rank, size) = (world.rank(), world.size());
        for case in CASES {
            let places = 0..(case.length)(rank);
            let first: Vec<A> = places.clone().map(|place| element(rank, place)).collect();
            let second: Vec<B> = places.map(|place| element(rank + 100, place)).collect();
            let (first, second) = (sections(world, "first", &first, 2)?, sections(world, "second", &second, 1)?);
            let to = sections(world, "to", &case.ranks(rank, size), 0)?;
            let delivered = world.deliver_pairs(["a", "b"], (&first[..], &second[..]), &to[..])?;
            let [arriving, counts] = case.arriving(rank, size);
            assert_eq!(delivered.counts(), counts, "{}", case.name);
            let expected: Vec<A> = arriving.iter().map(|&(source, place)| element(source, place)).collect();
            same(case.name, &delivered.elements.0.all().read()?, &expected);
            let expected: Vec<B> = arriving.iter().map(|&(source, place)| element(source + 100, place)).collect();
            same(case.name, &delivered.elements.1.all().read()?, &expected);

            let (places, runs) = in_runs(case, rank, size);
            let first: Vec<A> = places.iter().map(|&place| element(rank, place)).collect();
            let second: Vec<B> = places.iter().map(|&place| element(rank + 100, place)).collect();
            let (first, second) = (sections(world, "first", &first, 1)?, sections(world, "second", &second, 3)?);
            let again = world.deliver_pairs(["a", "b"], (first, second), Destinations::Runs(runs))?;
            assert_eq!(again.counts(), counts);
            same(case.name, &again.elements.0.all().read()?, &delivered.elements.0.all().read()?);
            same(case.name, &again.elements.1.all().read()?, &delivered.elements.1.all().read()?);
        }
        Ok(())
    }
    check_types::<u8, u8>(world)?;
    check_types::<u8, Three>(world)?;
    check_types::<f32, i16>(world)
}

#[test]
fn two_columns_stay_together() {
    ranks(RANKS, two_columns);
}

/// Delivers chunks of a global array, several per rank and some empty, with ghost cells that are
/// not delivered. The result is an ordinary array.
#[test]
fn from_chunks_to_an_array() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank() as i64, world.size() as i64);
        let lengths: Vec<i64> = (0..3 * size).map(|chunk| [5, 0, 8, 13][chunk as usize % 4]).collect();
        let total: i64 = lengths.iter().sum();
        let layout = Layout::new([total]).split([Split::Sizes(lengths)]).ghost([2]);
        let (cells, to) = (world.array::<u16, 1>("cells", &layout)?, world.array::<u32, 1>("to", &layout)?);
        cells.fill_with(|[x]| 7 * x as u16 + 1)?;
        to.fill_with(|[x]| (x * x % size) as u32)?;
        world.ghosts(&cells)?;
        let own: Vec<_> = cells.chunks().map(|chunk| chunk.all()).collect();
        let ranks: Vec<_> = to.chunks().map(|chunk| chunk.all()).collect();
        let mut delivered = world.deliver("by square", own, ranks)?;
        let expected = |of: i64| (0..total).filter(move |x| x * x % size == of).map(|x| 7 * x as u16 + 1);
        assert!(delivered.elements.all().read()?.into_iter().eq(expected(rank)));

        let published = world.publish(&delivered.elements)?;
        let all: Vec<u16> = (0..size).flat_map(expected).collect();
        assert_eq!(world.sum(published.at(..))?, all.iter().map(|&x| i128::from(x)).sum::<i128>());
        let ticket = world.get(published.at(..))?;
        assert_eq!(world.fence()?.redeem(ticket)?, all);

        delivered.elements.append(&[3, 5, 8])?;
        assert!(delivered.elements.all().read()?.into_iter().eq(expected(rank).chain([3, 5, 8])));
        Ok(())
    });
}

/// Delivers elements, and delivers the result back; in the end all elements are in their original
/// order.
#[test]
fn there_and_back() {
    ranks(RANKS, |world| {
        let (rank, size) = (world.rank(), world.size());
        let mut places = world.growable::<[u32; 2]>("places")?;
        places.append(&(0..few(rank) as u32).map(|place| [rank as u32, place]).collect::<Vec<_>>())?;
        let mut ranks = world.growable::<u32>("ranks")?;
        ranks.append(&CASES[0].ranks(rank, size))?;
        let there = world.deliver("there", places.all(), ranks.all())?;
        let back = world.deliver("back", there.elements.all(), Destinations::Runs(there.counts().to_vec()))?;
        // Ordered by the intermediate rank, and by the order there.
        let mut expected: Vec<[u32; 2]> = (0..few(rank) as u32).map(|place| [rank as u32, place]).collect();
        expected.sort_by_key(|[_, place]| scattered(rank, u64::from(*place), size));
        assert_eq!(back.elements.all().read()?, expected);
        Ok(())
    });
}
