//! Kernels and host extract the same meshes.

use zippy::extents::Index;
use zippy::{Config, Layout, Split, World, run_with};
use zippy_isosurface::{Attribute, DeviceMesh, Extractor, Grid, Mesh, Sample};

use super::fields::random;
use super::support::{computes_natively, launcher, shaders};

const SHAPE: [i64; 3] = [70, 13, 11];
const STEPS: [[f64; 3]; 3] = [[0.5, 0.0, 0.1], [0.0, -0.75, 0.0], [0.0, 0.25, 1.25]];

fn grid() -> Grid {
    Grid::from_steps([-3.0, 12.5, 7.0], STEPS)
}

fn mirrored() -> Grid {
    Grid::from_steps([-3.0, 12.5, 7.0], [STEPS[1], STEPS[0], STEPS[2]])
}

#[test]
fn all_shaders_have_twins() {
    let left = shaders::without_twin(env!("CARGO_MANIFEST_DIR"), &[("points/rows", "src/points/inside.rs")]);
    assert!(left.is_empty(), "in Rust there is nothing of the name of {left:?}");
}

fn noise([x, y, z]: [i64; 3]) -> f32 {
    random((x * 7919 + y * 104_729 + z * 1_299_709) as u32)
}

pub(crate) fn rough(at: [i64; 3]) -> f32 {
    let [x, y, z] = at.map(|x| x as f32);
    0.05 * x + 0.11 * y - 0.07 * z + 0.9 * noise(at)
}

fn cuts() -> [Layout; 4] {
    let layout = || Layout::new(SHAPE);
    [
        layout().split_all(Split::Auto).ghost([2; 3]),
        layout().split([Split::Sizes(vec![1, 30, 39]), Split::Sizes(vec![2, 11]), Split::Even(4)]).ghost([1; 3]),
        layout().split([Split::Sizes(vec![69, 1]), Split::Whole, Split::Sizes(vec![10, 1])]),
        layout().split([Split::Sizes(vec![33, 0, 37]), Split::Even(5), Split::Whole]),
    ]
}

/// Maximum distance between the vectors of two lists.
fn max_distance<const N: usize>(a: &[[f32; N]], b: &[[f32; N]]) -> f32 {
    assert_eq!(a.len(), b.len());
    let differences = a.as_flattened().iter().zip(b.as_flattened());
    differences.fold(0.0, |most, (a, b)| if a == b { most } else { most.max((a - b).abs()) })
}

/// Compares two meshes of samples of magnitude at most `largest`.
fn assert_meshes_match(by_kernels: &Mesh, by_host: &Mesh, largest: f32, what: &str) {
    assert_eq!(by_kernels.triangles(), by_host.triangles(), "{what}");
    assert_eq!(by_kernels.ghosts(), by_host.ghosts(), "{what}");
    let counts = |mesh: &Mesh| {
        [
            mesh.vertices(),
            mesh.interior_vertices(),
            mesh.triangle_count(),
            mesh.vertices_before(),
            mesh.triangles_before(),
        ]
    };
    assert_eq!(counts(by_kernels), counts(by_host), "{what}");
    assert_eq!(by_kernels.own_vertices(), by_host.own_vertices(), "{what}");
    let far = max_distance(by_kernels.positions(), by_host.positions());
    assert!(far < 2e-5, "{what}: {far}");
    let turned = max_distance(by_kernels.normals(), by_host.normals());
    assert!(turned < 1e-3, "{what}: {turned}");
    // Values may be small differences of samples.
    for ((name, a), (_, b)) in by_kernels.fields().iter().zip(by_host.fields()) {
        let far = max_distance(a.as_chunks::<1>().0, b.as_chunks::<1>().0);
        assert!(far < 1e-6 * largest, "{what}, {name}: {far}");
    }
}

fn compare<T: Sample>(
    world: &World,
    layout: &Layout,
    (grid, normals): (Grid, bool),
    isovalues: &[f32],
    value: &dyn Fn([i64; 3]) -> T,
) {
    let array = world.array::<T, 3>("field", layout).unwrap();
    array.fill_with(value).unwrap();
    let other = world.array::<i16, 3>("other", &Layout::new(SHAPE).split_all(Split::Auto)).unwrap();
    other.fill_with(|[x, y, z]| (3 * x - 5 * y + 7 * z) as i16).unwrap();
    let shown = |largest: f32, at: &Index| match value([at[0], at[1], at[2]]).value() {
        value if value.is_finite() => largest.max(value.abs()),
        _ => largest,
    };
    let largest = array.core().chunks().whole().points().fold(300.0, |largest, at| shown(largest, &at));
    let attributes: [&dyn Attribute; 2] = [&other, &array];
    let extractor = || {
        if normals {
            Extractor::with_normals(world, &array, grid).unwrap()
        } else {
            Extractor::new(world, &array, grid).unwrap()
        }
    };
    let (kernels, host) = (extractor(), extractor().on_host());
    let made = kernels.extract_several_with(isovalues, &attributes).unwrap();
    let expected = host.extract_several_with(isovalues, &attributes).unwrap();
    assert!(expected.iter().filter(|mesh| mesh.triangle_count() > 500).count() > 1);
    for (place, isovalue) in isovalues.iter().enumerate() {
        let what = format!("{} at {isovalue}, {layout:?}", T::INFO.name);
        assert_meshes_match(&made[place], &expected[place], largest, &what);
    }
    // A second mesh in the same arrays, without further fields.
    let again = [&kernels, &host].map(|extractor| extractor.extract(isovalues[0]).unwrap());
    assert_meshes_match(&again[0], &again[1], largest, "again");
}

fn compare_with_host_extraction() {
    for ranks in launcher::counts(&[1, 3]) {
        run_with(Config::threads(ranks), |world| {
            assert!(!world.gpu().is_host());
            let strange = |at: [i64; 3]| match noise(at) {
                one if one < 0.02 => f32::NAN,
                one if one < 0.04 => f32::INFINITY,
                one if one < 0.06 => f32::NEG_INFINITY,
                one if one < 0.3 => 3e38 * (one - 0.2),
                one => (8.0 * one).floor() - 4.0,
            };
            let [with_ghosts, uneven, thin, empty] = cuts();
            compare(world, &uneven, (grid(), false), &[0.0, -0.0, 1.0, -3e37], &strange);
            compare(world, &with_ghosts, (mirrored(), true), &[1.5, 0.25, 1.5, 40.0], &rough);
            if ranks == 1 {
                return Ok(());
            }
            compare(world, &thin, (grid(), true), &[1.5, 0.25], &rough);
            compare(world, &empty, (grid(), false), &[127.5, 200.0], &|at| (256.0 * noise(at)) as u8);
            compare(world, &uneven, (mirrored(), false), &[-7.5, 0.0], &|at| (256.0 * noise(at) - 128.0) as i8);
            compare(world, &with_ghosts, (grid(), true), &[150.25, 100.0], &|at| (100.0 * rough(at)) as i16);
            compare(world, &thin, (mirrored(), false), &[9e8, 1e9], &|at| (4e9 * noise(at)) as u32);
            // Isovalues that equal samples after rounding.
            let large = |[x, y, z]: [i64; 3]| 16_777_217 + 2 * ((x * x + 3 * y + 5 * z) % 32);
            compare(world, &empty, (grid(), false), &[16_777_232.0, 16_777_248.0], &|at| large(at) as u32);
            compare(world, &with_ghosts, (grid(), true), &[-16_777_232.0, -16_777_248.0], &|at| -large(at) as i32);
            compare(world, &with_ghosts, (mirrored(), true), &[3e4, 2e4], &|at| (3e4 * rough(at).max(0.0)) as u16);
            let huge = |at| 3.2e38 * (2.0 * noise(at) - 1.0);
            compare(world, &with_ghosts, (grid(), true), &[1e38, -2e38], &huge);
            compare(world, &uneven, (grid(), false), &[2e-37, 5e-37], &|at| 1e-36 * noise(at));
            Ok(())
        })
        .unwrap();
    }
}

fn compare_split_bindings() {
    run_with(Config::threads(launcher::counts(&[1])[0]), |world| {
        let layout = Layout::new(SHAPE).split_all(Split::Whole);
        compare(world, &layout, (grid(), true), &[1.5, 0.25], &rough);
        Ok(())
    })
    .unwrap();
}

fn host_extracts_meshes_beyond_a_buffer() {
    for ranks in launcher::counts(&[1, 3]) {
        run_with(Config::threads(ranks), |world| {
            // All on one rank: words of bricks of several isovalues, triangles, ambiguous cells.
            let layout = Layout::new(SHAPE).split_all(Split::Whole);
            let slope = |[x, y, z]: [i64; 3]| (x + 2 * y + 3 * z) as f32;
            assert_host_extracts(world, &layout, &std::array::from_fn::<f32, 12, _>(|i| 20.5 + 7.0 * i as f32), &slope);
            assert_host_extracts(world, &layout, &[1.5], &rough);
            assert_host_extracts(world, &layout, &[0.5], &noise);
            Ok(())
        })
        .unwrap();
    }
}

fn assert_host_extracts(world: &World, layout: &Layout, isovalues: &[f32], value: &dyn Fn([i64; 3]) -> f32) {
    let array = world.array::<f32, 3>("field", layout).unwrap();
    array.fill_with(value).unwrap();
    let extractor = Extractor::new(world, &array, grid()).unwrap();
    assert!(extractor.by_kernels());
    let made = extractor.extract_several(isovalues).unwrap();
    if let [isovalue] = *isovalues {
        let mut mesh = DeviceMesh::new(world, "mesh").unwrap();
        let error = extractor.extract_on_device(isovalue, None, &mut mesh).unwrap_err().to_string();
        assert!(error.contains("a buffer has at most 49152 bytes") && mesh.triangle_count() == 0, "{error}");
    }
    // Bit-identical, unlike meshes of kernels.
    assert!(made == extractor.on_host().extract_several(isovalues).unwrap());
    assert!(made.iter().all(|mesh| mesh.triangle_count() > 100));
}

zippy_testing::with_variables! {
    without_mapping_by_driver, [("ZIPPY_HOST_MAP", "0")], compare_with_host_extraction
}

zippy_testing::with_variables! {
    beyond_a_binding_by_driver, [("ZIPPY_HOST_MAP", "0"), ("ZIPPY_BINDING_LIMIT", "16384")], compare_split_bindings
}

zippy_testing::with_variables! {
    beyond_a_buffer_by_driver, [("ZIPPY_HOST_MAP", "0"), ("ZIPPY_BUFFER_LIMIT", "49152")], host_extracts_meshes_beyond_a_buffer
}

zippy_testing::with_variables! {
    by_native_kernels, [("ZIPPY_HOST_MAP", "1"), ("ZIPPY_KERNELS", "native-only")], || if computes_natively() { compare_with_host_extraction() }
}
