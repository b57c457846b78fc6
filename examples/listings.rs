//! Listings 1 to 3 of the paper: create, copy, compute.
//!
//! Run with `cargo run --release --example listings` on any number of ranks: `ZIPPY_RANKS=4 cargo
//! run …`, or under MPI with `cargo xtask mpi -n 8 --example listings`.

use zippy::{Layout, Split, World, include_wgsl};

/// A value that encodes the position, so that a wrong copy or transpose gives a wrong value.
fn encode([x, y, z]: [i64; 3]) -> f32 {
    (x + 100 * y + 10_000 * z) as f32
}

fn main() -> zippy::Result<()> {
    zippy::run(program)
}

fn program(world: &World) -> zippy::Result<()> {
    // Listing 1: two global arrays of 8 x 6 x 6 cells, X cut 3 + 2 + 3, Y and Z in halves, one
    // ghost cell.
    let layout = Layout::new([8, 6, 6]).split([[3, 2, 3].into(), Split::Even(2), Split::Even(2)]).ghost([1, 1, 1]);
    let ga0 = world.array::<f32, 3>("GA0", &layout)?;
    let ga1 = world.array::<f32, 3>("GA1", &layout)?;
    ga0.fill_with(encode)?;
    ga1.fill_with(|p| -encode(p))?;

    // Listing 2: copies between regions; the same array and overlap are allowed.
    let moved = world.copy(ga0.at([0..4, 0..2, 0..3]), ga1.at([4..8, 2..4, 0..3]))?;
    world.copy(ga0.at((0..4, ..2, ..=2)), ga0.at((2..6, 4.., 2..5)))?;
    if world.rank() == 0 {
        println!("rank 0 of {}: copied {} bytes here, sent {}", world.size(), moved.bytes_local, moved.bytes_network);
    }
    for chunk in ga1.chunks() {
        let cells = chunk.all().read()?;
        for (p, value) in chunk.region().points().zip(cells) {
            let [x, y, z] = [p[0], p[1], p[2]];
            let copied = (4..8).contains(&x) && (2..4).contains(&y) && z < 3;
            let expected = if copied { encode([x - 4, y - 2, z]) } else { -encode([x, y, z]) };
            assert_eq!(value, expected, "GA1 at {p:?}");
        }
    }

    // Listing 3: a kernel over local sections: row 0 of each chunk of GA0 = row 0 + row 1 of GA1 +
    // a number.
    let add = world.kernel(include_wgsl!("../shaders/add.wgsl"))?;
    for (a0, a1) in zippy::zip_chunks((&ga0, &ga1))? {
        add.call()
            .read("array1", a1.at((.., 0, ..)))
            .read("array2", a1.at((.., 1, ..)))
            .write("array0", a0.at((.., 0, ..)))
            .param("additional_num", 0.5_f32)
            .run()?;
    }
    for (a0, a1) in zippy::zip_chunks((&ga0, &ga1))? {
        let (first, second) = (a1.at((.., 0, ..)).read()?, a1.at((.., 1, ..)).read()?);
        let sums: Vec<f32> = first.iter().zip(&second).map(|(a, b)| a + b + 0.5).collect();
        assert_eq!(a0.at((.., 0, ..)).read()?, sums);
    }

    // One-sided access: any rank fetches any section.
    let ticket = world.get(ga1.at((.., 3, ..)))?;
    let slice = world.fence()?.redeem(ticket)?;
    assert_eq!(slice.len(), 8 * 6);
    assert_eq!(slice[4], encode([0, 1, 0]), "x = 4, y = 3, z = 0 came from GA0 at (0, 1, 0)");
    world.debug_point("listings done")
}
