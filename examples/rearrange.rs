//! Chunk re-arrangement: the same chunks with other indices, without moving data.

use zippy::{Layout, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let chunks = 2 * world.size();
        let layout = Layout::new([5, 4 * chunks as i64]).split([Split::Whole, Split::Even(chunks)]);
        let array = world.array::<u32, 2>("array", &layout)?;
        array.fill_with(|[x, y]| (x + 10 * y) as u32)?;

        // Rotate the chunks by one: chunk i of the result is chunk i + 1 of the array.
        let order: Vec<usize> = (0..chunks).map(|chunk| (chunk + 1) % chunks).collect();
        let rotated = array.reassigned(&order)?;
        let ticket = world.get(rotated.at(..))?;
        let cells = world.fence()?.redeem(ticket)?;
        for (at, value) in cells.iter().enumerate() {
            let (x, y) = (at as i64 % 5, (at as i64 / 5 + 4) % (4 * chunks as i64));
            assert_eq!(i64::from(*value), x + 10 * y);
        }

        // Both arrays share their memory.
        world.barrier()?;
        for chunk in rotated.chunks() {
            chunk.all().write(&[7; 20])?;
        }
        for chunk in array.chunks() {
            assert_eq!(chunk.all().read()?, [7; 20]);
        }

        let uneven = world.array::<u32, 1>("uneven", &Layout::new([7]).split([[3, 4].into()]))?;
        assert!(uneven.reassigned(&[1, 0]).is_err(), "chunks of different extents cannot change places");
        Ok(())
    })
}
