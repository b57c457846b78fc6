//! Bit-identical meshes for every number of ranks and every cut.

use zippy::region::Region;
use zippy::{Config, Layout, Split, run_with};
use zippy_isosurface::{Extractor, Grid};

use super::fields::{Field, Whole, random};
use super::support::launcher;

const SHAPE: [i64; 3] = [37, 11, 9];

/// Random samples: nearly every cell is crossed. Longer than a brick along axis 0.
fn field() -> Field<f32> {
    Field::new(SHAPE, |[x, y, z]| random((x * 7919 + y * 104_729 + z * 1_299_709) as u32))
}

fn alone() -> Whole {
    let (whole, found) = field().alone(0.5);
    assert_eq!(found.vertices, field().crossed_edges(0.5) + found.interior_vertices);
    assert!(found.interior_vertices > 0 && found.triangles > 3000, "{found:?}");
    whole
}

/// Compares on processes that have the mesh: all threads, and rank 0 of a launcher's processes.
fn check(expected: &Whole, found: Option<Whole>) {
    assert!(found.is_some() || launcher::rank() != Some(0) && launcher::size().is_some());
    assert!(found.is_none_or(|found| found == *expected));
}

#[test]
fn mesh_is_equal_for_every_number_of_ranks() {
    let alone = alone();
    for ranks in launcher::counts(&[2, 3, 4, 5, 7, 8]) {
        check(&alone, field().cut(ranks, |layout| layout.split_all(Split::Auto), 0.5).0);
        let ghosts = |layout: zippy::Layout| layout.split_all(Split::Auto).ghost([2, 2, 2]);
        check(&alone, field().cut(ranks, ghosts, 0.5).0);
    }
}

#[test]
fn mesh_is_equal_for_uneven_cuts() {
    let alone = alone();
    // A chunk of one sample, several chunks per rank, a rank without chunks.
    let cut =
        |layout: zippy::Layout| layout.split([Split::Sizes(vec![1, 30, 6]), Split::Sizes(vec![2, 9]), Split::Even(4)]);
    let owners: Vec<usize> = (0..24).map(|chunk| [0, 3, 1, 3, 0][chunk % 5]).collect();
    check(&alone, field().owned(4, cut, &owners, 0.5));
    let rows = |layout: zippy::Layout| layout.split([Split::Whole, Split::Even(11), Split::Even(9)]);
    check(&alone, field().cut(3, rows, 0.5).0);
}

pub(crate) fn k_d() -> Vec<Region> {
    let boxes = [
        ([0, 0, 0], [20, 5, 9]),
        ([0, 5, 0], [20, 11, 4]),
        ([0, 5, 4], [20, 11, 9]),
        ([20, 0, 0], [37, 11, 3]),
        ([20, 0, 3], [31, 11, 9]),
        ([31, 0, 3], [37, 11, 9]),
    ];
    boxes.iter().map(|(start, end)| Region::new(start, end).unwrap()).collect()
}

#[test]
fn mesh_is_equal_for_k_d_cuts() {
    let alone = alone();
    let boxes = k_d();
    for ranks in launcher::counts(&[1, 4, 6]) {
        check(&alone, field().cut(ranks, |layout| layout.boxes(boxes.clone()), 0.5).0);
    }
}

#[test]
fn mesh_does_not_depend_on_ghost_widths() {
    let alone = alone();
    let cuts: [&(dyn Fn(zippy::Layout) -> zippy::Layout + Sync); 6] = [
        &|layout| layout.split([Split::Even(9), Split::Even(2), Split::Whole]).ghost([6, 6, 6]),
        &|layout| layout.split([Split::Even(3), Split::Even(2), Split::Even(2)]).ghost_sides([(0, 3), (1, 2), (4, 0)]),
        &|layout| layout.split([Split::Even(2), Split::Even(2), Split::Whole]).ghost([2, 2, 0]),
        &|layout| layout.split([Split::Even(2), Split::Even(3), Split::Even(2)]).ghost([2; 3]).periodic([true; 3]),
        &|layout| layout.split([Split::Sizes(vec![0, 18, 0, 19]), Split::Whole, Split::Even(2)]),
        // The last chunks are one sample thin, and have no cells.
        &|layout| layout.split([Split::Sizes(vec![36, 1]), Split::Whole, Split::Sizes(vec![8, 1])]),
    ];
    for cut in cuts {
        check(&alone, field().cut(3, cut, 0.5).0);
    }
}

/// Surfaces of a reused extractor, also of two extractors at once, also after an update.
#[test]
fn reused_extractor_equals_new_extractor() {
    let samples = field();
    let ranks = launcher::counts(&[3])[0];
    for widths in [0, 2] {
        run_with(Config::threads(ranks), |world| {
            let layout = Layout::new(SHAPE).split_all(Split::Auto).ghost([widths; 3]);
            let array = samples.array(world, &layout, None)?;
            let plain = Extractor::new(world, &array, Grid::default())?;
            let mut shaded = Extractor::with_normals(world, &array, Grid::default())?;
            for isovalue in [0.5, 0.9, 0.1, 0.5, 2.0, 0.3] {
                let (one, other) = (plain.extract(isovalue)?, shaded.extract(isovalue)?);
                let fresh = Extractor::with_normals(world, &array, Grid::default())?.extract(isovalue)?;
                assert!(other == fresh && one.triangles() == other.triangles() && one.positions() == other.positions());
            }
            array.fill_with(|at| 1.0 - samples.at(at))?;
            shaded.update()?;
            let fresh = Extractor::with_normals(world, &array, Grid::default())?.extract(0.4)?;
            assert!(shaded.extract(0.4)? == fresh && fresh != plain.extract(0.5)?);
            Ok(())
        })
        .unwrap();
    }
}

#[test]
fn different_isovalues_on_ranks_are_errors() {
    let ranks = launcher::counts(&[2])[0];
    if launcher::size().is_some() {
        return;
    }
    let error = run_with(Config::threads(ranks).check(true), |world| {
        let array = field().array(world, &Layout::new(SHAPE).split_all(Split::Auto), None)?;
        Extractor::new(world, &array, Grid::default())?.extract(0.4 + world.rank() as f32).map(drop)
    });
    let error = error.unwrap_err().to_string();
    assert!(error.contains("called extract(0.4)") && error.contains("called extract(1.4)"), "{error}");
}

#[test]
fn mesh_is_equal_for_every_sample_type() {
    // Integers, with samples that equal the isovalue.
    let whole = |at: [i64; 3]| (8.0 * field().at(at)) as u8;
    let expected = Field::new([9, 8, 7], |at| f32::from(whole(at))).alone(4.0).0;
    assert!(!expected.triangles.is_empty());
    macro_rules! check {
        ($($type:ty),*) => {$(
            let found = Field::new([9, 8, 7], |at| <$type>::try_from(whole(at)).unwrap());
            check(&expected, found.cut(3, |layout| layout.split_all(Split::Auto), 4.0).0);
        )*};
    }
    check!(u8, i8, u16, i16, u32, i32);
    let halves = Field::new([9, 8, 7], |at| half::f16::from_f32(f32::from(whole(at))));
    check(&expected, halves.cut(3, |layout| layout.split_all(Split::Auto), 4.0).0);
}
