//! Warnings of surfaces that miss their volume, or whose positions are coarse for its voxels.

use zippy::{Config, Grid, Layout, World, run_with};
use zippy_render::volume::{RendererOptions, VolumeRenderer};

use super::super::surfaces::Mesh;
use super::super::surfaces::on_device::DeviceMesh;
use super::{SHAPE, grids, middle};
use crate::support::jobs::{self, Carrier};

/// Program with surfaces inside of the volume, half outside and outside, from the host and from the
/// device.
fn draw_surfaces_that_miss() -> zippy::Result<()> {
    let grid = grids()[0];
    let program = |world: &World| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        let renderer = VolumeRenderer::new(world, &volume, grid, RendererOptions::default())?;
        let at = |index: [f64; 3]| Mesh::ball(grid.position(index).map(|part| part as f32), 4.0, 6);
        let [inside, half, outside] = [[13.0, 10.0, 15.0], [0.0, 10.0, 15.0], [-9.0, 10.0, 15.0]].map(at);
        for on_device in [false, true] {
            for mesh in [&inside, &half, &outside, &outside] {
                let mine = mesh.of(world.rank(), world.size());
                let arrays = DeviceMesh::of(world, "mesh", &mine);
                if on_device {
                    drop(renderer.surface_on_device("miss", &arrays.triangles())?)
                } else {
                    drop(renderer.surface("miss", &mine.triangles())?)
                }
            }
        }
        Ok(())
    };
    run_with(Config::new(), program).map(drop)
}

#[test]
fn surface_that_misses_the_volume_is_a_warning_with_both_boxes() {
    let test = jobs::test(module_path!(), "surface_that_misses_the_volume_is_a_warning_with_both_boxes");
    if jobs::play(&test, draw_surfaces_that_miss) {
        return;
    }
    for ranks in [1, 3] {
        let ended = jobs::start(Carrier::Threads, ranks, &test, &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.text);
        let warnings = ended.lines("lie outside of the volume");
        // One per call site: surfaces from the host and from the device.
        assert_eq!(warnings.len(), 2, "{}", ended.text);
        let [low, high] = grids()[0].bounds(SHAPE);
        let (low, high) = (format!("from {low:?}"), format!("to {high:?}"));
        for warning in warnings {
            assert!(
                warning.contains("144 of 144 triangles of \"miss\"") && warning.contains("warnings.rs"),
                "{warning}"
            );
            assert!(warning.contains(&low) && warning.contains(&high), "{warning}");
        }
    }
}

/// Program with surfaces on a grid where neighbouring `f32` numbers are 0.5 apart, from the host
/// and from the device.
fn draw_surfaces_far_away() -> zippy::Result<()> {
    let program = |world: &World| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        for (origin, name) in [([400.3, 0.0, 0.0], "near"), ([400.3, 4_600_000.3, 0.0], "far")] {
            let grid = Grid { origin, ..grids()[0] };
            let options = RendererOptions { name: Some(name.into()), ..RendererOptions::default() };
            let renderer = VolumeRenderer::new(world, &volume, grid, options)?;
            let mesh = Mesh::ball(middle(&grid).map(|part| part as f32), 4.0, 6).of(world.rank(), world.size());
            for _ in 0..2 {
                renderer.surface(name, &mesh.triangles())?;
                renderer.surface_on_device(name, &DeviceMesh::of(world, "mesh", &mesh).triangles())?;
            }
        }
        Ok(())
    };
    run_with(Config::new(), program).map(drop)
}

#[test]
fn surface_far_from_origin_causes_one_warning_per_call_site() {
    let test = jobs::test(module_path!(), "surface_far_from_origin_causes_one_warning_per_call_site");
    if jobs::play(&test, draw_surfaces_far_away) {
        return;
    }
    for ranks in [1, 3] {
        let ended = jobs::start(Carrier::Threads, ranks, &test, &[]);
        assert_eq!(ended.code, Some(0), "{}", ended.text);
        let warnings = ended.lines("numbers of 32 bits");
        assert_eq!(warnings.len(), 2, "{}", ended.text);
        assert!(warnings.iter().all(|warning| warning.contains("\"far\" are numbers of 32 bits, 0.5 apart")));
        assert!(warnings.iter().all(|warning| warning.contains("[1.0, 1.25, 0.75] apart")), "{}", ended.text);
    }
}
