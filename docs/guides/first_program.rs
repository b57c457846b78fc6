//! Guide "A first program": the game of life on a torus.

use zippy::{Layout, Split, World, include_wgsl};

/// Cells along each axis.
const SIDE: i64 = 32;

/// Live cells of a glider, which moves by one cell along both axes in four generations.
const GLIDER: [[i64; 2]; 5] = [[1, 0], [2, 1], [0, 2], [1, 2], [2, 2]];

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let alive = program(world)?;
        if world.rank() == 0 {
            println!("{alive} cells are alive after {} generations", 4 * SIDE);
        }
        Ok(())
    })
}

/// Plays until the glider is where it started, and returns the number of live cells.
pub fn program(world: &World) -> zippy::Result<i128> {
    // Shape, cuts, ghost cells. Both ends of each axis are neighbours.
    let layout = Layout::new([SIDE, SIDE]).split_all(Split::Auto).ghost([1, 1]).periodic([true, true]);
    let mut now = world.array::<u32, 2>("now", &layout)?;
    let mut next = world.array::<u32, 2>("next", &layout)?;
    now.fill_with(|position| u32::from(GLIDER.contains(&position)))?;

    let rule = world.kernel(include_wgsl!("life.wgsl"))?;
    for _ in 0..4 * SIDE {
        // Move: the border cells of the neighbours arrive in the ghost cells.
        world.ghosts(&now)?;
        // Compute: one call for each chunk of this rank.
        for (a, b) in zippy::zip_chunks((&now, &next))? {
            rule.call().read("now", a.all()).write("next", b.all()).run()?;
        }
        std::mem::swap(&mut now, &mut next);
    }

    // The corner with the glider, on every rank.
    let corner = world.get(now.at((0..3, 0..3)))?;
    let corner = world.fence()?.redeem(corner)?;
    assert_eq!(corner, [0, 1, 0, 0, 0, 1, 1, 1, 1], "the glider is back");
    let alive = world.sum(&now)?;
    assert_eq!(alive, 5, "and nothing else is alive");
    Ok(alive)
}
