//! Cells that kernels of checked runs access: layers of ghost cells, and positions outside of the
//! chunk.

use zippy::history::Problem;
use zippy::{Config, KernelSource, Layout, Result, Split, World, run_with};

use crate::world::history::{checked, steps};

#[test]
fn stencil_wider_than_ghost_layer_is_found() {
    for found in checked(&[1, 2, 3], |world| steps(world, 3, false).map(drop)) {
        // Chunks are 3 to 5 cells wide and have one ghost layer.
        assert!(found.iter().any(|one| one.starts_with("one load outside at [-3, 0] by kernel")), "{found:?}");
        assert!(found.iter().all(|one| one.contains("outside")), "{found:?}");
    }
}

#[test]
fn store_outside_of_chunk_is_found() {
    let text = "
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if out_inside(p) { out_store(p + 1, 1.0); }
}";
    run_with(Config::apart(1).check(true), |world| {
        let array = world.array::<f32, 1>("row", &Layout::new([20]))?;
        let kernel = world.kernel(KernelSource::text("kernel", text))?;
        let chunk = array.local()?;
        kernel.call().write("out", chunk.at(5..20)).run()?;
        let [finding] = &world.debug().findings()[..] else { panic!("{:?}", world.debug().findings()) };
        let Problem::StoreOutside(stray) = &finding.problem else { panic!("{finding}") };
        assert_eq!((stray.position[0], stray.invocation, stray.count), (20, Some([14, 0, 0]), 1), "{finding}");
        assert_eq!(chunk.all().read()?, [vec![0.0; 6], vec![1.0; 14]].concat());
        Ok(())
    })
    .unwrap();
}

/// Two steps read two ghost layers; the first step recomputes the inner layer.
#[test]
fn ghost_layers_are_checked_separately() {
    let text = "
@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if !out_inside(p) { return; }
    out_store(p, u_load(p - 1) + u_load(p) + u_load(p + 1));
}";
    let steps = |world: &World, wrong: bool| -> Result<()> {
        let layout = Layout::new([16]).split([Split::Even(4)]).ghost([2]).periodic([true]);
        let (a, b) = (world.array::<f32, 1>("a", &layout)?, world.array::<f32, 1>("b", &layout)?);
        let kernel = world.kernel(KernelSource::text("two", text))?;
        a.fill(1.0)?;
        for _ in 0..2 {
            world.ghosts(&a)?;
            for (a, b) in zippy::zip_chunks((&a, &b))? {
                let wide = if wrong { 0..4 } else { -1..5 };
                kernel.call().read("u", a.at(wide.clone())).write("out", b.at(wide)).run()?;
            }
            for (a, b) in zippy::zip_chunks((&a, &b))? {
                kernel.call().read("u", b.all()).write("out", a.all()).run()?;
            }
        }
        Ok(())
    };
    for found in checked(&[1, 2, 4], |world| steps(world, false)) {
        assert_eq!(found, [""; 0]);
    }
    for found in checked(&[1, 2, 4], |world| steps(world, true)) {
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|one| one.starts_with("b [") && one.contains("never by kernel two")), "{found:?}");
    }
}

#[test]
fn invocations_outside_the_domain_have_no_findings() {
    let text = "
@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(16)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    out_store(p, u_load(2 * p) + u_load(p));
}";
    for found in checked(&[1], |world| {
        let (u, out) =
            (world.array::<f32, 1>("u", &Layout::new([10]))?, world.array::<f32, 1>("out", &Layout::new([5]))?);
        let kernel = world.kernel(KernelSource::text("twice", text))?;
        kernel.call().read("u", u.local()?.all()).write("out", out.local()?.all()).run()
    }) {
        assert_eq!(found, [""; 0]);
    }
}

/// A kernel that writes its own ghost cells needs no update; a kernel whose section contains ghost
/// cells need not write them.
#[test]
fn stores_to_ghost_cells_count_and_sections_do_not() {
    let text = "
@group(0) @binding(0) var<storage, read_write> u: array<f32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = u_position(id);
    if !u_inside(p) { return; }
    if u_owned(p) { u_store(p, 1.0); }
    if ALL && u_owned(p) { u_store(p - 1, 1.0); u_store(p + 1, 1.0); }
}";
    let program = |world: &World, all: bool| -> Result<()> {
        let layout = Layout::new([8]).split([Split::Even(4)]).ghost([1]).periodic([true]);
        let u = world.array::<f32, 1>("u", &layout)?;
        let kernel = world.kernel(KernelSource::text("push", text.replace("ALL", &all.to_string())))?;
        for chunk in u.chunks() {
            kernel.call().write("u", chunk.with_ghosts()).run()?;
        }
        for chunk in u.chunks() {
            chunk.with_ghosts().read()?;
        }
        Ok(())
    };
    for found in checked(&[1, 2, 4], |world| program(world, true)) {
        assert_eq!(found, [""; 0]);
    }
    for found in checked(&[1, 2, 4], |world| program(world, false)) {
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
