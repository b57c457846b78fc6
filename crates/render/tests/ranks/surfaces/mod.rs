//! Surfaces in volumes: against expected pixels, and the same bits for every number of ranks and
//! every cut.

use zippy::{ArrayOptions, Config, Layout, Ownership, Split, World, run_with};
use zippy_io::image::Image;
use zippy_render::compositing::Algorithm;
use zippy_render::volume::{
    Camera, ClipPlane, Colouring, Crop, Look, Material, Mode, Phantom, PixelFormat, Projection, RendererOptions,
    Shading, TransferFunction, Triangles, VolumeRenderer,
};

pub(crate) mod on_device;
mod planes;

use crate::support::jobs::{self, Carrier};
use crate::support::{self, launcher};

const SHAPE: [i64; 3] = [25, 21, 29];
const SPACING: [f64; 3] = [1.0, 1.25, 0.75];

/// Mesh whose triangles are distributed round-robin over ranks.
#[derive(Default, Clone)]
pub(crate) struct Mesh {
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    values: Vec<f32>,
    triangles: Vec<[u32; 3]>,
}

impl Mesh {
    pub(crate) fn of(&self, rank: usize, ranks: usize) -> Self {
        let triangles = self.triangles.iter().skip(rank).step_by(ranks).copied().collect();
        Self { triangles, ..self.clone() }
    }

    pub(crate) fn triangles(&self) -> Triangles<'_> {
        let Self { positions, normals, values, triangles } = self;
        Triangles { positions, normals, values, triangles }
    }

    fn plane(z: f32, [left, right]: [f32; 2], [bottom, top]: [f32; 2]) -> Self {
        let positions = vec![[left, bottom, z], [right, bottom, z], [right, top, z], [left, top, z]];
        Self { positions, triangles: vec![[0, 1, 2], [0, 2, 3]], ..Self::default() }
    }

    /// Ball of `2 n * n` quadrilaterals, with the height as value.
    pub(crate) fn ball(middle: [f32; 3], radius: f32, n: u32) -> Self {
        let mut mesh = Self::default();
        for i in 0..=n {
            for j in 0..2 * n {
                let [lat, long] = [i, j].map(|k| k as f32 * std::f32::consts::PI / n as f32);
                let normal = [lat.sin() * long.cos(), lat.sin() * long.sin(), lat.cos()];
                mesh.positions.push(std::array::from_fn(|axis| middle[axis] + radius * normal[axis]));
                mesh.normals.push(normal);
                mesh.values.push(normal[2]);
            }
        }
        for i in 0..n {
            for j in 0..2 * n {
                let [a, b] = [j, (j + 1) % (2 * n)].map(|j| i * 2 * n + j);
                mesh.triangles.extend([[a, b, b + 2 * n], [a, b + 2 * n, a + 2 * n]]);
            }
        }
        mesh
    }
}

/// Volume of constant value 1/2, in which each sample hides the same share.
fn even(opacity: f64) -> TransferFunction {
    TransferFunction { opacity: vec![[0.0, opacity]], colour: vec![[0.0, 1.0, 0.0, 0.0]], unit_distance: 1.0 }
}

fn over(front: [f32; 4], back: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|part| front[part] + (1.0 - front[3]) * back[part])
}

/// Intersections of a ray and a mesh, front first: distance in steps, cosine with the normal,
/// value.
fn intersect(mesh: &Mesh, origin: [f64; 3], delta: [f64; 3]) -> Vec<(f64, f64, f64)> {
    let sub = |a: [f64; 3], b: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| a[i] - b[i]) };
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let mut found = Vec::new();
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|corner| mesh.positions[corner as usize].map(f64::from));
        let (u, v) = (sub(b, a), sub(c, a));
        let p = cross(delta, v);
        let det = dot(u, p);
        if det.abs() < 1e-12 {
            continue;
        }
        let from = sub(origin, a);
        let q = cross(from, u);
        let (s, t) = (dot(from, p) / det, dot(delta, q) / det);
        if s < 0.0 || t < 0.0 || s + t > 1.0 {
            continue;
        }
        let weights = [1.0 - s - t, s, t];
        let mixed = |value: &dyn Fn(usize) -> f64| (0..3).map(|i| weights[i] * value(corners[i] as usize)).sum::<f64>();
        let normal: [f64; 3] = std::array::from_fn(|axis| mixed(&|vertex| f64::from(mesh.normals[vertex][axis])));
        let cosine = dot(normal, delta).abs() / (dot(normal, normal) * dot(delta, delta)).sqrt();
        found.push((dot(v, q) / det, cosine, mixed(&|vertex| f64::from(mesh.values[vertex]))));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

/// Two balls, one within the other.
#[test]
fn balls_by_driver_equal_ray_intersections() {
    let (outer, inner) = (Mesh::ball([12.0, 12.5, 10.0], 8.5, 24), Mesh::ball([13.0, 12.0, 11.0], 4.0, 16));
    let size = (61, 47);
    for parallel in [false, true] {
        let mut camera = Camera::overview(SHAPE, SPACING);
        if parallel {
            camera.projection = Projection::Parallel { half_height: 14.0 };
        }
        let look = Look { size, ..Look::new(camera.clone(), even(0.0)) };
        let scale = Colouring::Scale(vec![[-1.0, 0.0, 0.2, 1.0], [0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 0.1, 0.0]]);
        let shell = Material { colour: scale, opacity: 0.4, shading: Shading { specular: 0.0, ..Shading::default() } };
        let core = Material { colour: Colouring::Plain([0.2, 0.9, 0.3]), opacity: 1.0, ..shell.clone() };
        let program = |world: &World| {
            let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
            let renderer = VolumeRenderer::new(world, &volume, SPACING, RendererOptions::default())?;
            let mine = |mesh: &Mesh| mesh.of(world.rank(), world.size());
            let shells = renderer.surface("shell", &mine(&outer).triangles())?;
            let cores = renderer.surface("core", &mine(&inner).triangles())?;
            assert_eq!(shells.triangles(), 2 * 2 * 24 * 24);
            Ok(renderer.render_with(&look, &[(&shells, &shell), (&cores, &core)])?.image)
        };
        let ranks = launcher::counts(&[2])[0];
        let found: Vec<Image> = run_with(Config::threads(ranks), program).unwrap().into_iter().flatten().collect();
        let Some(found) = found.first() else { continue };
        // The view's own rays, in voxel coordinates, from the entry on.
        let twin = zippy_render::volume::Twin::new(&look, SHAPE, SPACING, |_| 0.0).unwrap();
        let (mut compared, mut seen) = (0, 0);
        for (pixel, colour) in found.pixels.iter().enumerate() {
            let ray = twin.view.ray(pixel as u32 % size.0, pixel as u32 / size.0);
            let scaled = |v: [f32; 3]| std::array::from_fn(|axis| f64::from(v[axis]) * SPACING[axis]);
            let (origin, delta) = (scaled(ray.entry), scaled(ray.delta));
            if ray.samples == 0 {
                continue;
            }
            let mut all: Vec<_> = intersect(&outer, origin, delta).into_iter().map(|hit| (hit, &shell)).collect();
            all.extend(intersect(&inner, origin, delta).into_iter().map(|hit| (hit, &core)));
            all.sort_by(|a, b| a.0.0.total_cmp(&b.0.0));
            // Rounding may make grazing rays miss.
            if all.len() % 2 == 1 || all.iter().any(|((_, cosine, _), _)| *cosine < 0.2) {
                continue;
            }
            let mut wanted = [0.0; 4];
            for ((_, cosine, value), material) in all {
                let shown = (material.shading.ambient + material.shading.diffuse * cosine) as f32;
                let plain = match &material.colour {
                    Colouring::Plain(colour) => colour.map(|part| part as f32),
                    Colouring::Scale(points) => {
                        let part = |from: usize, share: f64, c: usize| {
                            (points[from][c] + share * (points[from + 1][c] - points[from][c])) as f32
                        };
                        let from = usize::from(value >= 0.0);
                        [1, 2, 3].map(|c| part(from, value - points[from][0], c))
                    }
                };
                let alpha = material.opacity as f32;
                let lit = plain.map(|part| part * alpha * shown);
                wanted = over(wanted, [lit[0], lit[1], lit[2], alpha]);
                seen += 1;
            }
            compared += 1;
            let far = (0..4).map(|part| (colour[part] - wanted[part]).abs()).fold(0.0, f32::max);
            // Rasterisers move vertices by at most a sixteenth of a pixel.
            assert!(far < 5e-3, "pixel {pixel}: {colour:?}, not {wanted:?}");
        }
        assert!(compared > 1200 && seen > 700, "{compared} pixels, {seen} fragments");
    }
}

/// Bands of a few rows, as in images that exceed a binding.
#[test]
fn in_bands_by_driver() {
    let test = jobs::test(module_path!(), "in_bands_by_driver");
    let body = || {
        balls_by_driver_equal_ray_intersections();
        Ok(())
    };
    if !jobs::play(&test, body) {
        jobs::must_pass(Carrier::Threads, &[1], &test, &[("ZIPPY_BINDING_LIMIT", "8192")]);
    }
}

pub(crate) fn bits(image: &Image) -> Vec<[u32; 4]> {
    image.pixels.iter().map(|pixel| pixel.map(f32::to_bits)).collect()
}

/// Balls and a plane in a phantom, with all features of a look.
fn scene(
    world: &World,
    layout: &Layout,
    owners: Option<Ownership>,
    options: RendererOptions,
) -> zippy::Result<Vec<Image>> {
    let volume = match owners {
        Some(owners) => world.array::<u8, 3>("volume", ArrayOptions::new(layout).owned_by(owners))?,
        None => world.array::<u8, 3>("volume", layout)?,
    };
    volume.fill_with(|at| (Phantom { shape: SHAPE }.value(at) / 17) as u8)?;
    let renderer = VolumeRenderer::new(world, &volume, SPACING, options)?;
    let mine = |mesh: Mesh| mesh.of(world.rank(), world.size());
    let mut shell = renderer.surface("shell", &mine(Mesh::ball([12.0, 12.5, 10.0], 9.0, 12)).triangles())?;
    let core = renderer.surface("core", &mine(Mesh::ball([13.0, 10.0, 12.0], 5.0, 9)).triangles())?;
    let plane = renderer.surface("plane", &mine(Mesh::plane(6.0, [-3.0, 30.0], [2.0, 22.0])).triangles())?;
    let transfer = TransferFunction {
        opacity: vec![[0.0, 0.0], [12.0, 0.0], [40.0, 0.1], [70.0, 0.6]],
        colour: vec![[0.0, 0.1, 0.3, 0.9], [60.0, 0.9, 0.5, 0.1], [130.0, 1.0, 1.0, 0.8]],
        unit_distance: 1.0,
    };
    let look = Look { step: 0.5, size: (47, 39), ..Look::new(Camera::overview(SHAPE, SPACING), transfer) };
    let lit = Look {
        shading: Some(Shading::default()),
        clip: vec![ClipPlane { normal: [1.0, 0.5, 0.0], offset: 6.0 }],
        crop: Some(Crop { low: [0.0, 0.0, 3.0], high: [20.0, 22.0, 20.0] }),
        jitter: true,
        preintegrated: true,
        ..look.clone()
    };
    let scale = Colouring::Scale(vec![[-1.0, 0.0, 0.2, 1.0], [1.0, 1.0, 0.1, 0.0]]);
    let glass = Material { colour: scale, opacity: 0.4, ..Material::default() };
    let solid = Material::default();
    let mist = Material { opacity: 0.2, ..Material::default() };
    let mut images = Vec::new();
    let all = |look: &Look, materials: [&Material; 3], shell: &_| {
        renderer.render_with(look, &[(shell, materials[0]), (&core, materials[1]), (&plane, materials[2])])
    };
    images.extend(all(&look, [&glass, &solid, &mist], &shell)?.image);
    images.extend(all(&lit, [&mist, &solid, &glass], &shell)?.image);
    images.extend(all(&look, [&mist, &glass, &mist], &shell)?.image);
    renderer.set_surface(&mut shell, &mine(Mesh::ball([12.0, 12.5, 10.0], 7.0, 5)).triangles())?;
    images.extend(all(&look, [&glass, &solid, &solid], &shell)?.image);
    images.extend(renderer.render(&look)?.image);
    Ok(images)
}

#[test]
fn surfaces_by_driver_have_the_same_bits_for_every_cut() {
    let options = || RendererOptions { brick: Some(8), ..RendererOptions::default() };
    let plain = Layout::new(SHAPE);
    let alone = run_with(Config::apart(1), |world| scene(world, &plain, None, options())).unwrap().remove(0);
    assert!(alone.iter().all(|image| image.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 300));
    let uneven = [Split::Sizes(vec![3, 21, 1]), Split::Even(1), Split::Sizes(vec![0, 20, 9])];
    let cuts = [
        (5, plain.clone(), None),
        (3, plain.clone().split(uneven), None),
        (4, plain.clone().split([Split::Even(3), Split::Even(2), Split::Even(3)]), Some(18)),
    ];
    for (ranks, layout, chunks) in cuts {
        for ranks in launcher::counts(&[ranks]) {
            let owners = chunks
                .map(|count| Ownership::table((0..count).map(|i| (i * 7 + i / 3) % ranks).collect(), ranks).unwrap());
            let program = |world: &World| scene(world, &layout, owners.clone(), options());
            for images in run_with(Config::threads(ranks), program).unwrap() {
                for (number, (found, wanted)) in images.iter().zip(&alone).enumerate() {
                    assert!(bits(found) == bits(wanted), "picture {number}, {ranks} ranks, {layout:?}");
                }
            }
        }
    }
}

#[test]
fn other_modes_and_pixels_by_driver_come_close() {
    let plain = Layout::new(SHAPE);
    let options = || RendererOptions { brick: Some(8), ..RendererOptions::default() };
    let alone = run_with(Config::apart(1), |world| scene(world, &plain, None, options())).unwrap().remove(0);
    let fast = RendererOptions { mode: Mode::Fast, ..options() };
    let swap = RendererOptions { algorithm: Algorithm::BinarySwap, ..options() };
    let rgba8 = RendererOptions { pixel: PixelFormat::Rgba8, ..options() };
    for (options, most) in [(fast, 1e-5), (swap, 1e-5), (rgba8, 0.05)] {
        for ranks in launcher::counts(&[3]) {
            let program = |world: &World| scene(world, &plain, None, options.clone());
            for images in run_with(Config::threads(ranks), program).unwrap() {
                for (found, wanted) in images.iter().zip(&alone) {
                    let far = found.difference(wanted).unwrap().max_abs;
                    assert!(far <= most, "{far} with {options:?}");
                }
            }
        }
    }
}

#[test]
fn errors_are_returned_on_all_ranks() {
    support::ranks(&[1, 3], |world| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        let renderer = VolumeRenderer::new(world, &volume, SPACING, RendererOptions::default())?;
        let good = Mesh::ball([12.0, 12.5, 10.0], 8.5, 4);
        let mut surface = renderer.surface("good", &good.triangles())?;
        let mut short = good.clone();
        short.values.pop();
        let mut loose = good.clone();
        loose.triangles[5][1] = 40;
        let mut far = good.clone();
        far.positions[7][2] = f32::NAN;
        for (mesh, wanted) in [(short, "39 values for 40"), (loose, "triangle 5"), (far, "vertex 7 is at")] {
            let mesh = if world.rank() == world.size() - 1 { mesh } else { good.clone() };
            let error = renderer.set_surface(&mut surface, &mesh.triangles()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        let look = Look { size: (9, 9), ..Look::new(Camera::overview(SHAPE, SPACING), even(0.0)) };
        let opacity = Material { opacity: 1.5, ..Material::default() };
        let colour = Material { colour: Colouring::Plain([0.0, 2.0, 0.0]), ..Material::default() };
        let empty = Material { colour: Colouring::Scale(vec![]), ..Material::default() };
        for (material, wanted) in [(opacity, "opacity 1.5"), (colour, "[0.0, 2.0, 0.0]"), (empty, "no colours")] {
            let error = renderer.render_with(&look, &[(&surface, &material)]).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
        let mut crooked = good.clone();
        crooked.normals[3][0] = f32::INFINITY;
        let error = renderer.set_surface(&mut surface, &crooked.triangles()).unwrap_err().to_string();
        assert!(error.contains("vertex 3 has the normal"), "{error}");
        let other = RendererOptions { brick: Some(8), name: Some("other".into()), ..RendererOptions::default() };
        let other = VolumeRenderer::new(world, &volume, SPACING, other)?;
        let error = other.render_with(&look, &[(&surface, &Material::default())]).unwrap_err().to_string();
        assert!(error.contains("\"good\" is a surface in a volume of other"), "{error}");
        Ok(())
    });
}

#[test]
fn surfaces_by_driver_without_triangles_in_the_volume_are_not_seen() {
    support::ranks(&[1, 3], |world| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        let renderer = VolumeRenderer::new(world, &volume, SPACING, RendererOptions::default())?;
        let look = Look { size: (9, 9), ..Look::new(Camera::overview(SHAPE, SPACING), even(0.0)) };
        let mut surface = renderer.surface("ball", &Mesh::ball([12.0, 12.5, 10.0], 8.5, 4).triangles())?;
        let glass = Material { opacity: 0.5, ..Material::default() };
        let away = Mesh::ball([100.0, 12.5, 10.0], 8.5, 4);
        for mesh in [Mesh::default(), away] {
            renderer.set_surface(&mut surface, &mesh.triangles())?;
            for material in [&glass, &Material::default()] {
                if let Some(image) = renderer.render_with(&look, &[(&surface, material)])?.image {
                    assert!(image.pixels.iter().all(|pixel| *pixel == [0.0; 4]));
                }
            }
        }
        Ok(())
    });
}
