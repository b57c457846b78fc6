//! Reductions of sections: sums, extremes, norms and histograms, exact and with the same bits on
//! any number of ranks.

use zippy::algorithms::reduce::Bins;
use zippy::{Layout, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        // Sums in f32 or f64 would lose the small values of this field: ±2^100 cancel, ¼ per cell
        // remains.
        let value = |[x, y]: [i64; 2]| match (x + y) % 3 {
            0 => 2_f32.powi(100),
            1 => -(2_f32.powi(100)),
            _ => 0.25,
        };
        let layout = Layout::new([300, 200]).split([Split::Even(3), Split::Even(world.size())]).ghost([1, 1]);
        let field = world.array::<f32, 2>("field", &layout)?;
        field.fill_with(value)?;

        let sum = world.sum(field.at(..))?;
        assert_eq!(sum, 20_000.0 * 0.25);
        let row = world.sum(field.at((.., 7)))?;
        assert_eq!(row, 100.0 * 0.25);

        let found = world.extremes(field.at((1..3, 0)))?.expect("two cells, both numbers");
        assert_eq!((found.min, found.max, found.nans), (-(2_f32.powi(100)), 0.25, 0));
        assert_eq!(world.max(field.at((5..5, ..)))?, None, "no cells, no largest");

        // Squares reach 2^200, far beyond f32.
        let norm = world.norm(field.at(..))?;
        assert_eq!(norm, (2.0 * 20_000.0 * 2_f64.powi(200)).sqrt());
        assert_eq!(world.dot(field.at((.., 0..199)), field.at((.., 0..199)))?, 2.0 * 19_900.0 * 2_f64.powi(200));

        let histogram = world.histogram(field.at(..), &Bins::even(0.0, 1.0, 4)?)?;
        assert_eq!((histogram.counts, histogram.below, histogram.above), (vec![0, 20_000, 0, 0], 20_000, 20_000));

        // Integer sums cannot overflow; vectors are reduced by component; each rank may contribute
        // its own section.
        let mine = world.local_array::<[i32; 2], 1>("mine", &Layout::new([10]))?;
        mine.all().fill([i32::MAX, world.rank() as i32])?;
        let (ranks, each) = (world.size() as i128, i128::from(i32::MAX));
        assert_eq!(world.sum(mine.all())?, [10 * ranks * each, 10 * ranks * (ranks - 1) / 2]);
        if world.rank() == 0 {
            println!("sum {sum}, norm {norm:e}, the same bits on {ranks} ranks as on any other number");
        }
        Ok(())
    })
}
