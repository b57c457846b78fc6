//! Gray-Scott reaction and diffusion of two substances on a torus: spots that divide.
//!
//! The program prints a picture in characters, and sums with the same bits for every number of
//! ranks.

use zippy::{Layout, Split, World, include_wgsl};

const SIZE: i64 = 96;
const STEPS: usize = 1500;

fn main() -> zippy::Result<()> {
    zippy::run(program)
}

fn program(world: &World) -> zippy::Result<()> {
    let layout = Layout::new([SIZE, SIZE]).split_all(Split::Auto).ghost([1, 1]).periodic([true, true]);
    let array = |name| world.array::<f32, 2>(name, &layout);
    let (mut u, mut v) = (array("u")?, array("v")?);
    let (mut next_u, mut next_v) = (array("next u")?, array("next v")?);
    u.fill(1.0)?;
    // Two rectangles of different sizes, so that the pattern is not symmetric.
    v.at((40..52, 40..52)).fill(0.5)?;
    v.at((60..64, 48..56)).fill(0.5)?;

    let step = world.kernel(include_wgsl!("../shaders/gray_scott.wgsl"))?;
    for _ in 0..STEPS {
        world.ghosts(&u)?;
        world.ghosts(&v)?;
        for (u, v, next_u, next_v) in zippy::zip_chunks((&u, &v, &next_u, &next_v))? {
            let call = step.call().read("u", u.all()).read("v", v.all());
            let call = call.write("next_u", next_u.all()).write("next_v", next_v.all());
            call.param("feed", 0.0367).param("kill", 0.0649).run()?;
        }
        std::mem::swap(&mut u, &mut next_u);
        std::mem::swap(&mut v, &mut next_v);
    }

    let sums = [world.sum(&u)?, world.sum(&v)?];
    let picture = world.get(v.at((.., ..)))?;
    let picture = world.fence()?.redeem(picture)?;
    if world.rank() == 0 {
        // Each character shows one cell of a block of 2 by 4 cells.
        for row in picture.chunks(4 * SIZE as usize) {
            let shade = |b: &f32| b" .:-=+*#%@"[((b * 30.0) as usize).min(9)] as char;
            println!("{}", row[..SIZE as usize].iter().step_by(2).map(shade).collect::<String>());
        }
        println!("sum of u {}, of v {}; bits {:x?}", sums[0], sums[1], sums.map(f64::to_bits));
    }
    assert!(sums[1] > 10.0, "the second substance has died out");
    Ok(())
}
