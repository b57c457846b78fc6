//! Surfaces from arrays on the device give the same images as those from the host.

use zippy::array::Growable;
use zippy::{ArrayOptions, Config, Grid, Layout, Ownership, Split, World, run_with};
use zippy_io::image::Image;
use zippy_render::volume::{
    Camera, Colouring, DeviceTriangles, Look, Material, RendererOptions, Surface, VolumeRenderer,
};

use super::{Mesh, SHAPE, SPACING, bits, even};
use crate::support::{self, launcher};

pub(crate) struct DeviceMesh {
    positions: Growable<f32>,
    normals: Growable<f32>,
    values: Growable<f32>,
    triangles: Growable<u32>,
}

impl DeviceMesh {
    fn new(world: &World, name: &str) -> Self {
        let growable = |what: &str| world.growable(&format!("{name}.{what}")).unwrap();
        let triangles = world.growable(&format!("{name}.triangles")).unwrap();
        Self { positions: growable("positions"), normals: growable("normals"), values: growable("values"), triangles }
    }

    pub(crate) fn of(world: &World, name: &str, mesh: &Mesh) -> Self {
        let mut made = Self::new(world, name);
        made.set(mesh);
        made
    }

    fn set(&mut self, mesh: &Mesh) {
        let all = [&mut self.positions, &mut self.normals, &mut self.values];
        for (list, numbers) in
            all.into_iter().zip([mesh.positions.as_flattened(), mesh.normals.as_flattened(), &mesh.values])
        {
            list.clear();
            list.append(numbers).unwrap();
        }
        self.triangles.clear();
        self.triangles.append(mesh.triangles.as_flattened()).unwrap();
    }

    pub(crate) fn triangles(&self) -> DeviceTriangles<'_> {
        DeviceTriangles {
            positions: &self.positions,
            normals: Some(&self.normals).filter(|normals| !normals.is_empty()),
            values: Some(&self.values).filter(|values| !values.is_empty()),
            triangles: &self.triangles,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum TriangleDistribution {
    /// Round-robin, so that most lie in bricks of other ranks.
    Spread,
    /// All on one rank.
    By(usize),
    No,
}

impl TriangleDistribution {
    fn part(self, mesh: &Mesh, world: &World) -> Mesh {
        match self {
            Self::Spread => mesh.of(world.rank(), world.size()),
            Self::By(rank) if rank % world.size() == world.rank() => mesh.clone(),
            _ => Mesh::default(),
        }
    }
}

/// Results of a picture on this rank.
#[derive(PartialEq)]
struct PictureResult {
    image: Option<Image>,
    /// Layers of all ranks, and cells that this rank has cast: they depend on the reach of
    /// surfaces.
    cast: (usize, u64),
    triangles: u64,
}

/// Two surfaces, opaque and transparent, in an invisible volume, for several distributions of
/// triangles.
fn pictures(world: &World, renderer: &VolumeRenderer<'_, u8>, on_device: bool) -> zippy::Result<Vec<PictureResult>> {
    let way = if on_device { "device" } else { "host" };
    let outer = Mesh::ball([12.0, 12.5, 10.0], 13.0, 24);
    let inner = Mesh { normals: vec![], values: vec![], ..Mesh::ball([13.0, 10.0, 12.0], 5.0, 9) };
    let plane = Mesh::plane(6.0, [-3.0, 30.0], [2.0, 22.0]);
    let corner = Mesh::plane(0.0, [0.5, 1.0], [0.5, 1.0]);
    let scenes = [
        ([&outer, &inner], TriangleDistribution::Spread),
        ([&outer, &plane], TriangleDistribution::By(world.size() - 1)),
        ([&plane, &outer], TriangleDistribution::No),
        ([&corner, &inner], TriangleDistribution::By(1)),
    ];
    let scale = Colouring::Scale(vec![[-1.0, 0.0, 0.2, 1.0], [1.0, 1.0, 0.1, 0.0]]);
    let glass = Material { colour: scale, opacity: 0.4, ..Material::default() };
    let look = Look { size: (37, 31), ..Look::new(Camera::overview(SHAPE, SPACING), even(0.0)) };
    let mut surfaces: Vec<(Surface, DeviceMesh)> = Vec::new();
    let mut seen = Vec::new();
    for (meshes, given) in scenes {
        for (number, mesh) in meshes.into_iter().enumerate() {
            let (mine, name) = (given.part(mesh, world), format!("{way}.{number}"));
            match surfaces.get_mut(number) {
                Some((surface, arrays)) if on_device => {
                    arrays.set(&mine);
                    renderer.set_surface_on_device(surface, &arrays.triangles())?;
                }
                Some((surface, _)) => renderer.set_surface(surface, &mine.triangles())?,
                None => {
                    let arrays = DeviceMesh::of(world, &name, &mine);
                    let made = if on_device {
                        renderer.surface_on_device(&name, &arrays.triangles())?
                    } else {
                        renderer.surface(&name, &mine.triangles())?
                    };
                    surfaces.push((made, arrays));
                }
            }
        }
        let solid = Material::default();
        for materials in [[&glass, &solid], [&solid, &glass]] {
            let both: Vec<_> =
                surfaces.iter().zip(materials).map(|((surface, _), material)| (surface, material)).collect();
            let frame = renderer.render_with(&look, &both)?;
            let triangles = both.iter().map(|(surface, _)| surface.triangles()).sum();
            seen.push(PictureResult { image: frame.image, cast: (frame.layers, frame.cells), triangles });
        }
    }
    Ok(seen)
}

/// Renders from the host and from the device on these ranks; returns the images.
fn both_ways(config: Config, layout: &Layout, owners: Option<&[usize]>) -> Vec<Image> {
    both_ways_on(SPACING.into(), config, layout, owners)
}

fn both_ways_on(grid: Grid, config: Config, layout: &Layout, owners: Option<&[usize]>) -> Vec<Image> {
    let program = |world: &World| {
        let ranks = world.size();
        let volume = match owners {
            Some(owners) => {
                let owners = owners.iter().map(|rank| rank % ranks).collect();
                world.array::<u8, 3>("volume", ArrayOptions::new(layout).owned_by(Ownership::table(owners, ranks)?))?
            }
            None => world.array::<u8, 3>("volume", layout)?,
        };
        let options = RendererOptions { brick: Some(8), ..RendererOptions::default() };
        let renderer = VolumeRenderer::new(world, &volume, grid, options)?;
        let [by_host, on_device] = [false, true].map(|on_device| pictures(world, &renderer, on_device).unwrap());
        for (number, (host, device)) in by_host.iter().zip(&on_device).enumerate() {
            assert!(host == device, "picture {number}, {ranks} ranks, {layout:?}: {:?} {:?}", host.cast, device.cast);
        }
        Ok(on_device.into_iter().filter_map(|seen| seen.image).collect::<Vec<_>>())
    };
    run_with(config, program).unwrap().into_iter().flatten().collect()
}

/// Positions are converted to voxels by products and sums that no device may fuse.
#[test]
fn triangles_by_driver_of_a_turned_grid_are_those_from_the_host() {
    let turned = [[0.96, 0.28, 0.0], [-0.28, 0.96, 0.0], [0.0, 0.0, -1.0]];
    let grid = Grid::new([3.3, -3.1, 20.7], SPACING).with_directions(turned);
    let plain = Layout::new(SHAPE);
    let alone = both_ways_on(grid, Config::apart(1), &plain, None);
    assert!(alone.iter().filter(|image| image.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 200).count() > 3);
    for ranks in launcher::counts(&[3]) {
        let found = both_ways_on(grid, Config::threads(ranks), &plain.clone().split_all(Split::Auto), None);
        assert!(found.is_empty() || found.iter().map(bits).eq(alone.iter().map(bits)), "{ranks} ranks");
    }
}

/// Uneven cuts, interlocking chunks, and ranks without bricks.
fn every_cut() {
    cuts(3);
}

fn cuts(count: usize) {
    let plain = Layout::new(SHAPE);
    let alone = both_ways(Config::apart(1), &plain, None);
    assert!(alone.iter().filter(|image| image.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 300).count() > 3);
    let uneven = [Split::Sizes(vec![3, 21, 1]), Split::Even(1), Split::Sizes(vec![0, 20, 9])];
    let blocks = [Split::Even(3), Split::Even(2), Split::Even(3)];
    let interlocking: Vec<usize> = (0..18).map(|i| i * 7 + i / 3).collect();
    let all = [
        (5, plain.clone().split(blocks), Some(interlocking)),
        (3, plain.clone().split(uneven), None),
        (3, plain.clone().split_all(Split::Whole), None),
    ];
    for (ranks, layout, owners) in all.into_iter().take(count) {
        for ranks in launcher::counts(&[ranks]) {
            for (number, (found, wanted)) in
                both_ways(Config::threads(ranks), &layout, owners.as_deref()).iter().zip(&alone).enumerate()
            {
                assert!(bits(found) == bits(wanted), "picture {number}, {ranks} ranks, {layout:?}");
            }
        }
    }
}

/// A triangle whose box has more bricks than a kernel processes.
fn across_many_bricks() {
    let shape = [33, 33, 41];
    let mesh = Mesh {
        positions: vec![[0.0; 3], [32.0, 32.0, 0.0], [32.0, 32.0, 40.0], [0.0, 0.0, 40.0]],
        triangles: vec![[0, 1, 2], [0, 2, 3]],
        ..Mesh::default()
    };
    let look = Look { size: (19, 17), step: 2.0, ..Look::new(Camera::overview(shape, [1.0; 3]), even(0.0)) };
    let glass = Material { opacity: 0.4, ..Material::default() };
    let program = |world: &World| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(shape))?;
        let options = RendererOptions { brick: Some(8), ..RendererOptions::default() };
        let renderer = VolumeRenderer::new(world, &volume, [1.0; 3], options)?;
        let mine = mesh.of(world.rank(), world.size());
        let surfaces = [
            renderer.surface("host", &mine.triangles())?,
            renderer.surface_on_device("device", &DeviceMesh::of(world, "arrays", &mine).triangles())?,
        ];
        let [host, device] = surfaces.map(|surface| renderer.render_with(&look, &[(&surface, &glass)]).unwrap());
        assert_eq!((host.layers, host.cells), (device.layers, device.cells));
        if let (Some(host), Some(device)) = (host.image, device.image) {
            assert!(bits(&host) == bits(&device));
            assert!(host.pixels.iter().filter(|pixel| pixel[3] > 0.3).count() > 50);
        }
        Ok(())
    };
    for ranks in launcher::counts(&[1, 3]) {
        run_with(Config::threads(ranks), program).unwrap();
    }
}

/// An error on one rank is returned on all ranks.
fn mistakes() {
    support::ranks(&[1, 3], |world| {
        let volume = world.array::<u8, 3>("volume", &Layout::new(SHAPE))?;
        let renderer = VolumeRenderer::new(world, &volume, SPACING, RendererOptions::default())?;
        let good = Mesh::ball([12.0, 12.5, 10.0], 8.5, 4);
        let mut arrays = DeviceMesh::of(world, "arrays", &good);
        let mut surface = renderer.surface_on_device("good", &arrays.triangles())?;
        assert_eq!(surface.triangles(), 64 * world.size() as u64);
        let wrong = |change: &dyn Fn(&mut Mesh)| {
            let mut mesh = good.clone();
            change(&mut mesh);
            mesh
        };
        let cases = [
            (wrong(&|mesh| mesh.values.truncate(39)), "39 values for 40 positions"),
            (wrong(&|mesh| mesh.normals.truncate(39)), "117 numbers of normals for 40 positions"),
            (wrong(&|mesh| mesh.positions[7][2] = f32::NAN), "vertex 7 is at [12.0, 12.5, NaN]"),
            (wrong(&|mesh| mesh.positions[9][0] = f32::NEG_INFINITY), "vertex 9 is at [-inf, "),
            (wrong(&|mesh| mesh.normals[3][0] = f32::INFINITY), "vertex 3 has the normal [inf, "),
            (wrong(&|mesh| mesh.triangles[5][1] = 40), "triangle 5 has the vertices ["),
            (wrong(&|mesh| mesh.triangles[63][2] = u32::MAX), "triangle 63 has the vertices ["),
            (Mesh { triangles: vec![[0; 3]], ..Mesh::default() }, "triangle 0 has the vertices [0, 0, 0]"),
        ];
        let look = Look { size: (9, 9), ..Look::new(Camera::overview(SHAPE, SPACING), even(0.0)) };
        for (mesh, wanted) in &cases {
            arrays.set(if world.rank() == world.size() - 1 { mesh } else { &good });
            let error = renderer.set_surface_on_device(&mut surface, &arrays.triangles()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}, not {wanted}");
            assert_eq!(surface.triangles(), 0);
        }
        let shows = |surface: &Surface| -> zippy::Result<bool> {
            let image = renderer.render_with(&look, &[(surface, &Material::default())])?.image;
            Ok(image.is_some_and(|image| image.pixels.iter().any(|pixel| *pixel != [0.0; 4])))
        };
        assert!(!shows(&surface)?);
        // A surface that another renderer rejects loses its triangles and their reach.
        let finer = RendererOptions { brick: Some(8), ..RendererOptions::default() };
        let other = world.array::<u8, 3>("other", &Layout::new(SHAPE))?;
        let finer = VolumeRenderer::new(world, &other, SPACING, finer)?;
        renderer.set_surface(&mut surface, &good.triangles())?;
        assert!(finer.set_surface(&mut surface, &cases[2].0.triangles()).is_err());
        let glass = Material { opacity: 0.4, ..Material::default() };
        assert_eq!(finer.render_with(&look, &[(&surface, &glass)])?.layers, 0);
        arrays.set(&good);
        renderer.set_surface_on_device(&mut surface, &arrays.triangles())?;
        assert_eq!(shows(&surface)?, world.rank() == 0);
        Ok(())
    });
}

fn all() {
    every_cut();
    across_many_bricks();
    mistakes();
}

/// Arrays that are bound as several variables, and a list that cannot hold all triangles at once.
fn in_parts() {
    cuts(1);
    too_many();
}

/// Triangles that exceed a buffer of one rank are drawn by no rank.
fn too_many() {
    support::ranks(&[2], |world| {
        let cut = Layout::new(SHAPE).split([Split::Even(2), Split::Whole, Split::Whole]);
        let volume = world.array::<u8, 3>("volume", &cut)?;
        let options = RendererOptions { brick: Some(8), ..RendererOptions::default() };
        let renderer = VolumeRenderer::new(world, &volume, SPACING, options)?;
        let length = (SHAPE[0] - 1) as f32 * SPACING[0] as f32;
        let few = Mesh::ball([0.2 * length, 12.5, 10.0], 0.1 * length, 4);
        let none = Mesh::default();
        let many = Mesh::ball([0.8 * length, 12.5, 10.0], 0.1 * length, 50);
        let look = Look { size: (9, 9), ..Look::new(Camera::overview(SHAPE, SPACING), even(0.0)) };
        let mut surface = renderer.surface("surface", &few.triangles())?;
        for on_device in [false, true] {
            let mine = [&few, &many, &none][world.rank().min(2)];
            let taken = if on_device {
                let arrays = DeviceMesh::of(world, "arrays", mine);
                renderer.set_surface_on_device(&mut surface, &arrays.triangles())
            } else {
                renderer.set_surface(&mut surface, &mine.triangles())
            };
            let error = taken.unwrap_err().to_string();
            assert!(error.contains("on rank 1 need 142800 bytes in one buffer, which has at most 131072"), "{error}");
            assert_eq!(surface.triangles(), 0);
            let image = renderer.render_with(&look, &[(&surface, &Material::default())])?.image;
            assert!(image.is_none_or(|image| image.pixels.iter().all(|pixel| *pixel == [0.0; 4])));
        }
        Ok(())
    });
}

#[test]
fn drawn_by_driver_as_from_the_host() {
    cuts(1);
}

zippy_testing::with_variables! {
    without_mapping_by_driver, [("ZIPPY_HOST_MAP", "0")], all
}

zippy_testing::with_variables! {
    in_windows_and_parts_by_driver, [("ZIPPY_BINDING_LIMIT", "32768"), ("ZIPPY_BUFFER_LIMIT", "131072")], in_parts
}
