//! Guide "Reductions and sorting": statistics of measurements that are spread over all ranks.

use zippy::algorithms::reduce::Bins;
use zippy::{GlobalArray, Layout, Operator, Split, World};
use zippy_primitives::Primitives;

const MEASUREMENTS: u64 = 100_000;
const STATIONS: u32 = 8;

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let found = program(world)?;
        if world.rank() == 0 {
            println!("mean {}, median {}, 99th percentile {}", found.mean, found.median, found.percentile_99);
            println!("sum of each station: {:?}", found.station_sums);
        }
        Ok(())
    })
}

/// Statistics, with the same bits on every rank and for every number of ranks.
#[derive(Debug, PartialEq)]
pub struct Found {
    pub mean: f64,
    pub median: f32,
    pub percentile_99: f32,
    pub station_sums: Vec<u32>,
}

pub fn program(world: &World) -> zippy::Result<Found> {
    let cut = Layout::new([MEASUREMENTS]).split([Split::Auto]);
    let values = world.array::<f32, 1>("values", &cut)?;
    values.fill_with(|[i]| measurement(i))?;

    // Reductions work on sections of any array. Sums are exact until one rounding at the end.
    let mean = world.sum(&values)? / MEASUREMENTS as f64;
    let range = world.extremes(&values)?.expect("there are numbers");
    let largest = world.argmax(&values)?.expect("there are numbers");
    assert_eq!(measurement(largest.position[0]), range.max);
    let bins = Bins::even(range.min, range.max, 10)?;
    let histogram = world.histogram(values.at(..), &bins)?;
    assert_eq!(histogram.counts.iter().sum::<u64>(), MEASUREMENTS);

    // Percentiles: a sorted copy, and one cell of it.
    let sorted = world.array::<f32, 1>("sorted", &cut)?;
    world.copy(values.at(..), sorted.at(..))?;
    world.vectors().sort(&sorted)?;
    let median = cell(world, &sorted, MEASUREMENTS / 2)?;
    let percentile_99 = cell(world, &sorted, MEASUREMENTS * 99 / 100)?;
    assert!(range.min <= median && median <= percentile_99 && percentile_99 <= range.max);

    // Sums by group: sort pairs by key, then add up the values of each run of equal keys.
    let stations = world.array::<u32, 1>("stations", &cut)?;
    let counts = world.array::<u32, 1>("counts", &cut)?;
    stations.fill_with(|[i]| (i * i % 31) as u32 % STATIONS)?;
    counts.fill_with(|[i]| (i % 3) as u32)?;
    let all = world.sum(&counts)?;
    world.vectors().sort_pairs(&stations, &counts)?;
    let (keys, sums) =
        world.vectors().combine(&counts, &Operator::Add).by_key(&stations).reduce_runs("keys", "sums")?;
    assert_eq!(keys.shape(), [i64::from(STATIONS)]);
    let ticket = world.get(sums.at(..))?;
    let station_sums = world.fence()?.redeem(ticket)?;
    assert_eq!(station_sums.iter().map(|&sum| i128::from(sum)).sum::<i128>(), all);
    Ok(Found { mean, median, percentile_99, station_sums })
}

/// One cell of a vector, on every rank.
fn cell(world: &World, vector: &GlobalArray<f32, 1>, index: u64) -> zippy::Result<f32> {
    let index = index as i64;
    let ticket = world.get(vector.at((index..index + 1,)))?;
    Ok(world.fence()?.redeem(ticket)?[0])
}

/// A number that looks random, with a long tail.
fn measurement(i: i64) -> f32 {
    let random = ((i as u32).wrapping_mul(0x9e37_79b9) >> 8) as f32 / (1 << 24) as f32;
    10.0 + 1.0 / (1.01 - random)
}
