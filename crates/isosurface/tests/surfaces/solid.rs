//! Whole meshes of cells for comparison.

use std::collections::{BTreeMap, BTreeSet};

use zippy::transport::{copied, values};
use zippy::{Config, Layout, Result, World, run_with};
use zippy_isosurface::{Extractor, Grid, VolumeMesh, VolumeStatistics, volume_statistics};

use super::fields::Field;
use super::support::launcher;

/// Whole mesh, with points in the order of their bits and equal points merged.
#[derive(Debug, PartialEq)]
pub(crate) struct Solid {
    /// Position and values, as bits.
    pub points: Vec<Vec<u32>>,
    /// Hexahedra and tetrahedra, sorted; corners in the mesh's order.
    pub cells: Vec<Vec<usize>>,
    pub found: VolumeStatistics,
}

pub(crate) const GRID: Grid = Grid::new([1.0, 2.0, 3.0], [0.5, 0.75, 1.25]);

/// Result of a filter on `ranks` ranks or, under a launcher, on its processes; received by rank 0.
pub(crate) fn filtered(
    field: &Field<f32>,
    ranks: usize,
    cut: impl Fn(Layout) -> Layout + Sync,
    filter: impl Fn(&World, &Extractor<'_, f32>) -> Result<VolumeMesh> + Sync,
) -> Option<Solid> {
    owned(field, Config::threads(launcher::counts(&[ranks])[0]), cut, None, GRID, filter)
}

/// Result of a filter on a single rank.
pub(crate) fn alone(
    field: &Field<f32>,
    grid: Grid,
    filter: impl Fn(&World, &Extractor<'_, f32>) -> Result<VolumeMesh> + Sync,
) -> Solid {
    owned(field, Config::apart(1), |layout| layout, None, grid, filter).expect("one rank")
}

pub(crate) fn owned(
    field: &Field<f32>,
    config: Config,
    cut: impl Fn(Layout) -> Layout + Sync,
    owners: Option<Vec<usize>>,
    grid: Grid,
    filter: impl Fn(&World, &Extractor<'_, f32>) -> Result<VolumeMesh> + Sync,
) -> Option<Solid> {
    let parts = run_with(config, |world| {
        let array = field.array(world, &cut(Layout::new(field.shape)), owners.clone())?;
        let mesh = filter(world, &Extractor::new(world, &array, grid)?)?;
        check_ghosts(&mesh);
        let found = volume_statistics(world, &mesh)?;
        let parts = world.group().gather(0, copied(&words(&mesh)))?;
        let parts = parts.map(|parts| parts.iter().map(values::<u64>).collect::<Result<Vec<_>>>()).transpose()?;
        let fields = mesh.fields().len();
        Ok((parts.map(|parts| Solid::new(&parts, 4 + fields, found.clone())), found))
    });
    let parts = parts.unwrap();
    let found = parts[0].1.clone();
    assert!(parts.iter().all(|(_, other)| *other == found), "all ranks know the same");
    parts.into_iter().find_map(|(whole, _)| whole)
}

/// Checks that each ghost is unique, belongs to another rank and is used by a cell, and that each
/// own point is used on some rank.
fn check_ghosts(mesh: &VolumeMesh) {
    let own = mesh.points_before()..mesh.points_before() + mesh.own_points() as u64;
    let numbers: BTreeSet<u64> = mesh.ghosts().iter().copied().collect();
    assert!(numbers.len() == mesh.ghosts().len() && !numbers.iter().any(|number| own.contains(number)));
    let used: BTreeSet<u32> = cells(mesh).flatten().copied().collect();
    assert!((mesh.own_points()..mesh.positions().len()).all(|ghost| used.contains(&(ghost as u32))));
    assert!(mesh.fields().iter().all(|(_, values)| values.len() == mesh.positions().len()));
}

fn cells(mesh: &VolumeMesh) -> impl Iterator<Item = &[u32]> {
    let hexahedra = mesh.hexahedra().iter().map(|cell| &cell[..]);
    hexahedra.chain(mesh.tetrahedra().iter().map(|cell| &cell[..]))
}

/// Encodes a rank's part as a message: number of points; number, position and values of each; cells
/// by point number.
fn words(mesh: &VolumeMesh) -> Vec<u64> {
    let mut words = vec![mesh.positions().len() as u64];
    for (place, position) in mesh.positions().iter().enumerate() {
        words.push(mesh.number(place as u32));
        let values = mesh.fields().iter().map(|(_, values)| values[place]);
        words.extend(position.iter().copied().chain(values).map(|number| u64::from(number.to_bits())));
    }
    for cell in cells(mesh) {
        words.push(cell.len() as u64);
        words.extend(cell.iter().map(|&point| mesh.number(point)));
    }
    words
}

impl Solid {
    /// Assembles the parts; `stride` is the number of words per point.
    fn new(parts: &[Vec<u64>], stride: usize, found: VolumeStatistics) -> Self {
        let (mut points, mut cells) = (BTreeMap::new(), Vec::new());
        for words in parts {
            let (known, mut rest) = words[1..].split_at(stride * words[0] as usize);
            for point in known.chunks_exact(stride) {
                let bits: Vec<u32> = point[1..].iter().map(|&word| word as u32).collect();
                let other = points.insert(point[0], bits.clone());
                assert!(other.is_none_or(|other| other == bits), "a ghost has the bits of its owner");
            }
            while let Some((&count, more)) = rest.split_first() {
                let (cell, more) = more.split_at(count as usize);
                cells.push(cell.to_vec());
                rest = more;
            }
        }
        assert!(points.keys().copied().eq(0..points.len() as u64), "numbers without gaps");
        let used: BTreeSet<u64> = cells.iter().flatten().copied().collect();
        assert_eq!(used.len(), points.len(), "each point has a cell");
        let count = |corners: usize| cells.iter().filter(|cell| cell.len() == corners).count() as u64;
        let counted = [found.cells.hexahedra, found.cells.tetrahedra];
        assert_eq!((counted, found.points), ([count(8), count(4)], points.len() as u64));
        let mut order: Vec<u64> = points.keys().copied().collect();
        order.sort_by_key(|number| &points[number]);
        let mut places = vec![0; order.len()];
        for (place, &number) in order.iter().enumerate() {
            let same = place > 0 && points[&order[place - 1]] == points[&number];
            places[number as usize] = if same { places[order[place - 1] as usize] } else { place };
        }
        let placed = |cell: &Vec<u64>| cell.iter().map(|&number| places[number as usize]).collect();
        let mut cells: Vec<Vec<usize>> = cells.iter().map(placed).collect();
        cells.sort();
        Self { points: order.iter().map(|number| points[number].clone()).collect(), cells, found }
    }

    pub(crate) fn position(&self, point: usize) -> [f64; 3] {
        std::array::from_fn(|axis| f64::from(f32::from_bits(self.points[point][axis])))
    }

    pub(crate) fn value(&self, point: usize, field: usize) -> f32 {
        f32::from_bits(self.points[point][3 + field])
    }
}

/// Cuts of a field of 37 x 11 x 9 samples: even, with ghost cells, uneven, one chunk per row, with
/// empty chunks, k-d.
pub(crate) fn cuts() -> Vec<Box<dyn Fn(Layout) -> Layout + Sync>> {
    use zippy::Split;
    let boxes = crate::surfaces::cuts::k_d();
    vec![
        Box::new(|layout| layout.split_all(Split::Auto)),
        Box::new(|layout| layout.split_all(Split::Auto).ghost([2; 3])),
        Box::new(|layout| {
            layout.split([Split::Even(9), Split::Even(2), Split::Whole]).ghost([6; 3]).periodic([true; 3])
        }),
        Box::new(|layout| layout.split([Split::Sizes(vec![1, 30, 6]), Split::Sizes(vec![2, 9]), Split::Even(4)])),
        Box::new(|layout| layout.split([Split::Whole, Split::Even(11), Split::Even(9)])),
        Box::new(|layout| layout.split([Split::Sizes(vec![0, 18, 0, 18, 1]), Split::Whole, Split::Sizes(vec![8, 1])])),
        Box::new(move |layout| layout.boxes(boxes.clone())),
    ]
}

/// Faces of a cell, counterclockwise as seen from outside, in VTK's order of corners.
pub(crate) fn faces(cell: &[usize]) -> Vec<Vec<usize>> {
    let places: &[&[usize]] = match cell.len() {
        8 => &[&[0, 3, 2, 1], &[4, 5, 6, 7], &[0, 1, 5, 4], &[1, 2, 6, 5], &[2, 3, 7, 6], &[3, 0, 4, 7]],
        4 => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[2, 0, 3]],
        _ => &[&[0, 1, 2], &[3, 5, 4], &[0, 3, 4, 1], &[1, 4, 5, 2], &[2, 5, 3, 0]],
    };
    places.iter().map(|face| face.iter().map(|&place| cell[place]).collect()).collect()
}

/// Checks that each cell has a positive volume, by the divergence theorem.
pub(crate) fn assert_positive_volumes(solid: &Solid) {
    for cell in &solid.cells {
        let mut volume = 0.0;
        for face in faces(cell) {
            let at: Vec<[f64; 3]> = face.iter().map(|&point| solid.position(point)).collect();
            for i in 1..at.len() - 1 {
                let [a, b, c] = [at[0], at[i], at[i + 1]];
                volume += (0..3)
                    .map(|r| a[r] * (b[(r + 1) % 3] * c[(r + 2) % 3] - b[(r + 2) % 3] * c[(r + 1) % 3]))
                    .sum::<f64>();
            }
        }
        assert!(volume > -1e-5, "{volume} {cell:?}");
    }
}
