//! The program of the README: heat in a plate.

use zippy::{Layout, Split, World, include_wgsl};

fn main() -> zippy::Result<()> {
    zippy::run(program) // one rank; with ZIPPY_RANKS=4 four threads; under mpirun its processes
}

fn program(world: &World) -> zippy::Result<()> {
    // A plate of 64 x 64 cells, cut for the ranks, with a layer of ghost cells around each chunk.
    let layout = Layout::new([64, 64]).split_all(Split::Auto).ghost([1, 1]);
    let mut now = world.array::<f32, 2>("now", &layout)?;
    let mut next = world.array::<f32, 2>("next", &layout)?;
    now.at((24..40, 24..40)).fill_with(|_| 100.0)?; // cold, but for a hot square in the middle
    let step = world.kernel(include_wgsl!("../shaders/diffuse.wgsl"))?;
    for _ in 0..200 {
        world.ghosts(&now)?; // the borders of the chunks go to their neighbours
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            step.call().read("now", a.all()).write("next", b.all()).param("rate", 0.2).run()?;
        }
        std::mem::swap(&mut now, &mut next);
    }
    let heat = world.sum(&now)?;
    let line = world.get(now.at((.., 32)))?; // any rank asks for any cells, and gets them at the fence
    let line = world.fence()?.redeem(line)?;
    if world.rank() == 0 {
        println!("heat {heat:.3}, across the middle:");
        println!("{}", line.iter().step_by(7).map(|t| format!("{t:6.2}")).collect::<String>());
    }
    Ok(())
}
