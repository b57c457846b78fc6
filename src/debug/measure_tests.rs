//! Summaries, compared with plain loops over the same cells.

use std::rc::Rc;

use half::f16;
use zippy_protocol::{ArrayRef, Component, ElementType, Numbers, ScalarValue, Summary, SummaryRequest};

use super::summary::summary;
use crate::array::ArrayCore;
use crate::error::Result;
use crate::world::hash;
use crate::{Config, Element, GlobalArray, Layout, Split, World, run_with};

#[derive(Clone, Copy, zippy_derive::Element)]
#[repr(C)]
struct Inner {
    shade: [f32; 2],
    number: i32,
    _pad: u32,
}

#[derive(Clone, Copy, zippy_derive::Element)]
#[repr(C)]
struct Narrow {
    place: [f32; 3],
    kind: u32,
    inner: Inner,
}

#[derive(Clone, Copy, zippy_derive::Element)]
#[repr(C)]
struct Wide {
    weight: f64,
    id: u64,
}

#[derive(Clone, Copy, zippy_derive::Element)]
#[repr(C)]
struct Half {
    half: [f16; 2],
    _pad: u32,
    change: [f16; 4],
}

pub(super) fn on_ranks(program: impl Fn(&World) -> Result<()> + Send + Sync) {
    for ranks in [1, 2, 3] {
        run_with(Config::apart(ranks), &program).unwrap_or_else(|error| panic!("on {ranks} ranks: {error}"));
    }
}

const ARRAY: ArrayRef = ArrayRef { rank: None, number: 7 };

fn summarize_array(world: &World, array: &Rc<ArrayCore>, request: &SummaryRequest) -> Result<Summary> {
    let found = world.collective("summary", hash("summary"), || summary(world, array, request, 42))?;
    Ok(found.unwrap_or_else(|error| panic!("{request:?}: {error}")))
}

fn hash_position(at: [i64; 2], which: u64) -> u64 {
    let hash = at.iter().fold(which + 1, |h, &x| (h ^ x as u64).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(23));
    hash >> 20
}

/// Pseudorandom multiple of 1/8 from −4 to 12, including both ends, or a NaN or an infinity.
fn random_float(at: [i64; 2], which: u64) -> f64 {
    match (at, hash_position(at, which) % 40) {
        ([0, 0], _) => -4.0,
        ([12, 6], _) => 12.0,
        (_, 0) => f64::NAN,
        (_, 1) => f64::INFINITY,
        (_, 2) => f64::NEG_INFINITY,
        (_, 3) => -0.0,
        (_, more) => (more * 31 % 129) as f64 / 8.0 - 4.0,
    }
}

/// Pseudorandom integer from 16 to 175, including both ends.
fn random_integer(at: [i64; 2], which: u64) -> i64 {
    match at {
        [0, 0] => 16,
        [12, 6] => 175,
        _ => 16 + (hash_position(at, which) % 160) as i64,
    }
}

fn narrow(at: [i64; 2]) -> Narrow {
    let f = |which| random_float(at, which) as f32;
    let inner = Inner { shade: [f(4), f(5)], number: random_integer(at, 6) as i32 - 100, _pad: 3 };
    Narrow { place: [f(0), f(1), f(2)], kind: random_integer(at, 3) as u32, inner }
}

fn wide(at: [i64; 2]) -> Wide {
    Wide { weight: random_float(at, 1), id: random_integer(at, 2) as u64 }
}

fn half(at: [i64; 2]) -> Half {
    let half = |which| f16::from_f64(random_float(at, which));
    Half { half: [half(3), half(4)], _pad: 0, change: [half(5), half(6), half(7), half(8)] }
}

/// Statistics by a plain loop.
fn expected_component(values: &[f64], is_float: bool, request: &SummaryRequest) -> Component {
    let (bins, range) = (usize::from(request.bins), request.range);
    let counts = |value: &f64| value.is_finite() && (!request.positive || *value > 0.0);
    let mut finite: Vec<f64> = values.iter().copied().filter(counts).collect();
    let least = finite.iter().copied().reduce(f64::min);
    let extremes = least.map(|least| (least, finite.iter().copied().fold(least, f64::max)));
    let range = range.or(extremes).unwrap_or((0.0, 0.0));
    let width = (range.1 - range.0 + if is_float { 0.0 } else { 1.0 }) / bins.max(1) as f64;
    let (mut counts, mut outside) = (vec![0; bins], (0, 0));
    for value in values.iter().filter(|value| !value.is_nan() && bins > 0) {
        match *value {
            value if value < range.0 => outside.0 += 1,
            value if value > range.1 => outside.1 += 1,
            _ if range.0 == range.1 => counts[bins - 1] += 1,
            value => counts[(((value - range.0) / width) as usize).min(bins - 1)] += 1,
        }
    }
    let nans = values.iter().filter(|value| value.is_nan()).count() as u64;
    let infinities = values.iter().filter(|value| value.is_infinite()).count() as u64;
    finite.sort_by(f64::total_cmp);
    let last = finite.len().saturating_sub(1) as f64;
    let at = |percent: &f64| finite.get((percent / 100.0 * last).round() as usize).copied();
    let percentiles = request.percentiles.iter().filter_map(at).map(ScalarValue::from).collect();
    let both = |(low, high): (f64, f64)| (low.into(), high.into());
    let (extremes, range) = (extremes.map(both), both(range));
    Component { count: values.len() as u64, nans, infinities, extremes, range, bins: counts, outside, percentiles }
}

fn component_values<T: Element>(cells: &[T], numbers: &Numbers, component: usize) -> Vec<f64> {
    let first = numbers.offset as usize + component * numbers.scalar.bytes();
    let value = |cell: &T| numbers.scalar.value(&bytemuck::bytes_of(cell)[first..]).unwrap();
    cells.iter().map(value).collect()
}

const SHAPE: [i64; 2] = [13, 7];

fn layouts(ranks: usize) -> Vec<Layout> {
    let plain = Layout::new(SHAPE);
    vec![
        plain.clone(),
        plain.clone().ghost([2, 1]).split([Split::Sizes(vec![5, 0, 8]), Split::Even(ranks)]),
        plain.clone().ghost_sides([(1, 0), (0, 3)]).split([Split::Even(5), Split::Sizes(vec![1, 6])]),
        // Ranks without cells.
        plain.split([Split::Sizes(vec![0, 13]), Split::Whole]),
    ]
}

fn cells<T>(value: impl Fn([i64; 2]) -> T) -> Vec<T> {
    (0..SHAPE[1]).flat_map(|y| (0..SHAPE[0]).map(move |x| [x, y])).map(value).collect()
}

/// Array with 0xff bytes in its ghost cells, which would change every result.
fn array<T: Element>(world: &World, layout: &Layout, value: impl Fn([i64; 2]) -> T) -> Result<GlobalArray<T, 2>> {
    let array = world.array::<T, 2>("a", layout)?;
    array.fill(bytemuck::pod_read_unaligned(&vec![0xff; size_of::<T>()]))?;
    array.fill_with(value)?;
    Ok(array)
}

fn check_summaries<T: Element>(world: &World, value: impl Fn([i64; 2]) -> T + Copy) -> Result<()> {
    if T::INFO.supported_by(world.gpu().features(), "").is_err() {
        return Ok(());
    }
    let cells = cells(value);
    for layout in layouts(world.size()) {
        let array = array(world, &layout, value)?;
        for (index, numbers) in ElementType::from(&T::INFO).numbers.iter().enumerate() {
            let is_float = numbers.scalar.is_float();
            let by_hand = if is_float { (-2.0, 6.0) } else { (20.0, 51.0) };
            let ways = [(16, None, false), (16, None, true), (16, Some(by_hand), false), (0, None, false)];
            for (bins, range, positive) in ways.into_iter().chain([(0, Some(by_hand), true)]) {
                let percentiles = if range.is_none() { vec![0.0, 99.0, 1.0, 37.5, 100.0] } else { Vec::new() };
                let request =
                    SummaryRequest { bins, range, percentiles, positive, ..SummaryRequest::of(ARRAY, index as u16) };
                let found = summarize_array(world, array.core(), &request)?;
                assert_eq!((found.array, found.numbers, found.step), (ARRAY, index as u16, 42));
                let components = (0..numbers.components.into()).map(|index| component_values(&cells, numbers, index));
                let right: Vec<_> = components.map(|values| expected_component(&values, is_float, &request)).collect();
                assert_eq!(found.components, right, "{} {numbers:?} {bins} {range:?} {layout:?}", T::INFO.name);
            }
        }
    }
    Ok(())
}

#[test]
fn summaries_agree_with_a_plain_loop() {
    on_ranks(|world| {
        check_summaries(world, narrow)?;
        check_summaries(world, wide)?;
        check_summaries(world, half)?;
        check_summaries(world, |at| random_float(at, 9) as f32)?;
        check_summaries(world, |at| random_float(at, 9))?;
        check_summaries(world, |at| f16::from_f64(random_float(at, 9)))?;
        check_summaries(world, |at| std::array::from_fn::<f32, 4, _>(|c| random_float(at, c as u64) as f32))?;
        check_summaries(world, |at| std::array::from_fn::<f16, 2, _>(|c| f16::from_f64(random_float(at, c as u64))))?;
        check_summaries(world, |at| [random_integer(at, 0) as u32, random_integer(at, 1) as u32])?;
        check_summaries(world, |at| random_integer(at, 0) as u8)?;
        check_summaries(world, |at| (random_integer(at, 0) - 100) as i8)?;
        check_summaries(world, |at| random_integer(at, 0) as u16)?;
        check_summaries(world, |at| random_integer(at, 0) as i16 - 100)?;
        check_summaries(world, |at| random_integer(at, 0) as u64)?;
        check_summaries(world, |at| random_integer(at, 0) - 100)
    });
}

/// Checks the lengths of a type's first vector against a plain loop, rounded once.
fn check_lengths<T: Element>(world: &World, value: impl Fn([i64; 2]) -> T + Copy) -> Result<()> {
    if T::INFO.supported_by(world.gpu().features(), "").is_err() {
        return Ok(());
    }
    let (cells, numbers) = (cells(value), &ElementType::from(&T::INFO).numbers[0]);
    let components: Vec<_> =
        (0..numbers.components.into()).map(|index| component_values(&cells, numbers, index)).collect();
    let length = |cell: usize| {
        let squares = components.iter().map(|values| values[cell].powi(2));
        let nan = components.iter().any(|values| values[cell].is_nan());
        if nan { f64::NAN } else { f64::from(squares.sum::<f64>().sqrt() as f32) }
    };
    let all: Vec<f64> = (0..cells.len()).map(length).collect();
    let layouts = layouts(world.size());
    // No length is near an edge of the bins, so rounding does not change its bin.
    let (range, percentiles) = (Some((-0.333, 200.77)), vec![1.0, 50.0, 99.0]);
    let request = SummaryRequest { length: true, bins: 16, range, percentiles, ..SummaryRequest::of(ARRAY, 0) };
    for layout in [&layouts[1], &layouts[3]] {
        let found = summarize_array(world, array(world, layout, value)?.core(), &request)?;
        assert!(found.length);
        let [found] = &found.components[..] else { panic!("{found:?}") };
        let right = expected_component(&all, true, &request);
        assert_eq!((found.count, found.nans, found.infinities), (right.count, right.nans, right.infinities));
        assert_eq!((&found.bins, found.outside), (&right.bins, right.outside));
        let ends = |found: &Component| [&<[_; 2]>::from(found.extremes.unwrap())[..], &found.percentiles].concat();
        let near = |(a, b): (&ScalarValue, &ScalarValue)| a.minus(*b).abs() <= 1e-6 * b.to_f64();
        assert!(ends(found).iter().zip(&ends(&right)).all(near), "{found:?} {right:?}");
    }
    Ok(())
}

#[test]
fn lengths_agree_with_a_plain_loop() {
    on_ranks(|world| {
        check_lengths(world, narrow)?;
        check_lengths(world, |at| [f16::from_f64(random_float(at, 0)), f16::from_f64(random_float(at, 1))])?;
        check_lengths(world, |at| std::array::from_fn::<i32, 4, _>(|c| random_integer(at, c as u64) as i32 - 100))
    });
}

#[test]
fn percentiles_are_exact_with_outliers() {
    on_ranks(|world| {
        let value = |[x, y]: [i64; 2]| if (x, y) == (4, 5) { 1e30 } else { (x + 13 * y) as f32 * 1e-6 };
        let array = array(world, &layouts(world.size())[1], value)?;
        let request = SummaryRequest { percentiles: vec![10.0, 90.0], ..SummaryRequest::of(ARRAY, 0) };
        let found = &summarize_array(world, array.core(), &request)?.components[0];
        assert_eq!(found.extremes.unwrap().1.to_f64() as f32, 1e30);
        assert_eq!(found.percentiles, [9e-6_f32, 82e-6].map(|value| f64::from(value).into()));
        Ok(())
    });
}

#[test]
fn large_integers_are_exact() {
    on_ranks(|world| {
        if u64::INFO.supported_by(world.gpu().features(), "").is_err() {
            return Ok(());
        }
        let (low, high) = ((1 << 60) + 1, u64::MAX - 1);
        let value = |[x, y]: [i64; 2]| [low, high, high, (1 << 63) + 5][((x + 13 * y) % 4) as usize];
        let array = array(world, &layouts(world.size())[1], value)?;
        let request = SummaryRequest { bins: 2, percentiles: vec![0.0, 50.0], ..SummaryRequest::of(ARRAY, 0) };
        let found = &summarize_array(world, array.core(), &request)?.components[0];
        let exact = |value: u64| ScalarValue::Integer(value.into());
        let ends = (exact(low), exact(high));
        assert_eq!((found.extremes, found.range), (Some(ends), ends));
        assert_eq!((&found.bins[..], found.outside), (&[23 + 22, 46][..], (0, 0)));
        assert_eq!(found.percentiles, [exact(low), exact(high)]);
        Ok(())
    });
}

#[test]
fn empty_and_constant_arrays_have_summaries() {
    on_ranks(|world| {
        let request = SummaryRequest { bins: 3, percentiles: vec![1.0, 99.0], ..SummaryRequest::of(ARRAY, 0) };
        let none = world.array::<f32, 2>("none", &Layout::new([0, 5]))?;
        let nothing = Component {
            count: 0,
            nans: 0,
            infinities: 0,
            extremes: None,
            range: (0.0.into(), 0.0.into()),
            bins: vec![0; 3],
            outside: (0, 0),
            percentiles: Vec::new(),
        };
        assert_eq!(summarize_array(world, none.core(), &request)?.components, [nothing]);
        let one = world.array::<f32, 2>("one", &Layout::new(SHAPE).split_all(Split::Even(3)))?;
        for (value, nans, infinities) in [(0.1, 0, 0), (f32::NAN, 91, 0), (f32::INFINITY, 0, 91)] {
            one.fill(value)?;
            let found = summarize_array(world, one.core(), &request)?.components.swap_remove(0);
            let is_finite = value.is_finite();
            let ends: (ScalarValue, _) = [ScalarValue::from(if is_finite { f64::from(value) } else { 0.0 }); 2].into();
            let (bins, outside) = (vec![0, 0, if is_finite { 91 } else { 0 }], (0, infinities));
            let extremes = is_finite.then_some(ends);
            let percentiles = if is_finite { vec![ends.0; 2] } else { Vec::new() };
            let right = Component { count: 91, nans, infinities, extremes, range: ends, bins, outside, percentiles };
            assert_eq!(found, right);
        }
        if f64::INFO.supported_by(world.gpu().features(), "").is_err() {
            return Ok(());
        }
        // Edges of a range of width 0 must not be rounded.
        let double = world.array::<f64, 2>("double", &Layout::new(SHAPE).split_all(Split::Even(2)))?;
        for value in (1..40).map(|i| f64::from(i) * 0.1) {
            double.fill(value)?;
            let request = SummaryRequest { bins: 7, ..request.clone() };
            let found = &summarize_array(world, double.core(), &request)?.components[0];
            assert_eq!((found.extremes, found.bins[6]), (Some((value.into(), value.into())), 91));
        }
        Ok(())
    });
}

#[test]
fn summary_of_local_array_sends_no_messages() {
    on_ranks(|world| {
        // Only one rank calls: a message would never arrive.
        if world.rank() != world.size() - 1 {
            return Ok(());
        }
        let request = SummaryRequest { bins: 4, range: Some((0.0, 400.0)), ..SummaryRequest::of(ARRAY, 0) };
        let found = |core| Ok::<_, crate::Error>(summary(world, core, &request, 1)?.unwrap().components.swap_remove(0));
        let local = world.local_array::<f32, 2>("mine", &Layout::new([30, 20]).ghost([2, 2]))?;
        local.with_ghosts().fill(f32::NAN)?;
        local.all().fill_with(|[x, y]| (x + 30 * y) as f32)?;
        let values: Vec<f64> = (0..600).map(f64::from).collect();
        assert_eq!(found(local.core())?, expected_component(&values, true, &request));

        let mut list = world.growable::<[u32; 2]>("list")?;
        for length in [0_u32, 3, 400, 3] {
            // Cells after the end of the list do not count.
            list.clear();
            list.append(&(0..length).map(|i| [i, 5000 + i]).collect::<Vec<_>>())?;
            let values: Vec<f64> = (0..length).map(f64::from).collect();
            let found = summary(world, list.core(), &request, 1)?.unwrap().components;
            let [first, second] = &found[..] else { panic!("two") };
            let right = expected_component(&values, false, &request);
            assert_eq!((first.count, first.extremes, first.outside), (right.count, right.extremes, right.outside));
            assert_eq!((second.bins.iter().sum::<u64>(), second.outside), (0, (0, u64::from(length))));
        }
        Ok(())
    });
}

#[test]
fn invalid_requests_are_refused() {
    on_ranks(|world| {
        let array = array(world, &layouts(world.size())[1], narrow)?;
        let right = SummaryRequest { bins: 3, ..SummaryRequest::of(ARRAY, 0) };
        let refused = |request: &SummaryRequest| -> Result<String> {
            Ok(world.collective("summary", hash("summary"), || summary(world, array.core(), request, 1))?.unwrap_err())
        };
        assert_eq!(
            refused(&SummaryRequest { numbers: 5, ..right.clone() })?,
            "array \"a\": cells of Narrow have 5 numbers or vectors, counted from 0, and 5 was asked for"
        );
        let many = refused(&SummaryRequest { bins: 1025, ..right.clone() })?;
        assert_eq!(many, "array \"a\": a histogram has at most 1024 bins, and 1025 were asked for");
        let range = |low, high| SummaryRequest { range: Some((low, high)), ..right.clone() };
        assert!(refused(&range(3.0, 1.0))?.contains("not from 3 to 1"));
        assert!(refused(&range(f64::NAN, 1.0))?.contains("not from NaN to 1"));
        assert!(refused(&range(0.0, f64::INFINITY))?.contains("from a finite number to one"));
        let percentiles = |percentiles: &[f64]| SummaryRequest { percentiles: percentiles.to_vec(), ..right.clone() };
        assert!(refused(&percentiles(&[50.0; 17]))?.contains("at most 16"));
        assert!(refused(&percentiles(&[1.0, f64::NAN]))?.contains("from 0 to 100, and NaN"));
        assert!(refused(&SummaryRequest { length: true, numbers: 1, ..right.clone() })?.contains("no vector"));
        // A range outside the type's is clamped; the maximum number of bins is accepted.
        let found = summarize_array(world, array.core(), &SummaryRequest { bins: 1024, ..range(-1e300, 1e300) })?;
        for component in found.components {
            assert_eq!(component.range, (f64::from(f32::MIN).into(), f64::from(f32::MAX).into()));
            assert_eq!(component.bins.iter().sum::<u64>(), component.count - component.nans - component.infinities);
        }
        Ok(())
    });
}

/// Repeats the tests on an adapter without mapped memory, so that kernels do all reductions.
#[test]
fn summaries_agree_by_driver_too() {
    if std::env::var_os("ZIPPY_HOST_MAP").is_some() {
        return;
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let module = module_path!().split_once("::").unwrap().1;
    let filters = [module, "debug::compare_tests::", "debug::condition::", "--skip", "summaries_agree_by_driver_too"];
    command.args(filters).env("ZIPPY_HOST_MAP", "0").env("ZIPPY_BINDING_LIMIT", "65536");
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && text.contains(" ... ok"), "{text}");
}
