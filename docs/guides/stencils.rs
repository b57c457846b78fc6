//! Guide "Stencils and walls": smoke spreads through two rooms and the door between them.

use zippy::{GlobalArray, Layout, Split, World, include_wgsl};

use crate::slice;

/// Width and height in cells.
const SHAPE: [i64; 2] = [120, 72];
const STEPS: usize = 6000;

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let smoke = program(world)?;
        slice::save(world, smoke.at(..), "stencils.png")
    })
}

/// Returns the smoke after the last step.
pub fn program(world: &World) -> zippy::Result<GlobalArray<f32, 2>> {
    let layout = Layout::new(SHAPE).split_all(Split::Auto).ghost([1, 1]);
    // 1 where air is, 0 in walls. Ghost cells beyond the ends of the array stay 0: walls, too.
    let open = world.array::<u32, 2>("open", &layout)?;
    open.fill(0)?;
    open.at(..).fill(1)?;
    open.at((60..63, ..)).fill(0)?; // a wall between two rooms
    open.at((60..63, 16..28)).fill(1)?; // its door
    world.ghosts(&open)?;

    let mut now = world.array::<f32, 2>("now", &layout)?;
    let mut next = world.array::<f32, 2>("next", &layout)?;
    now.at((16..28, 40..52)).fill(100.0)?;
    let before = world.sum(&now)?;

    let step = world.kernel(include_wgsl!("smoke.wgsl"))?;
    for _ in 0..STEPS {
        // Ghost cells travel while the interior is computed.
        let update = world.start_ghosts(&now)?;
        for (open, now, next) in zippy::zip_chunks((&open, &now, &next))? {
            let call = step.call().read("open", open.all()).read("now", now.all());
            call.write("next", next.all()).over(next.interior()).param("rate", 0.2_f32).run()?;
        }
        update.wait()?;
        for (open, now, next) in zippy::zip_chunks((&open, &now, &next))? {
            let call = step.call().read("open", open.all()).read("now", now.all());
            call.write("next", next.all()).over(next.boundary()).param("rate", 0.2_f32).run()?;
        }
        std::mem::swap(&mut now, &mut next);
    }

    let after = world.sum(&now)?;
    assert!((after - before).abs() < 1e-4 * before, "{before} before, {after} after");
    assert_eq!(world.sum(now.at((60..63, 28..)))?, 0.0, "no smoke in the wall");
    assert!(world.sum(now.at((63.., ..)))? > 0.01 * after, "smoke came through the door");
    Ok(now)
}
