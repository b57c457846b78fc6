//! One exchange for several operations: contributions in ghost cells are added to the owners'
//! cells, and both halves of another array are added. The program prints the plan before the
//! exchange.

use zippy::{Exchange, Layout, Operator, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let layout = Layout::new([12, 9])
            .split([Split::Even(world.size()), Split::Even(2)])
            .ghost([1, 1])
            .periodic([true, true]);
        let mass = world.array::<f32, 2>("mass", &layout)?;
        let hits = world.array::<u32, 2>("hits", &Layout::new([12, 4]).split([Split::Even(3), Split::Auto]))?;
        let folded = world.array::<u32, 2>("folded", &Layout::new([6, 4]))?;
        hits.fill_with(|[x, y]| (x + 100 * y) as u32)?;
        // Every cell adds 1 to itself and to its four neighbours, which may be ghost cells.
        for chunk in mass.chunks() {
            let (cells, owned) = (chunk.with_ghosts(), chunk.region());
            let contributions = |p: zippy::extents::Index| {
                owned.points().filter(|q| (p[0] - q[0]).abs() + (p[1] - q[1]).abs() <= 1).count() as f32
            };
            cells.write(&cells.region()?.points().map(contributions).collect::<Vec<_>>())?;
        }

        let halves = [(hits.at((0..6, ..)), folded.at(..)), (hits.at((6..12, ..)), folded.at(..))];
        let exchange = Exchange::new().ghosts(&mass).reverse_with(Operator::Add).composites(halves, &Operator::Add);
        let plan = world.plan(&exchange)?;
        if world.rank() == 0 {
            println!("{plan}");
        }
        let moved = world.exchange(&exchange)?;
        assert_eq!(moved, plan.moved());

        for chunk in mass.chunks() {
            assert!(chunk.all().read()?.iter().all(|&mass| mass == 5.0), "{:?}", chunk.all().read()?);
        }
        for chunk in folded.chunks() {
            let expected = chunk.region().points().map(|p| (2 * (p[0] + 100 * p[1]) + 6) as u32);
            assert!(chunk.all().read()?.into_iter().eq(expected));
        }
        world.barrier()
    })
}
