//! A copy that is wrong by one row, as an exercise for the array viewer (docs/debugging.md).
//!
//! ```console
//! ZIPPY_DEBUG=spawn ZIPPY_RANKS=4 cargo run --release --example wrong_copy
//! ```

use zippy::{Layout, Result, Split, World};

fn main() -> Result<()> {
    zippy::run(program)
}

/// Exchanges the halves of a picture repeatedly; every second exchange should restore it.
fn program(world: &World) -> Result<()> {
    let layout = Layout::new([48, 32]).split_all(Split::Auto);
    let [start, image, shifted] = ["start", "image", "shifted"].map(|name| world.array::<f32, 2>(name, &layout));
    let (start, image, shifted) = (start?, image?, shifted?);
    start.fill_with(|[x, y]| (-((x - 30) as f32 / 9.0).powi(2) - ((y - 11) as f32 / 5.0).powi(2)).exp())?;
    world.copy(start.at(..), image.at(..))?;
    for _ in 0..4 {
        for point_name in ["once", "twice"] {
            world.copy(image.at((.., 0..16)), shifted.at((.., 16..32)))?;
            // These rows should be 16..32.
            world.copy(image.at((.., 15..31)), shifted.at((.., 0..16)))?;
            world.debug_point(point_name)?;
            world.copy(shifted.at(..), image.at(..))?;
        }
    }
    let [before, after] = [world.get(start.at((30, 11)))?, world.get(image.at((30, 11)))?];
    let mut pixels = world.fence()?;
    let (before, after) = (pixels.redeem(before)?, pixels.redeem(after)?);
    if world.rank() == 0 {
        println!("the pixel in the middle of the spot was {:.3} and is {:.3}", before[0], after[0]);
    }
    Ok(())
}
