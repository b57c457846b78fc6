//! Several isovalues at once: each mesh equals that of a separate call.

use zippy::{Config, Layout, Split, World, run_with};
use zippy_isosurface::{Attribute, Extractor, Grid, Mesh};

use super::fields::{Field, random};
use super::support::launcher;

const SHAPE: [i64; 3] = [37, 11, 9];

/// Small random integers, several of them NaN.
fn field() -> Field<f32> {
    Field::new(SHAPE, |[x, y, z]| {
        let one = random((x * 7919 + y * 104_729 + z * 1_299_709) as u32);
        if one < 0.01 { f32::NAN } else { (16.0 * one).floor() * 0.125 - 0.5 }
    })
}

/// Unsorted, with ties, a duplicate, zeros of both signs, and values beyond all samples.
const ISOVALUES: [f32; 11] = [0.5, -3.0, 0.3, 1.01, 0.0, 0.5, -0.0, 9.0, 0.9, -0.5, 1.375];

#[test]
fn several_isovalues_equal_separate_extractions() {
    let samples = field();
    let cuts: [&(dyn Fn(Layout) -> Layout + Sync); 3] = [
        &|layout| layout.split_all(Split::Auto).ghost([2; 3]),
        &|layout| layout.split([Split::Sizes(vec![1, 30, 6]), Split::Sizes(vec![2, 9]), Split::Even(4)]),
        &|layout| layout.split([Split::Sizes(vec![36, 1]), Split::Whole, Split::Sizes(vec![8, 1])]),
    ];
    for ranks in launcher::counts(&[1, 3, 5]) {
        for (number, cut) in cuts.into_iter().enumerate() {
            run_with(Config::threads(ranks), |world| {
                // The control of kernels does not depend on the number of ranks.
                if !world.gpu().is_host() && (ranks != 3 || number != 1) {
                    return Ok(());
                }
                let array = samples.array(world, &cut(Layout::new(SHAPE)), None)?;
                let other = world.array::<i16, 3>("other", &Layout::new(SHAPE).split_all(Split::Auto))?;
                other.fill_with(|[x, y, z]| (3 * x - 5 * y + 7 * z) as i16)?;
                let attributes: [&dyn Attribute; 2] = [&other, &other];
                let grid = Grid::from_steps([1.0, 2.0, 3.0], [[0.5, 0.0, 0.0], [0.0, -0.75, 0.0], [0.0, 0.0, 1.25]]);
                let mut again = Mesh::default();
                for normals in [true, false] {
                    let extractor = if normals {
                        Extractor::with_normals(world, &array, grid)?
                    } else {
                        Extractor::new(world, &array, grid)?
                    };
                    let plain = extractor.extract_several(&ISOVALUES)?;
                    let valued = extractor.extract_several_with(&ISOVALUES, &attributes)?;
                    assert_eq!((plain.len(), valued.len()), (11, 11));
                    for (place, &isovalue) in ISOVALUES.iter().enumerate() {
                        extractor.extract_into(isovalue, &mut again)?;
                        assert!(plain[place] == again, "{isovalue}");
                        assert!(valued[place] == extractor.extract_with(isovalue, &attributes)?, "{isovalue}");
                    }
                    let counts: Vec<u64> = plain.iter().map(Mesh::triangle_count).collect();
                    // NaN is below all values.
                    assert!(counts[1] == counts[9] && counts[7] == 0 && counts[0] == counts[5], "{counts:?}");
                    assert!(counts.iter().filter(|&&count| count > 1000).count() == 8, "{counts:?}");
                    assert!(plain[0] != plain[2]);
                    let error = extractor.extract_into(f32::NAN, &mut again).unwrap_err().to_string();
                    assert!(error.contains("isovalue NaN") && again == Mesh::default(), "{error}");
                    again = plain.into_iter().next().unwrap();
                }
                Ok(())
            })
            .unwrap();
        }
    }
}

fn exchanges(world: &World) -> u64 {
    let tag = format!("{:?}", world.group().next_sequence());
    let digits: String = tag.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    // The lowest byte is the context.
    digits.parse::<u64>().unwrap() >> 8
}

#[test]
fn several_isovalues_need_exchanges_of_one() {
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let array = field().array(world, &Layout::new(SHAPE).split_all(Split::Auto).ghost([2; 3]), None)?;
        let extractor = Extractor::new(world, &array, Grid::default())?;
        let during = |isovalues: &[f32]| {
            let before = exchanges(world);
            extractor.extract_several_with(isovalues, &[&array])?;
            Ok::<u64, zippy::Error>(exchanges(world) - before)
        };
        let (one, all) = (during(&[0.5])?, during(&ISOVALUES)?);
        assert!(one == all && one > 3, "{one} {all}");
        Ok(())
    })
    .unwrap();
}

#[test]
fn empty_list_and_nan_isovalue() {
    let results = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let array = field().array(world, &Layout::new(SHAPE).split_all(Split::Auto), None)?;
        let extractor = Extractor::new(world, &array, Grid::default())?;
        assert!(extractor.extract_several(&[])?.is_empty());
        let refused = |bad: f32| extractor.extract_several(&[0.5, bad, 0.25]).unwrap_err().to_string();
        let errors = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(refused);
        assert!(extractor.extract_several(&[0.5])?[0] == extractor.extract(0.5)?);
        Ok(errors)
    });
    for errors in results.unwrap() {
        assert!(errors.iter().all(|error| error.contains("it must be a finite number")), "{errors:?}");
        assert!(errors[0].contains("isovalue NaN") && errors[1].contains("isovalue inf"), "{errors:?}");
    }
}
