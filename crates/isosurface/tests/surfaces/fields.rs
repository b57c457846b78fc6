//! Fields and comparable meshes for the tests.

use std::collections::{BTreeMap, BTreeSet};

use super::support::launcher;
use zippy::region::Region;
use zippy::transport::{copied, values};
use zippy::{ArrayOptions, Config, GlobalArray, Layout, Ownership, Result, Split, World, run_with};
use zippy_isosurface::{Extractor, Grid, Mesh, Sample, Statistics, statistics};

/// Field in host memory, axis 0 fastest.
#[derive(Clone)]
pub(crate) struct Field<T> {
    pub shape: [i64; 3],
    pub samples: Vec<T>,
}

impl<T: Sample> Field<T> {
    pub(crate) fn new(shape: [i64; 3], mut value: impl FnMut([i64; 3]) -> T) -> Self {
        let [x, y, z] = shape;
        let places = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
        Self { shape, samples: places.map(&mut value).collect() }
    }

    pub(crate) fn at(&self, [x, y, z]: [i64; 3]) -> T {
        self.samples[(x + self.shape[0] * (y + self.shape[1] * z)) as usize]
    }

    pub(crate) fn padded(&self, value: T) -> Self {
        Self::new(self.shape.map(|n| n + 2), |at| {
            let inner = at.map(|x| x - 1);
            if (0..3).all(|axis| (0..self.shape[axis]).contains(&inner[axis])) { self.at(inner) } else { value }
        })
    }

    pub(crate) fn array(
        &self,
        world: &World,
        layout: &Layout,
        owners: Option<Vec<usize>>,
    ) -> Result<GlobalArray<T, 3>> {
        let array = match owners {
            Some(owners) => {
                world.array("field", ArrayOptions::new(layout).owned_by(Ownership::table(owners, world.size())?))?
            }
            None => world.array("field", layout)?,
        };
        array.fill_with(|at| self.at(at))?;
        Ok(array)
    }

    /// Surface by a single rank, with its mesh.
    pub(crate) fn alone(&self, isovalue: f32) -> (Whole, Statistics) {
        let found = self.surface(Config::apart(1), |layout| layout, None, isovalue, true);
        (found.0.expect("one rank"), found.1)
    }

    /// Surface by `ranks` ranks or, under a launcher, by its processes. Rank 0 receives the mesh.
    pub(crate) fn cut(
        &self,
        ranks: usize,
        cut: impl Fn(Layout) -> Layout + Sync,
        isovalue: f32,
    ) -> (Option<Whole>, Statistics) {
        self.surface(Config::threads(launcher::counts(&[ranks])[0]), cut, None, isovalue, true)
    }

    /// [`cut`](Self::cut) with an owner for each chunk, modulo the number of ranks.
    pub(crate) fn owned(
        &self,
        ranks: usize,
        cut: impl Fn(Layout) -> Layout + Sync,
        owners: &[usize],
        isovalue: f32,
    ) -> Option<Whole> {
        let ranks = launcher::counts(&[ranks])[0];
        let owners = owners.iter().map(|owner| owner % ranks).collect();
        self.surface(Config::threads(ranks), cut, Some(owners), isovalue, true).0
    }

    pub(crate) fn statistics(&self, ranks: usize, isovalue: f32) -> Statistics {
        let ranks = launcher::counts(&[ranks])[0];
        self.surface(Config::threads(ranks), |layout| layout.split_all(Split::Auto), None, isovalue, false).1
    }

    fn surface(
        &self,
        config: Config,
        cut: impl Fn(Layout) -> Layout + Sync,
        owners: Option<Vec<usize>>,
        isovalue: f32,
        gathered: bool,
    ) -> (Option<Whole>, Statistics) {
        let parts = run_with(config, |world| {
            let field = self.array(world, &cut(Layout::new(self.shape)), owners.clone())?;
            let mesh = Extractor::with_normals(world, &field, Grid::new([1.0, 2.0, 3.0], [0.5, 0.75, 1.25]))?;
            let mesh = mesh.extract(isovalue)?;
            check_ghosts(&mesh);
            let found = statistics(world, &mesh)?;
            if !gathered {
                return Ok((None, found));
            }
            let parts = world.group().gather(0, copied(&words(&mesh)))?;
            let parts = parts.map(|parts| parts.iter().map(values::<u64>).collect::<Result<Vec<_>>>()).transpose()?;
            Ok((parts.map(|parts| Whole::new(&parts)), found))
        });
        let parts = parts.unwrap();
        let found = parts[0].1.clone();
        assert!(parts.iter().all(|(_, other)| *other == found), "all ranks know the same");
        let whole = parts.into_iter().find_map(|(whole, _)| whole);
        if let Some(whole) = &whole {
            assert_eq!(whole.vertices.len() as u64, found.vertices);
            assert_eq!(whole.triangles.len() as u64, found.triangles);
            assert_eq!(whole.chi, found.euler, "counted from the whole mesh, and from its parts");
        }
        (whole, found)
    }

    /// Number of grid edges with ends on both sides, by direct count.
    pub(crate) fn crossed_edges(&self, isovalue: f32) -> u64 {
        let inside = |at| self.at(at).value() >= isovalue;
        let mut count = 0;
        for axis in 0..3 {
            let mut next = [0; 3];
            next[axis] = 1;
            let ends = Region::whole(zippy::extents::Index::from_fn(3, |a| self.shape[a] - next[a]));
            for point in ends.points() {
                let at = [point[0], point[1], point[2]];
                count += u64::from(inside(at) != inside(std::array::from_fn(|a| at[a] + next[a])));
            }
        }
        count
    }
}

/// Whole mesh, with vertices in the order of their bits and equal vertices merged.
#[derive(Debug, PartialEq)]
pub(crate) struct Whole {
    pub vertices: Vec<[u32; 6]>,
    /// Triangles; each begins with its lowest vertex.
    pub triangles: Vec<[usize; 3]>,
    chi: i64,
}

impl Whole {
    fn new(parts: &[Vec<u64>]) -> Self {
        let (mut vertices, mut corners_of) = (BTreeMap::new(), Vec::new());
        for words in parts {
            let (head, rest) = words.split_at(1);
            let (known, triangles) = rest.split_at(7 * head[0] as usize);
            for vertex in known.as_chunks::<7>().0 {
                let bits: [u32; 6] = std::array::from_fn(|i| vertex[i + 1] as u32);
                let other = vertices.insert(vertex[0], bits);
                assert!(other.is_none_or(|other| other == bits), "a ghost has the bits of its owner");
            }
            corners_of.extend_from_slice(triangles.as_chunks::<3>().0);
        }
        assert!(vertices.keys().copied().eq(0..vertices.len() as u64), "numbers without gaps");
        let mut order: Vec<u64> = vertices.keys().copied().collect();
        order.sort_by_key(|number| vertices[number]);
        let mut places = vec![0; order.len()];
        for (place, &number) in order.iter().enumerate() {
            let same = place > 0 && vertices[&order[place - 1]] == vertices[&number];
            places[number as usize] = if same { places[order[place - 1] as usize] } else { place };
        }
        let mut edges = BTreeSet::new();
        let mut triangles: Vec<[usize; 3]> = Vec::new();
        for numbers in corners_of {
            let ends = [0, 1, 2].map(|i| [numbers[i], numbers[(i + 1) % 3]]);
            edges.extend(ends.map(|[a, b]| [a.min(b), a.max(b)]));
            let corners = numbers.map(|number| places[number as usize]);
            let turned = |i: usize| [corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3]];
            triangles.extend([turned(0), turned(1), turned(2)].into_iter().min());
        }
        triangles.sort_unstable();
        let chi = vertices.len() as i64 - edges.len() as i64 + triangles.len() as i64;
        Self { vertices: order.iter().map(|number| vertices[number]).collect(), triangles, chi }
    }
}

/// Checks that each ghost is unique, belongs to another rank and is used by a triangle.
fn check_ghosts(mesh: &Mesh) {
    let own = mesh.vertices_before()..mesh.vertices_before() + mesh.own_vertices() as u64;
    let numbers: BTreeSet<u64> = mesh.ghosts().iter().copied().collect();
    assert!(numbers.len() == mesh.ghosts().len() && !numbers.iter().any(|number| own.contains(number)));
    let used: BTreeSet<u32> = mesh.triangles().iter().flatten().copied().collect();
    assert!((mesh.own_vertices()..mesh.positions().len()).all(|ghost| used.contains(&(ghost as u32))));
}

/// Encodes a rank's part as a message: number of vertices; number, position and normal of each;
/// triangles by vertex number.
fn words(mesh: &Mesh) -> Vec<u64> {
    let mut words = vec![mesh.positions().len() as u64];
    for (place, (position, normal)) in mesh.positions().iter().zip(mesh.normals()).enumerate() {
        words.push(mesh.number(place as u32));
        words.extend(position.iter().chain(normal).map(|number| u64::from(number.to_bits())));
    }
    words.extend(mesh.triangles().iter().flatten().map(|&vertex| mesh.number(vertex)));
    words
}

/// Random samples from 0 to 1, by the formula of the reference numbers.
pub(crate) fn noise(n: i64) -> Field<f32> {
    Field::new([n; 3], |[x, y, z]| random((x + n * (y + n * z)) as u32))
}

pub(crate) fn random(index: u32) -> f32 {
    let state = index.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let word = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    (((word >> 22) ^ word) >> 8) as f32 / (1 << 24) as f32
}
