//! Vector algorithms: sort, scan and histogram of a million distributed keys.

use zippy::algorithms::reduce::Bins;
use zippy::{Layout, Operator, Split, World};
use zippy_primitives::Primitives;

const N: u32 = 1 << 20;

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let cut = Layout::new([N]).split([Split::Auto]);
        let keys = world.array::<u32, 1>("keys", &cut)?;
        // A permutation of the numbers below N.
        keys.fill_with(|[i]| (i as u32).wrapping_mul(2_654_435_761) % N)?;
        world.vectors().sort(&keys)?;

        let sums = world.array::<u32, 1>("sums", &cut)?;
        world.vectors().combine(&keys, &Operator::Add).inclusive_scan(&sums)?;
        let largest = world.vectors().combine(&keys, &Operator::Max).reduce()?;
        let counts = world.histogram(keys.at(..), &Bins::even(0, N - 1, 4)?)?.counts;

        // After sorting, key i is i.
        for (keys, sums) in zippy::zip_chunks((&keys, &sums))? {
            let (first, keys, sums) = (keys.region().start[0] as u64, keys.all().read()?, sums.all().read()?);
            for (i, (key, sum)) in (first..).zip(keys.into_iter().zip(sums)) {
                assert_eq!((key, sum), (i as u32, (i * (i + 1) / 2) as u32));
            }
        }
        assert_eq!((largest, &counts[..]), (Some(N - 1), &[u64::from(N) / 4; 4][..]));
        if world.rank() == 0 {
            println!("{N} keys on {} ranks: sorted, scanned, counted: {counts:?}", world.size());
        }
        Ok(())
    })
}
