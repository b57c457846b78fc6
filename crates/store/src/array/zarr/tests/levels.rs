//! Levels of detail.

use serde_json::json;

use super::*;

#[test]
fn levels_have_every_second_cell() {
    let directory = tempfile::tempdir().unwrap();
    let axis = |name: &str| Axis { name: Some(name.into()), unit: Some("mm".into()), spacing: 0.5, origin: 3.0 };
    let metadata = Metadata { axes: vec![axis("x"), axis("y"), axis("z")], ..Metadata::default() };
    let shape = [11, 6, 9];
    let cut = [Split::Sizes(vec![1, 0, 10]), Split::Even(2), Split::Sizes(vec![3, 1, 5])];
    for (ranks, chunk) in [(1, None), (2, Some(vec![4, 4, 4])), (3, Some(vec![3, 2, 1])), (5, None)] {
        let path = directory.path().join(format!("{ranks}.zarr"));
        let options = ZarrOptions { chunk, levels: 4, ..ZarrOptions::default() };
        run_with(Config::threads(ranks), |world| {
            let array = world.array::<f32, 3>("array", &Layout::new(shape).split(cut.clone()))?;
            array.fill_with(|at| number(&at) as f32)?;
            save(world, &path, &array.at([1..11, 0..6, 2..9]), &metadata, &options)?;
            let of_level = |level: i64| {
                let every = 1 << level;
                let value = move |at: [i64; 3]| number(&[1 + every * at[0], every * at[1], 2 + every * at[2]]) as f32;
                (value, [10, 6, 7].map(|cells: i64| (cells + every - 1) / every))
            };
            let (value, shape) = of_level(0);
            assert_loaded_cells(world, &path, None, shape, &value)?;
            for level in 1..=4 {
                let (value, shape) = of_level(level);
                let found = assert_loaded_cells(world, &path, Some(&format!("levels/{level}/array")), shape, &value)?;
                assert_eq!((found.axes[1].spacing, found.axes[1].origin), (0.5 * (1 << level) as f64, 3.0));
            }
            Ok(())
        })
        .unwrap();
        let text: serde_json::Value = serde_json::from_slice(&files(&path)["zarr.json"]).unwrap();
        let ome = &text["attributes"]["ome"];
        assert_eq!(ome["version"], "0.5");
        let multiscale = &ome["multiscales"][0];
        assert_eq!(multiscale["axes"][0], json!({"name": "z", "type": "space", "unit": "millimeter"}));
        let dataset = json!({"path": "levels/2/array", "coordinateTransformations": [
            {"type": "scale", "scale": [2.0, 2.0, 2.0]}, {"type": "translation", "translation": [3.0, 3.0, 3.0]},
        ]});
        assert_eq!(multiscale["datasets"].as_array().unwrap().len(), 5);
        assert_eq!(multiscale["datasets"][2], dataset);
    }
}

#[test]
fn levels_of_records_and_vectors_survive() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("records.zarr");
    let value = |[i]: [i64; 1]| Pair { velocity: [i as f32, -1.0], id: i as u32, spare: 9 };
    let options = ZarrOptions { levels: 2, chunk: Some(vec![4]), ..ZarrOptions::default() };
    run_with(Config::threads(2), |world| {
        let array = world.array::<Pair, 1>("pairs", &whole([21]))?;
        array.fill_with(value)?;
        save(world, &path, &array.at(..), &Metadata::default(), &options)?;
        assert_loaded_cells(world, &path, None, [21], &value)?;
        assert_loaded_cells(world, &path, Some("levels/2/pairs"), [6], &|[i]| value([4 * i]))?;
        Ok(())
    })
    .unwrap();
    let text: serde_json::Value = serde_json::from_slice(&files(&path)["zarr.json"]).unwrap();
    assert_eq!(text["attributes"], json!({}));
}
