//! Histograms.

use zippy::algorithms::reduce::{Bins, Histogram};
use zippy::{Element, Layout, Result, Split};

use super::cells::{bits, plane};
use crate::support;

/// Histogram by definition, for bins with ascending edges.
fn expected_histogram<T: Copy + PartialOrd>(cells: &[T], edges: &[T]) -> Histogram {
    let mut found = Histogram { counts: vec![0; edges.len() - 1], ..Histogram::default() };
    let last = edges.len() - 2;
    for &cell in cells {
        let bin =
            (0..=last).rfind(|&i| cell >= edges[i] && (cell < edges[i + 1] || (i == last && cell <= edges[i + 1])));
        match bin {
            Some(bin) => found.counts[bin] += 1,
            None if cell < edges[0] => found.below += 1,
            None if cell > edges[last + 1] => found.above += 1,
            None => found.nans += 1,
        }
    }
    found
}

#[test]
fn histogram_of_floats_equals_definition() {
    support::ranks(support::RANKS, |world| {
        for case in plane(world.size()) {
            // Many cells on the edges, zeros of both signs, and arbitrary bit patterns.
            let value = |p: [i64; 2]| match bits(&p) % 5 {
                0 => f32::from_bits(bits(&p) as u32),
                1 => ((bits(&p) >> 8) % 9) as f32 * 0.25 - 1.0,
                2 => [0.0, -0.0, f32::NAN, f32::INFINITY][(bits(&p) >> 20) as usize % 4],
                _ => ((bits(&p) >> 8) % 4000) as f32 * 1e-3 - 2.0,
            };
            let array = case.array(world, value)?;
            let cells: Vec<f32> = case.positions().into_iter().map(value).collect();
            let section = array.at(case.section.clone());
            let wide = [f32::NEG_INFINITY, -1.0, -0.0, 0.5, f32::INFINITY].to_vec();
            for bins in
                [Bins::even(-1.0, 1.0, 8)?, Bins::even(-2.0, 2.0, 3000)?, Bins::edges(wide)?, Bins::even(1.0, 1.0, 1)?]
            {
                let found = world.histogram(&section, &bins)?;
                assert_eq!(found, expected_histogram(&cells, bins.as_edges()));
                let all = found.counts.iter().sum::<u64>() + found.below + found.above + found.nans;
                assert_eq!(all, cells.len() as u64);
            }
        }
        Ok(())
    });
}

#[test]
fn histogram_of_other_types_equals_definition() {
    support::ranks(&[1, 3], |world| {
        let layout = Layout::new([40_000]).split([Split::Even(5)]).ghost([3]);
        let bytes = world.array::<u8, 1>("bytes", &layout)?;
        bytes.fill_with(|[x]| bits(&[x]) as u8)?;
        let cells: Vec<u8> = (7..39_000).map(|x| bits(&[x]) as u8).collect();
        let all = Bins::even(0, 255, 256)?;
        let found = world.histogram(bytes.at(7..39_000), &all)?;
        let each: Vec<u64> = (0..=255).map(|v| cells.iter().filter(|&&c| c == v).count() as u64).collect();
        assert_eq!((found.counts, found.below, found.above), (each, 0, 0));

        let words = world.array::<[u32; 2], 1>("words", &layout)?;
        words.fill_with(|[x]| [bits(&[x]) as u32, u32::MAX - (x % 3) as u32])?;
        let top = Bins::edges(vec![u32::MAX - 2, u32::MAX])?;
        let found = world.histogram(words.at(..), &top)?;
        assert_eq!((found[1].counts.clone(), found[1].below, found[1].above), (vec![40_000], 0, 0));
        let even = Bins::even(1 << 30, 3 << 30, 5000)?;
        let cells: Vec<u32> = (0..40_000).map(|x| bits(&[x]) as u32).collect();
        assert_eq!(world.histogram(words.at(..), &even)?[0], expected_histogram(&cells, even.as_edges()));

        let small = world.array::<i8, 1>("small", &layout)?;
        small.fill_with(|[x]| bits(&[x]) as i8)?;
        let cells: Vec<i8> = (0..40_000).map(|x| bits(&[x]) as i8).collect();
        let bins = Bins::even(-100, 90, 7)?;
        assert_eq!(world.histogram(small.at(..), &bins)?, expected_histogram(&cells, bins.as_edges()));
        if i64::INFO.supported_by(world.gpu().features(), "").is_ok() {
            let long = world.array::<i64, 1>("long", &layout)?;
            long.fill_with(|[x]| bits(&[x]) as i64)?;
            let cells: Vec<i64> = (0..40_000).map(|x| bits(&[x]) as i64).collect();
            let bins = Bins::even(i64::MIN, i64::MAX, 11)?;
            assert_eq!(world.histogram(long.at(..), &bins)?, expected_histogram(&cells, bins.as_edges()));
        }
        Ok(())
    });
}

#[test]
fn invalid_bins_are_refused() {
    let text = |bins: Result<Bins<f32>>| bins.unwrap_err().to_string();
    assert!(text(Bins::edges(vec![1.0])).contains("at least two"));
    assert!(text(Bins::even(0.0, 1.0, 0)).contains("at least two"));
    assert!(text(Bins::edges(vec![1.0, f32::NAN])).contains("edge 1 is NaN"));
    assert!(text(Bins::edges(vec![1.0, 2.0, 1.5])).contains("edge 2, 1.5, is smaller than 2.0"));
    assert!(text(Bins::even(2.0, 1.0, 4)).contains("smaller"));
    assert!(text(Bins::even(0.0, f32::INFINITY, 4)).contains("NaN"));
    assert!(Bins::<i32>::even(5, -5, 3).is_err());
}
