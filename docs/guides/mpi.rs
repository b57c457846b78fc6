//! Guide "Running under MPI": which rank runs where, and messages of numbers.

use zippy::World;
use zippy::transport::{copied, values};

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let line = format!("rank {} of {} on {}", world.rank(), world.size(), world.gpu().adapter().name);
        let lines = world.group().gather(0, copied(line.as_bytes()))?;
        for line in lines.unwrap_or_default() {
            println!("{}", String::from_utf8_lossy(&values::<u8>(&line)?));
        }
        program(world).map(drop)
    })
}

/// Returns the sum of the squares of all ranks.
pub fn program(world: &World) -> zippy::Result<u64> {
    let (group, rank) = (world.group(), world.rank() as u64);

    // As MPI_Bcast: rank 0 sends numbers to all.
    let numbers = (rank == 0).then(|| copied(&[3.0_f64, 4.0]));
    let numbers = values::<f64>(&group.broadcast(0, numbers)?)?;
    assert_eq!(numbers, [3.0, 4.0]);

    // As MPI_Allreduce with a function.
    let mut sum = [rank * rank];
    group.all_reduce(&mut sum, |a, b| *a += b)?;

    // As MPI_Allgatherv: lengths may differ.
    let gathered = group.all_gather_v(copied(&vec![rank; world.rank()]))?;
    for (other, payload) in gathered.iter().enumerate() {
        assert_eq!(values::<u64>(payload)?, vec![other as u64; other]);
    }
    Ok(sum[0])
}
