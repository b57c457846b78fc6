use std::time::Instant;
use zippy::{Config, Layout, Result, Split, World, include_wgsl, run_with};
fn main() -> Result<()> {
    for n in [32, 64, 128] {
        for _ in 0..2 { 
        let plain = run_with(Config::threads(1).check(false), |w| heat(w, n))?[0];
        let checked = run_with(Config::threads(1).check(true), |w| heat(w, n))?[0];
        println!("{n}: {:.0} us, {:.0} us, {:.2}", plain * 1e6, checked * 1e6, checked / plain);
        }
    }
    Ok(())
}
fn heat(world: &World, n: usize) -> Result<f64> {
    let layout = Layout::new([n, n, n * world.size()]).split([1, 1, world.size()].map(Split::Even)).ghost([1; 3]);
    let fields = [world.array::<f32, 3>("even", &layout)?, world.array::<f32, 3>("odd", &layout)?];
    fields[0].fill_with(|[x, y, z]| (x * 3 + y * 5 + z * 7) as f32)?;
    let heat = world.kernel(include_wgsl!("../benches/heat.wgsl"))?;
    let mut secs = f64::MAX;
    for which in 0..10 {
        let (now, next) = (&fields[which % 2], &fields[(which + 1) % 2]);
        world.barrier()?;
        let start = Instant::now();
        world.ghosts(now)?;
        for (a, b) in zippy::together((now, next))? {
            heat.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        world.gpu().wait()?;
        if which > 1 { secs = secs.min(start.elapsed().as_secs_f64()); }
    }
    Ok(secs)
}
