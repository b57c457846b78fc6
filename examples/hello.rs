//! Smallest program on several ranks: each rank writes its number into its own cell of a global
//! array, and the ghost update fetches the numbers of its two neighbours on a ring.
//!
//! Run with `ZIPPY_RANKS=2 cargo run --example hello` or `cargo xtask mpi -n 2 --example hello`.

use zippy::{Layout, Split, World};

fn main() -> zippy::Result<()> {
    zippy::run(|world: &World| {
        let (rank, ranks) = (world.rank(), world.size());
        let layout = Layout::new([ranks]).split([Split::Even(ranks)]).ghost([1]).periodic([true]);
        let names = world.array::<u32, 1>("names", &layout)?;
        names.local()?.all().write(&[rank as u32])?;
        world.ghosts(&names)?;

        let values = names.local()?.with_ghosts().read()?;
        let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        assert_eq!(values, [left, rank, right].map(|rank| rank as u32), "rank {rank} of {ranks}");
        println!("rank {rank} of {ranks} on {}: neighbours {left} and {right}", world.gpu().adapter().name);
        world.barrier()
    })
}
