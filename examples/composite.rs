//! Compositing: partial images are blended in depth order, after a chunk re-arrangement that moves
//! no data.

use zippy::{Layout, Operator, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let ranks = world.size() as i64;
        let layout = Layout::new([32, 24, ranks]).split([Split::Whole, Split::Whole, Split::Even(world.size())]);
        let images = world.array::<[f32; 4], 3>("images", &layout)?;
        // Layer r is half transparent and has the grey value r + 1, premultiplied.
        images.fill_with(|[_, _, layer]| [0.5 * (layer + 1) as f32, 0.0, 0.0, 0.5])?;

        // The last layer is nearest, so the order is reversed. Only chunk indices change.
        let order: Vec<usize> = (0..world.size()).rev().collect();
        let ordered = images.reassigned(&order)?;
        for layer in (1..ranks).rev() {
            // The nearer layer is blended over the farther one; the result moves to the nearer
            // layer.
            world.composite(ordered.at((.., .., layer - 1)), ordered.at((.., .., layer)), Operator::Over)?;
            world.copy(ordered.at((.., .., layer)), ordered.at((.., .., layer - 1)))?;
        }

        let ticket = world.get(ordered.at((5, 7, 0)))?;
        let pixel = world.fence()?.redeem(ticket)?[0];
        let mut expected = [0.0_f32; 4];
        for grey in 1..=ranks {
            // From the farthest layer (grey 1) to the nearest.
            expected[0] = 0.5 * grey as f32 + 0.5 * expected[0];
            expected[3] = 0.5 + 0.5 * expected[3];
        }
        if ranks == 1 {
            expected = [0.5, 0.0, 0.0, 0.5];
        }
        assert_eq!(pixel, expected);
        Ok(())
    })
}
