//! Planes across the rays, with known samples in front of, between and behind them.

use zippy::{Config, Layout, Split, World, run_with};
use zippy_io::image::Image;
use zippy_render::volume::{
    Camera, Colouring, Crop, Look, Material, Projection, RendererOptions, Shading, VolumeRenderer,
};

use super::{Mesh, even, over};
use crate::support::launcher;

const UNLIT: Shading = Shading { ambient: 1.0, diffuse: 0.0, specular: 0.0, shininess: 1.0 };

/// Camera along axis 2, one pixel per voxel.
fn along_z(size: (u32, u32)) -> Camera {
    Camera {
        position: [8.0, 8.0, -10.0],
        focal_point: [8.0, 8.0, 0.0],
        view_up: [0.0, 1.0, 0.0],
        projection: Projection::Parallel { half_height: f64::from(size.1) / 2.0 },
    }
}

fn assert_close(found: [f32; 4], wanted: [f32; 4], what: &str) {
    let far = (0..4).map(|part| (found[part] - wanted[part]).abs()).fold(0.0, f32::max);
    assert!(far < 2e-5, "{what}: {found:?}, not {wanted:?}");
}

/// Blend of `count` samples of `even`.
fn samples(opacity: f32, count: i32) -> [f32; 4] {
    let alpha = 1.0 - (1.0 - opacity).powi(count);
    [alpha, 0.0, 0.0, alpha]
}

#[test]
fn planes_by_driver_hide_what_lies_behind_them() {
    let size = (17, 17);
    let program = |world: &World| {
        let volume = world.array::<f32, 3>("volume", &Layout::new([17, 17, 33]))?;
        volume.fill(0.5)?;
        let options = RendererOptions { brick: Some(8), ..RendererOptions::default() };
        let renderer = VolumeRenderer::new(world, &volume, [1.0; 3], options)?;
        // Samples lie at z = 0.25, 0.75, and so on: 20 in front of z = 10.1, and 12 more in front
        // of z = 16, a border of bricks.
        let mine = |mesh: Mesh| mesh.of(world.rank(), world.size());
        let near = renderer.surface("near", &mine(Mesh::plane(10.1, [4.0, 16.0], [0.0, 16.0])).triangles())?;
        let far = renderer.surface("far", &mine(Mesh::plane(16.0, [0.0, 16.0], [0.0, 16.0])).triangles())?;
        let wall = renderer.surface("wall", &mine(Mesh::plane(20.2, [0.0, 8.0], [0.0, 16.0])).triangles())?;
        let material =
            |colour: [f64; 3], opacity| Material { colour: Colouring::Plain(colour), opacity, shading: UNLIT };
        let (glass, mist) = (material([0.0, 1.0, 0.0], 0.5), material([0.0, 0.0, 1.0], 0.25));
        let plain = material([1.0, 1.0, 0.0], 1.0);
        let look = Look { step: 0.5, size, termination: 0.0, ..Look::new(along_z(size), even(0.1)) };
        let with = |surfaces: &[_]| Ok::<_, zippy::Error>(renderer.render_with(&look, surfaces)?.image);
        Ok([
            with(&[])?,
            with(&[(&near, &glass), (&far, &mist), (&wall, &plain)])?,
            with(&[(&near, &plain), (&far, &plain), (&wall, &glass)])?,
            with(&[(&near, &material([0.0; 3], 0.0))])?,
        ])
    };
    for ranks in launcher::counts(&[1, 3]) {
        for [none, three, opaque, unseen] in run_with(Config::threads(ranks), program).unwrap() {
            let (Some(none), Some(three), Some(opaque), Some(unseen)) = (none, three, opaque, unseen) else { continue };
            let alpha = 1.0 - 0.9_f32.powf(0.5);
            let row = 8 * 17;
            let (glass, mist) = ([0.0, 0.5, 0.0, 0.5], [0.0, 0.0, 0.25, 0.25]);
            // Large x is at the left of the image: the camera looks along z with y up.
            let column = |x: usize| row + 16 - x;
            assert_close(none.pixels[column(2)], samples(alpha, 64), "without surfaces");
            let behind = |count| samples(alpha, count);
            let wall = [1.0, 1.0, 0.0, 1.0];
            let mist_and = |rest| over(mist, rest);
            let to_wall = over(behind(32), mist_and(over(behind(8), wall)));
            assert_close(three.pixels[column(2)], to_wall, "mist and wall");
            let all = over(behind(20), over(glass, over(behind(12), mist_and(over(behind(8), wall)))));
            assert_close(three.pixels[column(6)], all, "glass, mist and wall");
            let open = over(behind(20), over(glass, over(behind(12), mist_and(behind(32)))));
            assert_close(three.pixels[column(12)], open, "glass and mist");
            assert_close(opaque.pixels[column(6)], over(behind(20), wall), "opaque in front");
            assert_close(opaque.pixels[column(2)], over(behind(32), wall), "opaque on a border of bricks");
            assert!(unseen == none, "what is wholly transparent is not there");
        }
    }
}

/// Planes across the rays in an invisible volume, with equal opacity: red planes in front of green
/// planes.
fn stack(world: &World, layout: &Layout, look: &Look, heights: &[f32], opacity: f64) -> zippy::Result<Option<Image>> {
    let volume = world.array::<f32, 3>("volume", layout)?;
    let options = RendererOptions { brick: Some(8), ..RendererOptions::default() };
    let renderer = VolumeRenderer::new(world, &volume, [1.0; 3], options)?;
    let mut stacks = [Mesh::default(), Mesh::default()];
    for (number, &z) in heights.iter().enumerate() {
        let mesh = &mut stacks[usize::from(z > 16.0)];
        if number % world.size() == world.rank() {
            let (plane, first) = (Mesh::plane(z, [0.0, 16.0], [0.0, 16.0]), mesh.positions.len() as u32);
            mesh.positions.extend(plane.positions);
            mesh.triangles.extend(plane.triangles.iter().map(|corners| corners.map(|corner| first + corner)));
        }
    }
    let [red, green] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|colour| Material {
        colour: Colouring::Plain(colour),
        opacity,
        shading: UNLIT,
    });
    let front = renderer.surface("front", &stacks[0].triangles())?;
    let back = renderer.surface("back", &stacks[1].triangles())?;
    Ok(renderer.render_with(look, &[(&front, &red), (&back, &green)])?.image)
}

/// Middle pixel of red planes in front of green planes.
fn behind_planes(opacity: f32, [red, green]: [usize; 2]) -> [f32; 4] {
    let hidden = |count: usize| 1.0 - (1.0 - opacity).powi(count as i32);
    [hidden(red), (1.0 - hidden(red)) * hidden(green), 0.0, hidden(red + green)]
}

/// Rays of several passes, jitter, and planes at borders of bricks, of the crop box and of the
/// volume.
#[test]
fn no_plane_by_driver_is_lost() {
    let size = (16, 16);
    let plain = Look { size, termination: 0.0, ..Look::new(along_z(size), even(0.0)) };
    let crop = Some(Crop { low: [0.0, 0.0, 15.9], high: [16.0, 16.0, 32.0] });
    let heights = [0.0, 0.2, 8.0, 15.95, 16.02, 24.3, 31.7, 32.0];
    let looks = [
        (Look { step: 0.5, ..plain.clone() }, [4, 4]),
        (Look { step: 5.0, jitter: true, ..plain.clone() }, [4, 4]),
        (Look { step: 0.0005, ..plain.clone() }, [4, 4]),
        (Look { step: 1.0, jitter: true, crop, ..plain.clone() }, [1, 4]),
    ];
    let cut = Layout::new([17, 17, 33]).split([Split::Whole, Split::Whole, Split::Sizes(vec![16, 17])]);
    for ranks in launcher::counts(&[2]) {
        let layout = if ranks == 2 { cut.clone() } else { Layout::new([17, 17, 33]) };
        for (look, seen) in &looks {
            let program = |world: &World| stack(world, &layout, look, &heights, 0.25);
            for image in run_with(Config::threads(ranks), program).unwrap().into_iter().flatten() {
                for pixel in &image.pixels {
                    assert_close(*pixel, behind_planes(0.25, *seen), &format!("{look:?}"));
                }
            }
        }
    }
}

/// Hundreds of planes in a pixel, given from back to front.
#[test]
fn many_planes_by_driver_are_sorted() {
    let size = (4, 4);
    let look = Look { size, termination: 0.0, ..Look::new(along_z(size), even(0.0)) };
    let heights = |count: usize| (0..count).map(|n| 31.5 - 31.0 * n as f32 / count as f32).collect::<Vec<_>>();
    for ranks in launcher::counts(&[1, 2]) {
        let layout = Layout::new([17, 17, 33]);
        let program = |world: &World| {
            let error = stack(world, &layout, &look, &heights(2 * 2100), 0.01).unwrap_err().to_string();
            assert!(error.contains("overlapping transparent triangles") && error.contains("at most 2048"), "{error}");
            Ok(())
        };
        run_with(Config::threads(ranks), program).unwrap();
        let heights = heights(700);
        let red = heights.iter().filter(|&&z| z <= 16.0).count();
        let program = |world: &World| stack(world, &layout, &look, &heights, 0.004);
        for image in run_with(Config::threads(ranks), program).unwrap().into_iter().flatten() {
            let [found, wanted] = [image.pixels[5], behind_planes(0.004, [red, 700 - red])];
            // 16-bit opacities accumulate rounding errors over hundreds of planes.
            let far = (0..4).map(|part| (found[part] - wanted[part]).abs()).fold(0.0, f32::max);
            assert!(far < 4e-3, "{found:?}, not {wanted:?}");
        }
    }
}
