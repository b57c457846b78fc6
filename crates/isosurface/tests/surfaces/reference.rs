//! Comparison with independent numbers: exact Euler characteristics, areas, volumes.

use serde_json::Value;
use zippy_isosurface::Statistics;

use super::fields::{Field, noise};

fn reference() -> Option<Value> {
    let path = format!("{}/../../../shared/reference/isosurface.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).ok()?;
    Some(serde_json::from_str(&text).unwrap())
}

fn assert_closed(found: &Statistics) {
    assert_eq!((found.open_edges, found.nonmanifold_edges), (0, 0), "{found:?}");
}

#[test]
fn noise_has_the_exact_topology() {
    // Computed without a table, by inclusion and exclusion of cells, faces, edges and samples.
    for (n, chi, crossed, components) in [(8, -60, 842, 2), (12, -232, 2750, 5)] {
        let found = noise(n).padded(0.0).statistics(4, 0.5);
        assert_eq!((found.euler, found.vertices - found.interior_vertices), (chi, crossed), "{found:?}");
        assert_eq!(found.components, components, "as the field has, sampled 24 times as finely");
        assert_closed(&found);
    }
}

#[test]
fn tangle_matches_reference_counts() {
    let coordinate = |i: i64, n: i64| 3.0 * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
    let field = Field::new([64; 3], |at| {
        let sum: f64 = at.map(|i| coordinate(i, 64)).map(|x| x.powi(4) - 5.0 * x * x).iter().sum();
        ((sum + 11.8) * 0.2 + 0.5) as f32
    });
    for (isovalue, crossed, chi, components) in
        [(-0.5, 3504, 16, 8), (0.2, 11664, 16, 8), (0.5, 16944, -8, 1), (2.0, 20424, 4, 2), (4.0, 20472, 2, 1)]
    {
        let found = field.statistics(3, isovalue);
        assert_eq!(found.vertices, crossed);
        assert_eq!((found.euler, found.components), (chi, components));
    }
}

#[test]
fn spheres_and_tori_converge() {
    let Some(reference) = reference() else { return };
    let shapes = reference["sphere_torus_convergence"].as_array().unwrap();
    let mut errors = [Vec::new(), Vec::new()];
    for shape in shapes.iter().filter(|shape| shape["n"].as_i64().unwrap() <= 65) {
        let n = shape["n"].as_i64().unwrap();
        let is_torus = shape["shape"].as_str().unwrap().starts_with("torus");
        let field = Field::new([n; 3], |at| {
            let [x, y, z] = at.map(|i| 2.0 * i as f64 / (n - 1) as f64 - 1.0);
            let ring = (x * x + y * y).sqrt() - 0.55;
            (if is_torus { 0.25 - (ring * ring + z * z).sqrt() } else { 0.7 - (x * x + y * y + z * z).sqrt() }) as f32
        });
        let found = field.statistics(2, 0.0);
        assert_closed(&found);
        assert_eq!(found.vertices, shape["points"].as_u64().unwrap());
        assert_eq!(found.triangles, shape["triangles"].as_u64().unwrap());
        let cell = (2.0 / (n - 1) as f64).powi(3);
        let volume = found.volume / (0.5 * 0.75 * 1.25) * cell;
        // Not bit-identical: a quadrilateral has two triangulations.
        let (expected, exact) = (shape["volume"].as_f64().unwrap(), shape["volume_exact"].as_f64().unwrap());
        assert!((volume - expected).abs() < 0.1 * (expected - exact).abs(), "{volume} {expected}");
        errors[usize::from(is_torus)].push((volume / exact - 1.0).abs());
    }
    for errors in errors {
        // Second order: each halving of the distance divides the error by four.
        assert!(errors.windows(2).all(|pair| (3.4..4.6).contains(&(pair[0] / pair[1]))), "{errors:?}");
    }
}

#[test]
fn scans_have_the_exact_topology() {
    let Some(reference) = reference() else { return };
    let path = |name: &str| format!("{}/../../../shared/data/{name}.nrrd", env!("CARGO_MANIFEST_DIR"));
    for case in reference["generic_isovalue_topology_padded"].as_array().unwrap() {
        let (name, isovalue) = (case["name"].as_str().unwrap(), case["iso"].as_f64().unwrap() as f32);
        let file = zippy_io::volume::open(path(name)).unwrap();
        let shape: [i64; 3] = std::array::from_fn(|axis| file.shape()[axis]);
        let all = zippy::region::Region::whole(file.shape());
        let samples: Vec<u16> = match file.kind() {
            zippy_io::volume::ScalarKind::U16 => file.read_region(&all).unwrap(),
            _ => file.read_region::<u8>(&all).unwrap().into_iter().map(u16::from).collect(),
        };
        let least = *samples.iter().min().unwrap();
        let found = Field { shape, samples }.padded(least).statistics(4, isovalue);
        let expected = case["exact_trilinear_chi"].as_i64().unwrap();
        // The reference counts four false tunnels: see `edges_crossed_in_one_plane` in the tests of
        // cells.
        let expected = if (name, isovalue) == ("bonsai", 37.37) { expected + 8 } else { expected };
        assert_eq!(found.euler, expected, "{name} at {isovalue}");
        let crossed = case["bipolar_grid_edges"].as_u64().unwrap();
        assert_eq!(found.vertices - found.interior_vertices, crossed, "{name} at {isovalue}");
        assert_closed(&found);
    }
}
