//! Volumes whose grids have an origin, a spacing and directions: meshes and volumes share a space.

mod warnings;

use std::sync::atomic::{AtomicUsize, Ordering};

use zippy::{Config, Grid, Layout, Split, World, run_with};
use zippy_io::image::Image;
use zippy_render::volume::{
    Camera, ClipPlane, Look, Material, Projection, RendererOptions, Shading, TransferFunction, Twin, VolumeRenderer,
};

use super::surfaces::{Mesh, bits};
use crate::support::launcher;

const SHAPE: [i64; 3] = [27, 22, 31];

/// Rotated and mirrored, rotated, and sheared; all with arbitrary origins and unequal spacings.
fn grids() -> [Grid; 3] {
    let plain = Grid::new([-7.3, 105.5, 31.25], [1.0, 1.25, 0.75]);
    let mirrored = plain.with_directions([[0.6, 0.8, 0.0], [-0.48, 0.36, 0.8], [-0.64, 0.48, -0.6]]);
    let turned = plain.with_directions([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]]);
    let sheared = plain.with_directions([[1.0, 0.0, 0.0], [0.28, 0.96, 0.0], [-0.36, 0.48, 0.8]]);
    [mirrored, turned, sheared]
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|row| a[row] - b[row])
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    (0..3).map(|row| a[row] * b[row]).sum()
}

fn middle(grid: &Grid) -> [f64; 3] {
    grid.position(SHAPE.map(|count| (count - 1) as f64 / 2.0))
}

const RADIUS: f64 = 6.5;

/// Camera with a view of the whole volume, off-centre and not along an axis.
fn camera(grid: &Grid, parallel: bool) -> Camera {
    let focus = middle(grid);
    let projection = if parallel {
        Projection::Parallel { half_height: 16.0 }
    } else {
        Projection::Perspective { vertical_fov_degrees: 35.0 }
    };
    let focal_point = [focus[0] + 1.0, focus[1] - 0.7, focus[2] + 0.4];
    let position = [focus[0] + 21.0, focus[1] - 31.0, focus[2] + 27.0];
    Camera { position, focal_point, view_up: [0.2, 0.1, 1.0], projection }
}

fn transfer(opacity: Vec<[f64; 2]>) -> TransferFunction {
    TransferFunction { opacity, colour: vec![[0.0, 1.0, 1.0, 1.0]], unit_distance: 1.0 }
}

/// Distance of each pixel's ray from a point, computed from the camera's geometry only.
fn distances(camera: &Camera, (width, height): (u32, u32), point: [f64; 3]) -> Vec<f64> {
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let unit = |v: [f64; 3]| v.map(|part| part / dot(v, v).sqrt());
    let forward = unit(minus(camera.focal_point, camera.position));
    let right = unit(cross(forward, camera.view_up));
    let up = cross(right, forward);
    let pixel = |index: u32| {
        let at = |pixel: u32, count: u32| (f64::from(pixel) + 0.5 - f64::from(count) / 2.0) * 2.0 / f64::from(height);
        let (x, y) = (at(index % width, width), -at(index / width, height));
        let (from, towards): ([f64; 3], [f64; 3]) = match camera.projection {
            Projection::Parallel { half_height: half } => {
                (std::array::from_fn(|row| camera.position[row] + half * (x * right[row] + y * up[row])), forward)
            }
            Projection::Perspective { vertical_fov_degrees } => {
                let half = (vertical_fov_degrees.to_radians() / 2.0).tan();
                let part = |row: usize| forward[row] + half * (x * right[row] + y * up[row]);
                (camera.position, unit(std::array::from_fn(part)))
            }
        };
        let by = cross(minus(point, from), towards);
        dot(by, by).sqrt()
    };
    (0..width * height).map(pixel).collect()
}

/// Images of a ball in a volume on a grid, as volume and as mesh, and of both with all
/// grid-dependent features; on rank 0.
fn balls(world: &World, grid: Grid, layout: &Layout, parallel: bool) -> zippy::Result<Vec<Image>> {
    let centre = middle(&grid);
    let volume = world.array::<f32, 3>("volume", layout)?;
    volume.fill_with(|at| {
        let from = minus(grid.position(at.map(|at| at as f64)), centre);
        (RADIUS - dot(from, from).sqrt()) as f32
    })?;
    let options = RendererOptions { brick: Some(8), ..RendererOptions::default() };
    let renderer = VolumeRenderer::new(world, &volume, grid, options)?;
    let mesh = Mesh::ball(centre.map(|part| part as f32), RADIUS as f32, 40).of(world.rank(), world.size());
    let ball = renderer.surface("ball", &mesh.triangles())?;
    let opaque = transfer(vec![[-1e-3, 0.0], [1e-3, 1.0]]);
    let look = Look { size: SIZE, step: 0.05, ..Look::new(camera(&grid, parallel), opaque) };
    let clear = Look { transfer: transfer(vec![[0.0, 0.0]]), ..look.clone() };
    let solid = Material { shading: Shading::default(), ..Material::default() };
    let mut images = Vec::new();
    images.extend(renderer.render(&look)?.image);
    images.extend(renderer.render_with(&clear, &[(&ball, &solid)])?.image);
    let glass = Material { opacity: 0.3, ..solid };
    let plane = ClipPlane { normal: [1.0, 0.25, 0.0], offset: centre[0] + 0.25 * centre[1] - 1.0 };
    let mist = transfer(vec![[-3.0, 0.0], [RADIUS, 0.4]]);
    let all = Look { transfer: mist, step: 0.5, shading: Some(Shading::default()), clip: vec![plane], ..look };
    images.extend(renderer.render_with(&all, &[(&ball, &glass)])?.image);
    Ok(images)
}

const SIZE: (u32, u32) = (61, 53);

#[test]
fn ball_and_its_mesh_by_driver_cover_the_disc_of_the_projection() {
    for (number, grid) in grids().into_iter().enumerate() {
        for parallel in [false, true] {
            let layout = Layout::new(SHAPE);
            let run = |world: &World| balls(world, grid, &layout, parallel);
            let images = run_with(Config::threads(launcher::counts(&[2])[0]), run).unwrap().swap_remove(0);
            if images.is_empty() {
                continue;
            }
            let passing = distances(&camera(&grid, parallel), SIZE, middle(&grid));
            for (image, what) in images.iter().zip(["volume", "mesh"]) {
                let mut counts = [0; 2];
                for (pixel, (colour, distance)) in image.pixels.iter().zip(&passing).enumerate() {
                    let is_inside = *distance < RADIUS;
                    // Neither the interpolated ball nor the mesh is exactly round.
                    if (distance - RADIUS).abs() > 0.12 {
                        let inside = colour[3] > 0.5;
                        assert_eq!(inside, is_inside, "{what}, grid {number}, pixel {pixel}: {colour:?}, {distance}");
                        counts[usize::from(inside)] += 1;
                    }
                }
                assert!(counts[0] > 500 && counts[1] > 300, "{what}, grid {number}: {counts:?}");
            }
        }
    }
}

#[test]
fn pictures_by_driver_on_a_grid_have_the_same_bits_for_every_number_of_ranks() {
    for grid in grids() {
        let plain = Layout::new(SHAPE);
        let alone = run_with(Config::apart(1), |world| balls(world, grid, &plain, false)).unwrap().remove(0);
        assert!(alone.iter().all(|image| image.pixels.iter().filter(|pixel| pixel[3] > 0.05).count() > 300));
        let cut = plain.clone().split([Split::Even(2), Split::Auto, Split::Sizes(vec![4, 19, 8])]);
        for (ranks, layout) in [(3, &cut), (5, &plain)] {
            for ranks in launcher::counts(&[ranks]) {
                for images in run_with(Config::threads(ranks), |world| balls(world, grid, layout, false)).unwrap() {
                    for (number, (found, wanted)) in images.iter().zip(&alone).enumerate() {
                        assert!(bits(found) == bits(wanted), "picture {number}, {ranks} ranks, {grid:?}");
                    }
                }
            }
        }
    }
}

/// Image of a rotated volume and of the volume under the inversely rotated camera; mirrored axes
/// mirror the image.
#[test]
fn turned_volume_looks_like_a_turned_camera() {
    let value = |[x, y, z]: [i32; 3]| ((x * 7 + y * 13 + z * 5 + x * y) % 90) as f32;
    for grid in &grids()[..2] {
        let plain = Grid::from(grid.spacing);
        let back = |position: [f64; 3]| plain.position(grid.index(position));
        let seen = camera(grid, false);
        let up = minus(back(std::array::from_fn(|row| grid.origin[row] + seen.view_up[row])), [0.0; 3]);
        let turned = Camera {
            position: back(seen.position),
            focal_point: back(seen.focal_point),
            view_up: up,
            projection: seen.projection,
        };
        let look = |camera: Camera| Look {
            size: (40, 31),
            shading: Some(Shading::default()),
            ..Look::new(camera, transfer(vec![[0.0, 0.0], [90.0, 0.1]]))
        };
        let picture = |camera: Camera, grid: Grid| {
            let twin = Twin::new(&look(camera), SHAPE, grid, value).unwrap();
            twin.picture(&[([0; 3], SHAPE.map(|count| count as i32 - 1))])
        };
        let (found, mut wanted) = (picture(seen, *grid), picture(turned, plain));
        if grid.is_mirrored() {
            wanted.pixels.chunks_mut(40).for_each(<[_]>::reverse);
        }
        let far = found.difference(&wanted).unwrap().max_abs;
        assert!(far < 1e-3, "{far} on {grid:?}");
        assert!(found.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 200);
    }
}

/// Values along a direction of space are lit by the angle to it, and absorb by the length in space.
#[test]
fn light_and_lengths_are_those_of_space() {
    let light = Shading { ambient: 0.25, diffuse: 0.5, specular: 0.0, shininess: 1.0 };
    let normal = [0.48, 0.64, 0.6];
    for grid in grids() {
        let centre = middle(&grid);
        let value = |at: [i32; 3]| dot(minus(grid.position(at.map(f64::from)), centre), normal) as f32;
        for towards in [[0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [0.8, -0.6, 0.0]] {
            let camera = Camera {
                position: std::array::from_fn(|row| centre[row] - 40.0 * towards[row]),
                focal_point: centre,
                view_up: [0.1, 0.9, 0.2],
                projection: Projection::Parallel { half_height: 1.0 },
            };
            // Two planes across the view leave a slab of length 4 with a density of 0.05.
            let slab = [(1.0, -2.0), (-1.0, -2.0)].map(|(sign, before)| ClipPlane {
                normal: towards.map(|part| sign * part),
                offset: sign * dot(centre, towards) + before,
            });
            let share = 1.0 - (-0.05_f64).exp();
            let mut look = Look::new(camera, transfer(vec![[0.0, share]]));
            look = Look { size: (1, 1), step: 0.125, clip: slab.to_vec(), shading: Some(light), ..look };
            let twin = Twin::new(&look, SHAPE, grid, value).unwrap();
            let [red, _, _, alpha] = twin.picture(&[([0; 3], SHAPE.map(|count| count as i32 - 1))]).pixels[0];
            let wanted = 1.0 - (-0.05 * 4.0_f64).exp();
            assert!((f64::from(alpha) - wanted).abs() < 1e-4, "{alpha}, not {wanted}, on {grid:?}");
            let shade = 0.25 + 0.5 * dot(normal, towards).abs();
            assert!((f64::from(red / alpha) - shade).abs() < 1e-4, "{red} of {alpha}, {shade}, on {grid:?}");
        }
    }
}

/// Includes light (gradients in space) and planes, with samples and with segments.
#[test]
fn device_draws_what_the_twin_draws_on_every_grid() {
    let value = |[x, y, z]: [i64; 3]| (60 + 5 * ((3 * x + 2 * y) % 9) + 2 * z - (x - 13).abs()) as f32;
    for (grid, preintegrated) in grids().into_iter().zip([false, true, true]) {
        let plane = ClipPlane { normal: [0.3, 1.0, 0.2], offset: dot(middle(&grid), [0.3, 1.0, 0.2]) - 4.0 };
        let look = Look {
            size: (43, 31),
            step: 0.5,
            shading: Some(Shading::default()),
            preintegrated,
            clip: vec![plane],
            ..Look::new(camera(&grid, preintegrated), transfer(vec![[40.0, 0.0], [160.0, 0.3]]))
        };
        let program = |world: &World| {
            let volume = world.array::<f32, 3>("volume", &Layout::new(SHAPE).split_all(Split::Auto))?;
            volume.fill_with(value)?;
            let options = RendererOptions { brick: Some(8), ..RendererOptions::default() };
            Ok(VolumeRenderer::new(world, &volume, grid, options)?.render(&look)?.image)
        };
        let ranks = launcher::counts(&[3])[0];
        let found = run_with(Config::threads(ranks), program).unwrap().swap_remove(0);
        let Some(found) = found else { continue };
        let twin = Twin::new(&look, SHAPE, grid, |at| value(at.map(i64::from))).unwrap();
        let wanted = twin.picture(&[([0; 3], SHAPE.map(|count| count as i32 - 1))]);
        let far = found.difference(&wanted).unwrap().max_abs;
        assert!(far < 2e-4, "{far} on {grid:?}");
        assert!(found.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 200);
    }
}

#[test]
fn grids_without_a_position_for_each_voxel_are_refused() {
    crate::support::ranks(&[1, 3], |world| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        let flat = Grid::default().with_directions([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 0.8, 0.0]]);
        let long = Grid::default().with_directions([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        let lost = Grid::new([0.0, f64::INFINITY, 0.0], [1.0; 3]);
        for (grid, wanted) in [(flat, "lie in a plane"), (long, "has length 2"), (lost, "not finite")] {
            let refused = VolumeRenderer::new(world, &volume, grid, RendererOptions::default()).err().unwrap();
            assert!(refused.to_string().contains(wanted), "{refused}");
        }
        Ok(())
    });
}

#[test]
fn grid_that_differs_on_one_rank_is_refused_by_all() {
    for other in [grids()[1], Grid::new([f64::NAN, 0.0, 0.0], [1.0; 3]), Grid::from([1.0, -1.0, 1.0])] {
        for ranks in launcher::counts(&[3, 5]) {
            let refused = AtomicUsize::new(0);
            let make = |world: &World| {
                let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
                let grid = if world.rank() == 1 { other } else { grids()[0] };
                VolumeRenderer::new(world, &volume, grid, RendererOptions::default()).map(drop)
            };
            // A late rank may detect the failure when it creates the volume.
            let program = |world: &World| {
                let made = make(world);
                refused.fetch_add(usize::from(made.is_err()), Ordering::Relaxed);
                made
            };
            let error = run_with(Config::threads(ranks), program).unwrap_err().to_string();
            assert!(error.contains("rank 1 called VolumeRenderer::new(\"volume\" on Grid"), "{error}");
            // A process of the launcher counts its own rank only.
            let own = launcher::size().map_or(ranks, |_| 1);
            assert_eq!(refused.into_inner(), own, "{other:?}");
        }
    }
}

/// A scan with a gantry tilt of 20 degrees: cells are thinner than the distance of their slices.
#[test]
fn segments_on_a_sheared_grid_are_as_long_as_cells_are_thick() {
    let (sine, cosine) = 20.0_f64.to_radians().sin_cos();
    let tilted = Grid::from([1.0; 3]).with_directions([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, sine, cosine]]);
    let look = |grid: &Grid, step: f64| Look {
        size: (67, 59),
        step,
        preintegrated: true,
        ..Look::new(camera(grid, false), transfer(vec![[0.0, 0.0], [90.0, 0.3]]))
    };
    let refused = |grid: &Grid, step: f64| Twin::new(&look(grid, step), SHAPE, *grid, |_| 0.0).err();
    let message = refused(&tilted, 2.0).unwrap().to_string();
    assert!(message.contains("two voxels along each axis of the array, 1.87938524"), "{message}");
    for (grid, most) in [(&tilted, 2.0 * cosine), (&grids()[0], 1.5), (&grids()[1], 1.5)] {
        assert!(refused(grid, most).is_none() && refused(grid, 1.001 * most).is_some(), "{grid:?}");
    }
    // Rays along axis 2 of space cross the thin side of cells.
    let focus = middle(&tilted);
    let along_thin_side = Camera {
        position: [focus[0] + 2.0, focus[1] - 3.0, focus[2] - 60.0],
        focal_point: focus,
        ..camera(&tilted, false)
    };
    let along_thin_side = Camera { view_up: [0.1, 1.0, 0.0], ..along_thin_side };
    let look = Look { camera: along_thin_side, ..look(&tilted, 1.999 * cosine) };
    let picture = |brick: i64| {
        let look = &look;
        move |world: &World| {
            let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE).split_all(Split::Auto))?;
            volume.fill_with(|[x, y, z]| ((x * 37 + y * 53 + z * 29 + x * y * z) % 91) as u8)?;
            let options = RendererOptions { brick: Some(brick), ..RendererOptions::default() };
            Ok(VolumeRenderer::new(world, &volume, tilted, options)?.render(look)?.image)
        }
    };
    let [alone, whole] = [8, 32].map(|brick| run_with(Config::apart(1), picture(brick)).unwrap().remove(0).unwrap());
    assert!(alone.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 200);
    let difference = alone.difference(&whole).unwrap().max_abs;
    assert!(difference < 1e-5, "a difference of {difference} between bricks of 8 and of 32 cells");
    for ranks in launcher::counts(&[3, 5]) {
        let found = run_with(Config::threads(ranks), picture(8)).unwrap();
        assert!(found.iter().flatten().all(|found| bits(found) == bits(&alone)), "{ranks} ranks");
    }
}
