use zippy::{Layout, Split, World, include_wgsl};

fn main() -> zippy::Result<()> {
    zippy::run(program)
} // 1 rank; ZIPPY_RANKS=4: threads; mpirun: processes

fn program(world: &World) -> zippy::Result<()> {
    // 8 x 6 x 6 cells, X cut 3 + 2 + 3, Y and Z in halves, one ghost cell around each chunk.
    let layout = Layout::new([8, 6, 6]).split([[3, 2, 3].into(), Split::Even(2), Split::Even(2)]).ghost([1, 1, 1]);
    let a = world.array::<f32, 3>("a", &layout)?;
    let b = world.array::<f32, 3>("b", &layout)?;
    a.fill_with(|[x, y, z]| (x + 10 * y + 100 * z) as f32)?;
    // Regions move, wherever they are; nobody writes a send or a receive.
    world.copy(a.at([0..4, 0..2, 0..3]), b.at([4..8, 2..4, 0..3]))?;
    // A kernel sees local sections only, bound by the names that the WGSL source gives them.
    let add = world.kernel(include_wgsl!("../shaders/add.wgsl"))?;
    for (mine, other) in zippy::together((&a, &b))? {
        add.call()
            .read("array1", other.at((.., 0, ..)))
            .read("array2", other.at((.., 1, ..)))
            .write("array0", mine.at((.., 0, ..)))
            .param("additional_num", 0.5_f32)
            .run()?;
    }
    let halo = world.start_ghosts(&a)?; /* compute the interior */
    halo.wait()?;
    // Any rank asks for any cells.
    let ticket = world.get(b.at((4..6, 3, 2)))?;
    assert_eq!(world.fence()?.redeem(ticket)?, [210.0, 211.0]);
    Ok(())
}
