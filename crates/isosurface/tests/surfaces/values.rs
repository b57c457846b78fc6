//! Values of further fields at the vertices.

use std::collections::BTreeMap;

use zippy::transport::{copied, values};
use zippy::{Config, Layout, Split, World, run_with};
use zippy_isosurface::{Attribute, Extractor, Grid, Mesh};

use super::fields::{Field, noise, random};
use super::support::launcher;

const N: i64 = 9;

/// Linear field: values at vertices follow from their positions.
fn linear([x, y, z]: [i64; 3]) -> i16 {
    (3 * x - 5 * y + 7 * z) as i16
}

/// Values of two fields by vertex position, from all ranks; on rank 0.
fn gathered(world: &World, mesh: &Mesh) -> zippy::Result<Option<BTreeMap<[u32; 3], [u32; 2]>>> {
    let [(linear, slopes), (random, noises)] = mesh.fields() else { panic!("two fields") };
    assert_eq!((linear.as_str(), random.as_str()), ("linear", "random"));
    assert!(slopes.len() == mesh.positions().len() && noises.len() == mesh.positions().len());
    let mut words = Vec::new();
    for (place, position) in mesh.positions().iter().enumerate() {
        words.extend(position.map(f32::to_bits));
        words.extend([slopes[place].to_bits(), noises[place].to_bits()]);
        let exact = 3.0 * position[0] - 5.0 * position[1] + 7.0 * position[2];
        assert!((slopes[place] - exact).abs() < 1e-4, "{position:?}: {} and not {exact}", slopes[place]);
    }
    let parts = world.group().gather(0, copied(&words))?;
    let Some(parts) = parts else { return Ok(None) };
    let mut all = BTreeMap::new();
    for part in parts {
        for vertex in values::<u32>(&part)?.as_chunks::<5>().0 {
            let other = all.insert([vertex[0], vertex[1], vertex[2]], [vertex[3], vertex[4]]);
            assert!(other.is_none_or(|other| other == [vertex[3], vertex[4]]), "a ghost has its owner's values");
        }
    }
    Ok(Some(all))
}

/// `apart`: arrays with other cuts than the field of the surface, without ghost cells.
fn surface(config: Config, apart: bool) -> Option<BTreeMap<[u32; 3], [u32; 2]>> {
    let found = run_with(config, |world| {
        let layout = Layout::new([N; 3]).split_all(Split::Auto).ghost([2; 3]);
        let other = if apart {
            Layout::new([N; 3]).split([Split::Whole, Split::Even(3), Split::Whole])
        } else {
            layout.clone()
        };
        let field = noise(N).array(world, &layout, None)?;
        let slope = world.array::<i16, 3>("linear", &other)?;
        slope.fill_with(linear)?;
        let noises = world.array::<f32, 3>("random", &other)?;
        noises.fill_with(|[x, y, z]| random((x + 50 * (y + 50 * z)) as u32))?;
        let extractor = Extractor::new(world, &field, Grid::default())?;
        let attributes: [&dyn Attribute; 2] = [&slope, &noises];
        let mesh = extractor.extract_with(0.5, &attributes)?;
        assert!(mesh.interior_vertices() > 20);
        // Repeated, because the arrays may have changed.
        assert!(extractor.extract_with(0.5, &attributes)? == mesh);
        gathered(world, &mesh)
    });
    found.unwrap().into_iter().find_map(|found| found)
}

#[test]
fn the_same_values_for_every_cut() {
    let alone = surface(Config::apart(1), false).unwrap();
    assert!(alone.len() > 1000);
    for ranks in launcher::counts(&[1, 2, 5]) {
        for apart in [false, true] {
            let found = surface(Config::threads(ranks), apart);
            assert!(found.is_none_or(|found| found == alone), "{ranks} ranks, apart {apart}");
        }
    }
}

/// The isovalue, except for rounding and vertices inside cells.
#[test]
fn values_of_the_surface_field_equal_the_isovalue() {
    run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let field = Field::new([N; 3], linear).array(world, &Layout::new([N; 3]).split_all(Split::Auto), None)?;
        let mesh = Extractor::new(world, &field, Grid::default())?.extract_with(11.5, &[&field])?;
        assert!(mesh.vertices() > 50);
        assert!(mesh.fields()[0].1.iter().all(|value| (value - 11.5).abs() < 1e-4));
        Ok(())
    })
    .unwrap();
}

#[test]
fn other_shapes_are_refused_on_every_rank() {
    let results = run_with(Config::threads(launcher::counts(&[3])[0]), |world| {
        let field = noise(N).array(world, &Layout::new([N; 3]).split_all(Split::Auto), None)?;
        let other = world.array::<u8, 3>("other", &Layout::new([N, N, N + 1]).split_all(Split::Auto))?;
        let extractor = Extractor::new(world, &field, Grid::default())?;
        let error = extractor.extract_with(0.5, &[&other]).unwrap_err().to_string();
        assert!(extractor.extract(0.5)?.vertices() > 0, "the world goes on");
        Ok(error)
    });
    for error in results.unwrap() {
        assert!(error.contains("\"other\"") && error.contains("the same shape"), "{error}");
    }
}
