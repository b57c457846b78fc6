//! Guide "Isosurfaces": the surface of a torus, as one mesh of all ranks.

use std::f64::consts::PI;
use std::path::Path;

use zippy::{Layout, Split, World};
use zippy_isosurface::{Extractor, Grid, Statistics, statistics, write};

/// Samples along each axis, and the distance between them.
const SIDE: i64 = 48;
const SPACING: f64 = 2.0 / (SIDE - 1) as f64;

/// Radii of the torus: of its circle, and of its tube.
const RADII: [f64; 2] = [0.6, 0.25];

pub fn main() -> zippy::Result<()> {
    zippy::run(|world| {
        let found = program(world, Path::new("torus.ply"))?;
        if world.rank() == 0 {
            println!("{} triangles, area {}, volume {}", found.triangles, found.area, found.volume);
        }
        Ok(())
    })
}

/// Writes the surface to a file and returns its statistics.
pub fn program(world: &World, file: &Path) -> zippy::Result<Statistics> {
    // One ghost cell before and two after each chunk: normals need them.
    let layout = Layout::new([SIDE; 3]).split_all(Split::Auto).ghost_sides([(1, 2); 3]);
    let field = world.array::<f32, 3>("field", &layout)?;
    field.fill_with(|cell| inside(cell) as f32)?;

    let grid = Grid::new([-1.0; 3], [SPACING; 3]);
    let mesh = Extractor::with_normals(world, &field, grid)?.extract(0.0)?;
    write(world, &mesh, file)?;

    let found = statistics(world, &mesh)?;
    assert_eq!((found.euler, found.components), (0, 1), "one torus");
    assert_eq!((found.open_edges, found.nonmanifold_edges), (0, 0), "a closed surface");
    let [circle, tube] = RADII;
    let (area, volume) = (4.0 * PI * PI * circle * tube, 2.0 * PI * PI * circle * tube * tube);
    assert!((found.area - area).abs() < 0.01 * area, "area {} of {area}", found.area);
    assert!((found.volume - volume).abs() < 0.02 * volume, "volume {} of {volume}", found.volume);
    Ok(found)
}

/// Above 0 inside of the torus, below 0 outside.
fn inside(cell: [i64; 3]) -> f64 {
    let [x, y, z] = cell.map(|i| -1.0 + SPACING * i as f64);
    let [circle, tube] = RADII;
    tube - ((x.hypot(y) - circle).powi(2) + z * z).sqrt()
}
