//! One-sided access with get, put, accumulate and fence: every rank changes cells that it does not
//! own.

use zippy::{Layout, Operator, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let (rank, ranks) = (world.rank() as i32, world.size() as i32);
        let counts = world.array::<i32, 1>("counts", &Layout::new([100]).split([Split::Even(7)]))?;

        // Every rank adds one to all cells; the operations of an epoch run in (rank, sequence)
        // order.
        world.accumulate(&[1; 100], counts.at(..), Operator::Add)?;
        world.fence()?;
        world.put(&[1000 * (rank + 1)], counts.at(50..51))?;
        let ticket = world.get(counts.at(49..52))?;
        let fetched = world.fence()?.redeem(ticket)?;
        assert_eq!(fetched, [ranks, 1000 * (rank + 1), ranks], "a get sees the puts of lower ranks and its own");

        // The destination of a get may be a section of a local array.
        let window = world.local_array::<i32, 1>("window", &Layout::new([3]))?;
        world.get_into(counts.at(49..52), window.all())?;
        world.fence()?;
        assert_eq!(window.all().read()?, [ranks, 1000 * ranks, ranks], "the put of the highest rank came last");
        Ok(())
    })
}
