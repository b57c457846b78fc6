//! Copies between overlapping regions of an array, between layouts, and with permuted axes.

use zippy::{Exchange, Layout, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let layout = Layout::new([13, 10]).split([Split::Whole, Split::Even(world.size())]);
        let slabs = world.array::<i32, 2>("slabs", &layout)?;
        let blocks = world.array::<i32, 2>("blocks", &Layout::new([10, 13]).split([Split::Even(2), Split::Even(3)]))?;
        slabs.fill_with(|[x, y]| (x + 100 * y) as i32)?;

        // Shift by (2, 1) within the array: all reads come before the first write.
        world.copy(slabs.at((0..11, 0..9)), slabs.at((2..13, 1..10)))?;
        // Redistribute, transposed: axis 0 of the destination runs along axis 1 of the source.
        let moved = world.exchange(Exchange::new().copy(slabs.at(..), blocks.at(..)).permuted([1, 0]))?;

        for chunk in blocks.chunks() {
            for (p, value) in chunk.region().points().zip(chunk.all().read()?) {
                let (x, y) = (p[1], p[0]);
                let shifted = x >= 2 && y >= 1;
                let expected = if shifted { (x - 2) + 100 * (y - 1) } else { x + 100 * y };
                assert_eq!(i64::from(value), expected, "at {p:?}");
            }
        }
        println!("rank {}: {} messages, {} bytes to other ranks", world.rank(), moved.messages, moved.bytes_network);
        Ok(())
    })
}
