//! Surfaces on the device equal the meshes on the host, except for welding.

use zippy::array::Growable;
use zippy::{Config, Layout, Split, World, run_with};
use zippy_isosurface::{Attribute, DeviceMesh, Extractor, Grid, Mesh};

use super::by_kernels::rough;
use super::support::{computes_natively, launcher};

const SHAPE: [i64; 3] = [45, 12, 11];
const STEPS: [[f64; 3]; 3] = [[0.5, 0.0, 0.1], [0.0, -0.75, 0.0], [0.0, 0.25, 1.25]];

fn grid(mirrored: bool) -> Grid {
    let [x, y, z] = STEPS;
    Grid::from_steps([-3.0, 12.5, 7.0], if mirrored { [y, x, z] } else { STEPS })
}

/// Values of a list at the corners of triangles, as bits.
fn at_corners<const N: usize>(list: &[[f32; N]], triangles: &[[u32; 3]]) -> Vec<[u32; N]> {
    triangles.as_flattened().iter().map(|&vertex| list[vertex as usize].map(f32::to_bits)).collect()
}

fn vectors<const N: usize>(list: &Growable<f32>) -> Vec<[f32; N]> {
    let all = list.all().read().unwrap();
    assert!(all.len().is_multiple_of(N));
    all.as_chunks().0.to_vec()
}

fn assert_same_triangles(found: &DeviceMesh, wanted: &Mesh, has_normals: bool, what: &str) {
    let read = found.triangles().all().read().unwrap();
    let triangles: &[[u32; 3]] = read.as_chunks().0;
    assert_eq!(triangles.len() as u64, found.triangle_count(), "{what}");
    assert_eq!(triangles.len(), wanted.triangles().len(), "{what}");
    assert_eq!(found.own_vertices(), wanted.own_vertices() as u64, "{what}");
    let positions = vectors::<3>(found.positions());
    assert_eq!(positions.len() as u64, found.vertices(), "{what}");
    let all = at_corners(wanted.positions(), wanted.triangles());
    assert!(at_corners(&positions, triangles) == all, "{what}: positions");
    let own = wanted.own_vertices();
    assert_eq!(positions[..own], wanted.positions()[..own], "{what}");
    assert_eq!(found.normals().is_some(), has_normals, "{what}");
    if let Some(normals) = found.normals() {
        let normals = vectors::<3>(normals);
        assert_eq!(normals.len(), positions.len(), "{what}");
        let all = at_corners(wanted.normals(), wanted.triangles());
        assert!(at_corners(&normals, triangles) == all, "{what}: normals");
    }
    assert_eq!(found.values().is_some(), !wanted.fields().is_empty(), "{what}");
    if let (Some(values), Some((_, wanted_values))) = (found.values(), wanted.fields().first()) {
        let values = vectors::<1>(values);
        assert_eq!(values.len(), positions.len(), "{what}");
        let all = at_corners(wanted_values.as_chunks::<1>().0, wanted.triangles());
        assert!(at_corners(&values, triangles) == all, "{what}: values");
    }
}

fn compare(world: &World, layout: &Layout, mirrored: bool) -> zippy::Result<()> {
    assert!(!world.gpu().is_host());
    let array = world.array::<f32, 3>("field", layout)?;
    array.fill_with(rough)?;
    let other = world.array::<i16, 3>("other", &Layout::new(SHAPE).split_all(Split::Auto))?;
    other.fill_with(|[x, y, z]| (3 * x - 5 * y + 7 * z) as i16)?;
    let grid = grid(mirrored);
    let extractor = Extractor::with_normals(world, &array, grid)?;
    assert!(extractor.by_kernels());
    let mut mesh = DeviceMesh::new(world, "mesh")?;
    assert_eq!((mesh.vertices(), mesh.triangle_count()), (0, 0));
    // Consecutive surfaces in the same arrays: larger, smaller, empty, with and without a further
    // field.
    let mut triangle_counts = [0; 4];
    for (number, (isovalue, with)) in [(2.5, false), (1.5, true), (0.25, false), (1e6, true)].into_iter().enumerate() {
        let field = with.then_some(&other as &dyn Attribute);
        extractor.extract_on_device(isovalue, field, &mut mesh)?;
        let wanted = extractor.extract_with(isovalue, field.as_slice())?;
        assert_same_triangles(&mesh, &wanted, true, &format!("{isovalue}, {layout:?}"));
        triangle_counts[number] = wanted.triangle_count();
    }
    assert!(
        triangle_counts[1] > 1000
            && triangle_counts[1] != triangle_counts[0]
            && triangle_counts[2] > 0
            && triangle_counts[2] < triangle_counts[1]
            && triangle_counts[3] == 0,
        "{triangle_counts:?}"
    );
    let plain = Extractor::new(world, &array, grid)?;
    plain.extract_on_device(1.5, None, &mut mesh)?;
    assert_same_triangles(&mesh, &plain.extract(1.5)?, false, "without normals");
    let error = plain.extract_on_device(f32::NAN, None, &mut mesh).unwrap_err().to_string();
    assert!(error.contains("isovalue NaN"), "{error}");
    assert_eq!((mesh.vertices(), mesh.triangle_count(), mesh.own_vertices()), (0, 0, 0));
    plain.extract_on_device(1.5, None, &mut mesh)?;
    let small = world.array::<f32, 3>("small", &Layout::new([4, 4, 4]))?;
    let error = plain.extract_on_device(1.5, Some(&small), &mut mesh).unwrap_err().to_string();
    assert!(error.contains("\"small\"") && mesh.triangle_count() == 0, "{error}");
    assert_refused(world, &plain.on_host(), &mut mesh);
    Ok(())
}

fn assert_refused(world: &World, extractor: &Extractor<'_, f32>, mesh: &mut DeviceMesh) {
    assert!(!extractor.by_kernels());
    let error = extractor.extract_on_device(1.5, None, mesh).unwrap_err().to_string();
    assert!(error.contains("cannot be made on the device") && error.contains("by_kernels"), "{error}");
    assert_eq!(mesh.triangle_count(), 0);
    world.barrier().unwrap();
}

fn compare_with_host_meshes() {
    let layout = || Layout::new(SHAPE);
    let cuts = [
        layout().split([Split::Sizes(vec![1, 30, 14]), Split::Sizes(vec![2, 10]), Split::Even(2)]).ghost([2; 3]),
        layout().split([Split::Sizes(vec![33, 0, 12]), Split::Even(1), Split::Whole]),
    ];
    for ranks in launcher::counts(&[1, 3]) {
        for (number, layout) in cuts.iter().enumerate() {
            run_with(Config::threads(ranks), |world| compare(world, layout, number == 1)).unwrap();
        }
    }
}

#[test]
fn the_host_has_no_kernels() {
    run_with(Config::threads(launcher::counts(&[2])[0]), |world| {
        let array = world.array::<f32, 3>("field", &Layout::new(SHAPE))?;
        array.fill_with(rough)?;
        let extractor = Extractor::new(world, &array, grid(false))?;
        if world.gpu().is_host() {
            assert_refused(world, &extractor, &mut DeviceMesh::new(world, "mesh")?);
        }
        Ok(())
    })
    .unwrap();
}

zippy_testing::with_variables! {
    without_mapping_by_driver, [("ZIPPY_HOST_MAP", "0")], compare_with_host_meshes
}

zippy_testing::with_variables! {
    by_native_kernels, [("ZIPPY_HOST_MAP", "1"), ("ZIPPY_KERNELS", "native-only")], || if computes_natively() { compare_with_host_meshes() }
}
