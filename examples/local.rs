//! Local arrays as source or destination of a copy, with a different section on each rank; and
//! growable arrays.

use zippy::{Layout, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let (rank, ranks) = (world.rank() as i64, world.size() as i64);
        let layout = Layout::new([6, 3 * ranks]).split([Split::Even(2), Split::Auto]);
        let global = world.array::<f32, 2>("global", &layout)?;

        // Every rank computes three rows and copies them to the global array: rows in reverse rank
        // order.
        let mine = world.local_array::<f32, 2>("mine", &Layout::new([8, 3]))?;
        mine.at((1..7, ..)).write(&(0..18).map(|n| (100 * rank + n) as f32).collect::<Vec<_>>())?;
        let row = 3 * (ranks - 1 - rank);
        world.copy(mine.at((1..7, ..)), global.at((.., row..row + 3)))?;

        // Every rank copies the whole global array into a local array.
        let whole = world.local_array::<f32, 2>("whole", &Layout::new([6, 3 * ranks]))?;
        world.copy(global.at(..), whole.all())?;
        for (at, value) in whole.all().read()?.into_iter().enumerate() {
            let (x, y) = (at as i64 % 6, at as i64 / 6);
            let from = ranks - 1 - y / 3;
            assert_eq!(value, (100 * from + x + 6 * (y % 3)) as f32);
        }

        // Growable arrays of different lengths, published as one global array.
        let mut list = world.growable::<u32>("list")?;
        for hundred in 0..3 * (rank as u32 + 1) {
            list.append(&(0..100).map(|i| i + 100 * hundred + 10_000 * rank as u32).collect::<Vec<_>>())?;
        }
        let all = world.publish(&list)?;
        assert_eq!(all.shape(), [(1..=ranks).map(|r| 300 * r).sum::<i64>()]);
        let ticket = world.get(all.at(..))?;
        let cells = world.fence()?.redeem(ticket)?;
        let expected = (0..ranks as u32).flat_map(|r| (0..300 * (r + 1)).map(move |i| i + 10_000 * r));
        assert!(cells.into_iter().eq(expected));
        Ok(())
    })
}
