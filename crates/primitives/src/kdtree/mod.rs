//! k-d trees of points, queries of them, and cuts of grids with balanced numbers of points.
//!
//! A tree has any number of leaves. Each inner node is cut in two along the axis with the largest
//! spread of its points. The numbers of points per leaf differ by at most one for any points:
//! points with equal coordinates keep their order. Therefore the tree depends only on the points,
//! their order and the number of leaves, not on the number of ranks.

mod balance;
mod build;
mod local_tree;
mod neighbours;
mod nodes;
mod plane_search;
mod point;
mod queries;
mod read_points;
mod remote_queries;

use std::cell::OnceCell;

use zippy::World;
use zippy::array::{GlobalArray, GlobalSection};
use zippy::collective::CollectiveWorld;
use zippy::error::{CallSite, KdTreeError, Result};

pub use self::balance::BalancedBoxes;
use self::build::{build, layout};
use self::local_tree::LocalTree;
pub use self::local_tree::Neighbour;
use self::nodes::Nodes;
pub use self::nodes::{Cut, Node};
use self::point::IndexedPoint;
pub use self::point::{Bounds, Point, Position};
use self::read_points::first_violation;
use super::vectors::{IntoVector, Span, Vector, Vectors, fitted};

/// Maximum number of leaves of a k-d tree: every rank stores a list of all nodes.
const MAX_LEAVES: usize = 1 << 24;

/// A k-d tree of points distributed over all ranks. Created by [`Vectors::kdtree`].
pub struct KdTree<P> {
    nodes: Nodes,
    points: GlobalArray<P, 1>,
    indices: GlobalArray<[u32; 2], 1>,
    local: OnceCell<LocalTree>,
}

impl<P: Point> KdTree<P> {
    /// Returns the nodes of the tree, level by level, the root first. The same on every rank.
    pub fn all_nodes(&self) -> &[Node] {
        &self.nodes.all
    }

    /// Returns the number of leaves.
    pub fn leaves(&self) -> usize {
        self.nodes.leaves()
    }

    /// Returns the points in the order of the leaves: leaf *i* of *n* has points `⌊points · i / n⌋`
    /// to `⌊points · (i + 1) / n⌋`.
    ///
    /// Each rank owns one chunk of whole leaves; the numbers of leaves per rank differ by at most
    /// one. Do not write to the array: queries may or may not use the changed values.
    pub fn points(&self) -> &GlobalArray<P, 1> {
        &self.points
    }

    /// Returns the index of each point in the vector from which the tree was built, as the two
    /// words of a 64-bit number, the lower one first; cut like [`points`](Self::points).
    pub fn indices(&self) -> &GlobalArray<[u32; 2], 1> {
        &self.indices
    }

    /// Returns the points of a leaf. The operation that uses the section reports a leaf that does
    /// not exist.
    pub fn leaf(&self, leaf: usize) -> GlobalSection<P, 1> {
        let points = if leaf < self.leaves() {
            self.nodes.first_of(leaf)..self.nodes.first_of(leaf + 1)
        } else {
            self.nodes.first_of(self.leaves())..u64::MAX >> 1
        };
        self.points.at(points.start as i64..points.end as i64)
    }

    /// Returns the rank that owns the points of a leaf; `None` if the leaf does not exist.
    pub fn rank_of(&self, leaf: usize) -> Option<usize> {
        (leaf < self.leaves()).then(|| self.nodes.rank_of(leaf))
    }

    fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Returns the search tree over the points of this rank, built on first use.
    fn local(&self) -> Result<&LocalTree> {
        if self.local.get().is_none() {
            let (points, indices) = (self.points.local()?.all().read()?, self.indices.local()?.all().read()?);
            let index = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
            let found = points.iter().zip(indices).map(|(point, words)| (point.position(), index(words)));
            let _ = self.local.set(LocalTree::new(found.collect()));
        }
        Ok(self.local.get().expect("it has just been set"))
    }
}

impl Vectors<'_> {
    /// Builds a k-d tree of points with the given number of leaves, which may exceed the number of
    /// points. Collective.
    ///
    /// A node with several leaves is cut at its middle leaf, along the axis with the largest spread
    /// of its points (the lowest such axis). The points are sorted by that coordinate; points with
    /// equal coordinates keep their order. −0 and +0 are equal. The tree and the order of its
    /// points are the same for every number of ranks and every cut of the points.
    ///
    /// The tree has arrays of its own, `name` and `name: indices`, with one chunk of whole leaves
    /// per rank. Use at least as many leaves as ranks.
    ///
    /// Cost: for each level of nodes one sort of the points ([`sort_pairs`](Self::sort_pairs)) and
    /// one all-reduce of 24 bytes per node; every rank's host reads and writes its points once per
    /// level. Memory during construction: 32 bytes per point on the device, in addition to the
    /// memory of the sort, and the same on the host. Every rank stores all nodes, about 200 bytes
    /// per leaf.
    ///
    /// # Errors
    /// * No leaves, or more than 16,777,216.
    /// * A coordinate that is not finite: all ranks report it, and the world remains usable.
    /// * An invalid section, a name that is in use, too little memory, a failure of any rank.
    ///
    /// ```
    /// # use zippy::{Layout, Split, World};
    /// # use zippy_primitives::Primitives;
    /// # fn program(world: &World) -> zippy::Result<()> {
    /// let points = world.array::<[f32; 2], 1>("points", &Layout::new([100]).split([Split::Auto]))?;
    /// points.fill_with(|[i]| [(i % 10) as f32, (i / 10) as f32])?;
    /// let tree = world.vectors().kdtree("tree", &points, 7)?;
    /// assert!((0..7).all(|leaf| [14, 15].contains(&tree.leaf(leaf).region().unwrap().cells())));
    ///
    /// // Rank 1 alone has a query.
    /// let queries: &[[f32; 2]] = if world.rank() == 1 { &[[3.2, 5.1]] } else { &[] };
    /// for found in world.vectors().nearest(&tree, queries, 3)? {
    ///     assert_eq!(found.iter().map(|one| one.index).collect::<Vec<_>>(), [53, 54, 63]);
    /// }
    /// # Ok(()) }
    /// # zippy::run_with(zippy::Config::threads(3), program).unwrap();
    /// ```
    #[track_caller]
    pub fn kdtree<P: Point>(&self, name: &str, points: impl IntoVector<P>, leaves: usize) -> Result<KdTree<P>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("kdtree");
        let (world, points) = (self.world(), points.into());
        if leaves == 0 || leaves > MAX_LEAVES {
            return Err(KdTreeError::Leaves { given: leaves, most: MAX_LEAVES }.into());
        }
        let named = vec![points.named()?];
        let finite = |position: &Position| position.iter().all(|x| x.is_finite());
        let wrong = self.collective("kdtree", named, (name, leaves), || first_violation(world, &points, finite))?;
        if let Some((what, position)) = wrong {
            return Err(KdTreeError::NotFinite { what, position }.into());
        }
        let mut nodes = Nodes::new(points.cells()?, leaves, world.size());
        let local_points = read_indexed_points(world, name, &points, &nodes)?;
        let local_points = build(*self, name, &mut nodes, local_points)?;
        let points = world.array::<P, 1>(name, &layout(&nodes))?;
        let indices = world.array::<[u32; 2], 1>(&format!("{name}: indices"), &layout(&nodes))?;
        world.failing("kdtree", || {
            points
                .local()?
                .all()
                .write(&local_points.iter().map(|item| P::from_parts(item.parts())).collect::<Vec<_>>())?;
            indices.local()?.all().write(&local_points.iter().map(IndexedPoint::index).collect::<Vec<_>>())
        })?;
        Ok(KdTree { nodes, points, indices, local: OnceCell::new() })
    }
}

/// Reads this rank's points, each with its index, before the sort of the construction.
fn read_indexed_points<P: Point>(
    world: &World,
    name: &str,
    points: &Vector<P>,
    nodes: &Nodes,
) -> Result<Vec<IndexedPoint>> {
    let (mut wanted, mut first) = (Vec::new(), 0);
    for (owner, length) in nodes.lengths().into_iter().enumerate().filter(|(_, length)| *length > 0) {
        wanted.push(Span { cells: first..first + length as u64, owner });
        first += length as u64;
    }
    let copy = fitted(world, &format!("{name}: points"), points, &wanted, true)?;
    world.failing("kdtree", || {
        let first = nodes.first_of(nodes.first_leaf(world.rank()));
        let mut local_points = Vec::new();
        for part in copy.vector.section().local_parts()? {
            local_points.extend(
                (first + local_points.len() as u64..)
                    .zip(part.read()?)
                    .map(|(at, point)| IndexedPoint::new(point.to_parts(), at)),
            );
        }
        Ok(local_points)
    })
}
