//! Tests of primitives over more cells than a buffer can hold: many chunks, and temporary memory in
//! several buffers.

use zippy::array::LocalSection;
use zippy::{ArrayOptions, Element, Layout, LocalArray, Operator, Result, World};
use zippy_primitives::Primitives;

use crate::algorithms::sequences::pseudo_random_number;
use crate::support::ranks;

/// Number of cells of the sequences. The chunks of arrays and of temporary memory have different
/// lengths.
const CELLS: usize = 50_000;

struct SequenceInSeveralArrays<T: Element>(Vec<LocalArray<T, 1>>);

impl<T: Element> SequenceInSeveralArrays<T> {
    fn new(world: &World, name: &str, values: &[T]) -> Result<Self> {
        // Each array has at most 64 KiB.
        let most = 60_000 / size_of::<T>() - 7;
        let array = |(number, some): (usize, &[T])| {
            let array = world.local_array::<T, 1>(&format!("{name} {number}"), &Layout::new([some.len() as i64]))?;
            array.all().write(some)?;
            Ok(array)
        };
        Ok(Self(values.chunks(most).enumerate().map(array).collect::<Result<_>>()?))
    }

    fn all(&self) -> Vec<LocalSection<T, 1>> {
        self.0.iter().map(LocalArray::all).collect()
    }

    fn read(&self) -> Result<Vec<T>> {
        Ok(self.0.iter().map(|array| array.all().read()).collect::<Result<Vec<_>>>()?.concat())
    }
}

fn check_primitives_on_one_rank(world: &World) -> Result<()> {
    let on = world.on_rank();
    let keys: Vec<u32> = (0..CELLS).map(|i| pseudo_random_number(i) % 30_000).collect();
    let numbers: Vec<u32> = (0..CELLS as u32).collect();
    let (x, y) =
        (SequenceInSeveralArrays::new(world, "x", &keys)?, SequenceInSeveralArrays::new(world, "y", &numbers)?);
    let z = SequenceInSeveralArrays::new(world, "z", &vec![0_u32; CELLS])?;

    on.combine(x.all(), &Operator::Add).inclusive_scan(z.all())?;
    let mut sum = 0;
    assert!(z.read()?.into_iter().eq(keys.iter().map(|key| {
        sum += key;
        sum
    })));
    // The order depends on the whole sequence, so that the cells move through temporary memory.
    let halves: Vec<f32> = keys.iter().map(|&key| key as f32 / 2.0).collect();
    let f = SequenceInSeveralArrays::new(world, "f", &halves)?;
    on.combine(f.all(), &Operator::Add).inclusive_scan(f.all())?;
    let whole = f.read()?;
    let exact: f64 = halves.iter().map(|&half| f64::from(half)).sum();
    assert!((f64::from(*whole.last().unwrap()) / exact - 1.0).abs() < 1e-5 && whole.is_sorted());

    let flags: Vec<u32> = (0..CELLS).map(|i| pseudo_random_number(i + 9) % 3).collect();
    let of = SequenceInSeveralArrays::new(world, "flags", &flags)?;
    let count = on.compact(y.all(), of.all(), z.all())? as usize;
    let selected: Vec<u32> = numbers.iter().copied().filter(|&i| flags[i as usize] != 0).collect();
    assert!(z.read()?[..count] == selected[..]);
    let mut sums: Vec<u32> = Vec::new();
    for (i, (flag, key)) in flags.iter().zip(&keys).enumerate() {
        match sums.last_mut().filter(|_| i > 0 && *flag == 0) {
            Some(last) => *last += key,
            None => sums.push(*key),
        }
    }
    let count = on.combine(x.all(), &Operator::Add).by_flag(of.all()).reduce_segments(z.all())? as usize;
    assert!(z.read()?[..count] == sums[..]);

    let reversed: Vec<u32> = numbers.iter().rev().copied().collect();
    let at = SequenceInSeveralArrays::new(world, "at", &reversed)?;
    on.gather(x.all(), at.all(), z.all())?;
    assert!(z.read()?.iter().eq(keys.iter().rev()));
    on.scatter(x.all(), at.all(), z.all())?;
    assert!(z.read()?.iter().eq(keys.iter().rev()));

    on.sort_pairs(x.all(), y.all())?;
    let mut pairs: Vec<(u32, u32)> = keys.iter().copied().zip(numbers).collect();
    pairs.sort_by_key(|(key, _)| *key);
    assert!(x.read()?.into_iter().zip(y.read()?).eq(pairs));
    on.lower_bound(x.all(), at.all(), z.all())?;
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    let bounds = reversed.iter().map(|needle| sorted.partition_point(|key| key < needle) as u32);
    assert!(z.read()?.into_iter().eq(bounds));
    let count = on.unique(x.all(), z.all())? as usize;
    sorted.dedup();
    assert!(z.read()?[..count] == sorted[..]);
    Ok(())
}

fn check_sorts_over_ranks(world: &World) -> Result<()> {
    // Each chunk fits in a buffer.
    let lengths: Vec<i64> = vec![12_000; 4 * world.size()];
    let cells = 12_000 * lengths.len();
    let owners = zippy::Ownership::table((0..lengths.len()).map(|chunk| chunk / 4).collect(), world.size())?;
    let layout = Layout::new([cells as i64]).split([zippy::Split::Sizes(lengths)]);
    let x = world.array::<u32, 1>("x", ArrayOptions::new(&layout).owned_by(owners))?;
    x.fill_with(|[i]| pseudo_random_number(i as usize) % 9000)?;
    world.vectors().sort(&x)?;
    let mut sorted: Vec<u32> = (0..cells).map(|i| pseudo_random_number(i) % 9000).collect();
    sorted.sort_unstable();
    for chunk in x.chunks() {
        let region = chunk.region();
        let expected = &sorted[region.start[0] as usize..][..region.cells() as usize];
        assert!(chunk.all().read()? == expected, "{region}");
    }
    Ok(())
}

fn all() {
    ranks(&[1], check_primitives_on_one_rank);
    ranks(&[3], check_sorts_over_ranks);
}

zippy_testing::with_variables! {
    by_the_host, [("ZIPPY_BUFFER_LIMIT", "65536")], all
}

zippy_testing::with_variables! {
    by_driver, [("ZIPPY_BUFFER_LIMIT", "65536"), ("ZIPPY_HOST_MAP", "0")], all
}
