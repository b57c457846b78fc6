//! Page "Checked runs": a ghost update is forgotten, and the run finds it.

use zippy::{Config, KernelSource, Layout, Split, World};

/// Average of both neighbours.
const AVERAGE: &str = "
@group(0) @binding(0) var<storage, read> now: array<f32>;
@group(0) @binding(1) var<storage, read_write> next: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = next_position(id);
    if next_inside(p) { next_store(p, 0.5 * (now_load(p - 1) + now_load(p + 1))); }
}";

pub fn main() -> zippy::Result<()> {
    // As ZIPPY_CHECK=1, but the program reads the findings itself.
    let found = zippy::run_with(Config::threads(2).check(true), program)?;
    println!("{}", found.concat().join("\n"));
    Ok(())
}

/// Returns the findings of this rank.
pub fn program(world: &World) -> zippy::Result<Vec<String>> {
    let layout = Layout::new([12]).split([Split::Auto]).ghost([1]).periodic([true]);
    let mut now = world.array::<f32, 1>("now", &layout)?;
    let mut next = world.array::<f32, 1>("next", &layout)?;
    now.fill_with(|[x]| x as f32)?;
    let average = world.kernel(KernelSource::text("average.wgsl", AVERAGE))?;
    world.ghosts(&now)?;
    for _ in 0..2 {
        // The ghost update belongs here: the second step reads old ghost cells.
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            average.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        std::mem::swap(&mut now, &mut next);
    }
    world.barrier()?; // findings are complete after a collective call
    let findings: Vec<String> = world.debug().findings().iter().map(ToString::to_string).collect();
    assert!(findings.iter().all(|finding| finding.contains("reads ghost cells")));
    Ok(findings)
}
