//! Queries: the nearest points of points, and the points in boxes.

use zippy::World;
use zippy::collective::CollectiveWorld;
use zippy::error::{CallSite, KdTreeError, Result};

use super::KdTree;
use super::local_tree::{LocalTree, Neighbour};
use super::nodes::Nodes;
use super::point::{Bounds, Point, Position};
use super::read_points::position_text;
use super::remote_queries::{RemoteQueries, RemoteQuery};
use crate::vectors::{Vector, Vectors};

impl Vectors<'_> {
    /// Finds the `k` nearest points of each query, sorted by distance and then index; all points if
    /// there are fewer than `k`. Collective: each rank passes its own queries, in any number, and
    /// gets their answers. `k` is the same on every rank.
    ///
    /// The result is exact with respect to [`Neighbour::squared_distance`]; ties are resolved by
    /// index.
    ///
    /// Cost: a query is sent to the rank that owns a leaf around or near the query. Then it is
    /// sent, with the distance of the last point found, to the ranks with leaves within that
    /// distance. Each transfer of a query takes 28 bytes, and each point found takes 16 bytes.
    /// There are four messages per pair of ranks, plus O(log ranks). The hosts do the search, in
    /// O(log points) per query except for ties. They read their points on first use and keep them
    /// (about 40 bytes each).
    ///
    /// # Errors
    /// * `k` is 0.
    /// * A query that is not finite: its rank reports it, the other ranks return
    ///   [`ErrorKind::Remote`](zippy::error::ErrorKind::Remote), and the world remains usable.
    /// * A failure of any rank.
    ///
    /// See [`kdtree`](Self::kdtree) for an example.
    #[track_caller]
    pub fn nearest<P: Point>(&self, tree: &KdTree<P>, queries: &[P], k: usize) -> Result<Vec<Vec<Neighbour>>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("nearest");
        if k == 0 {
            return Err(KdTreeError::NoNeighbours.into());
        }
        let queries = positions_of_points(queries);
        let check = check_finite::<P>(&queries);
        self.query("nearest", tree, k as u64, check, |nodes, local| {
            find_nearest(self.world(), nodes, local, &queries, k)
        })
    }

    /// Finds the points whose squared distance to a query is at most the square of `radius`
    /// (rounded to `f32`), sorted by distance and then index. Collective; cost as
    /// [`nearest`](Self::nearest), but each query is sent only once to each rank in its radius.
    ///
    /// # Errors
    /// A radius that is negative or a NaN; otherwise as [`nearest`](Self::nearest).
    #[track_caller]
    pub fn within<P: Point>(&self, tree: &KdTree<P>, queries: &[P], radius: f32) -> Result<Vec<Vec<Neighbour>>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("within");
        if radius.is_nan() || radius < 0.0 {
            return Err(KdTreeError::Radius { given: radius }.into());
        }
        let queries = positions_of_points(queries);
        let check = check_finite::<P>(&queries);
        let find = |nodes: &Nodes, local: &LocalTree| find_within(self.world(), nodes, local, &queries, radius);
        self.query("within", tree, radius.to_bits(), check, find)
    }

    /// Finds the ascending indices of the points in each box. A box is given by its lower and its
    /// upper corner, both inclusive, and may be infinite. Collective: each rank passes its own
    /// boxes and gets their answers. Cost as [`within`](Self::within).
    ///
    /// # Errors
    /// * A box whose end is before its start, or with a NaN: its rank reports it, the other ranks
    ///   return [`ErrorKind::Remote`](zippy::error::ErrorKind::Remote), and the world remains
    ///   usable.
    /// * A failure of any rank.
    #[track_caller]
    pub fn in_boxes<P: Point>(&self, tree: &KdTree<P>, boxes: &[[P; 2]]) -> Result<Vec<Vec<u64>>> {
        let _call = CallSite::enter();
        let _operation = self.world().enter_operation("in_boxes");
        let boxes: Vec<Bounds> =
            boxes.iter().map(|corners| corners.map(Point::position)).map(|[low, high]| Bounds { low, high }).collect();
        let check = check_boxes(&boxes);
        self.query("in_boxes", tree, 0, check, |nodes, local| find_inside(self.world(), nodes, local, &boxes))
    }

    /// Runs a query as a collective. All ranks receive the error of an invalid argument before
    /// anything is sent.
    fn query<P: Point, R>(
        &self,
        verb: &'static str,
        tree: &KdTree<P>,
        argument: impl std::hash::Hash,
        check: Result<()>,
        find: impl FnOnce(&Nodes, &LocalTree) -> Result<R>,
    ) -> Result<R> {
        let named = vec![Vector::from(tree.points()).named()?];
        self.collective(verb, named, argument, || match self.world().agree_within(verb, check)? {
            Err(mistake) => Ok(Err(mistake)),
            Ok(()) => find(tree.nodes(), tree.local()?).map(Ok),
        })?
    }
}

fn find_nearest(
    world: &World,
    nodes: &Nodes,
    local: &LocalTree,
    queries: &[Position],
    k: usize,
) -> Result<Vec<Vec<Neighbour>>> {
    let home: Vec<Option<usize>> =
        queries.iter().map(|query| nodes.leaf_near(query).map(|leaf| nodes.rank_of(leaf))).collect();
    let mut remote_queries = RemoteQueries::default();
    for (query, (position, home)) in queries.iter().zip(&home).enumerate() {
        if let Some(rank) = home {
            remote_queries.add(*rank, query, query_at(*position, f32::INFINITY));
        }
    }
    let answer = |remote_query: &RemoteQuery| local.closest(&remote_query.bounds.low, remote_query.within, k);
    let mut all = vec![Vec::new(); queries.len()];
    remote_queries.exchange(world, answer, |query, found| all[query] = found)?;
    let reach = |query: usize| match all[query].get(k - 1) {
        Some(Neighbour { squared_distance, .. }) => *squared_distance,
        None => f32::INFINITY,
    };
    let remote_queries = queries_in_reach(nodes, queries, reach, |query| home[query]);
    remote_queries.exchange(world, answer, |query, found| all[query].extend(found))?;
    for found in &mut all {
        found.sort_unstable_by_key(Neighbour::order);
        found.truncate(k);
    }
    Ok(all)
}

fn find_within(
    world: &World,
    nodes: &Nodes,
    local: &LocalTree,
    queries: &[Position],
    radius: f32,
) -> Result<Vec<Vec<Neighbour>>> {
    let remote_queries = queries_in_reach(nodes, queries, |_| radius * radius, |_| None);
    let answer = |remote_query: &RemoteQuery| local.closest(&remote_query.bounds.low, remote_query.within, usize::MAX);
    let mut all = vec![Vec::new(); queries.len()];
    remote_queries.exchange(world, answer, |query, found| all[query].extend(found))?;
    all.iter_mut().for_each(|found| found.sort_unstable_by_key(Neighbour::order));
    Ok(all)
}

fn find_inside(world: &World, nodes: &Nodes, local: &LocalTree, boxes: &[Bounds]) -> Result<Vec<Vec<u64>>> {
    let mut remote_queries = RemoteQueries::default();
    for (query, &bounds) in boxes.iter().enumerate() {
        let found = |rank| remote_queries.add(rank, query, RemoteQuery { bounds, within: 0.0 });
        nodes.ranks(|node| node.meets(&bounds), found);
    }
    let answer = |remote_query: &RemoteQuery| {
        let found = local.inside(&remote_query.bounds).into_iter();
        found.map(|index| Neighbour { index, squared_distance: 0.0 }).collect()
    };
    let mut all = vec![Vec::new(); boxes.len()];
    remote_queries.exchange(world, answer, |query, found| {
        all[query].extend(found.into_iter().map(|neighbour| neighbour.index))
    })?;
    all.iter_mut().for_each(|found| found.sort_unstable());
    Ok(all)
}

fn query_at(position: Position, within: f32) -> RemoteQuery {
    RemoteQuery { bounds: Bounds { low: position, high: position }, within }
}

/// Creates the remote queries to all ranks with boxes within the reach of a query, except one rank
/// per query.
fn queries_in_reach(
    nodes: &Nodes,
    queries: &[Position],
    reach: impl Fn(usize) -> f32,
    excluded: impl Fn(usize) -> Option<usize>,
) -> RemoteQueries {
    let mut remote_queries = RemoteQueries::default();
    for (query, position) in queries.iter().enumerate() {
        let (reach, excluded) = (reach(query), excluded(query));
        let add = |rank| {
            if excluded != Some(rank) {
                remote_queries.add(rank, query, query_at(*position, reach));
            }
        };
        nodes.ranks(|bounds| bounds.squared_distance(position) <= reach, add);
    }
    remote_queries
}

fn positions_of_points<P: Point>(points: &[P]) -> Vec<Position> {
    points.iter().map(|point| point.position()).collect()
}

fn check_finite<P: Point>(queries: &[Position]) -> Result<()> {
    match queries.iter().position(|position| position.iter().any(|x| !x.is_finite())) {
        None => Ok(()),
        Some(query) => {
            let position = position_text::<P>(&queries[query]);
            Err(KdTreeError::NotFinite { what: format!("query {query}"), position }.into())
        }
    }
}

/// Fails if the upper corner of a box is below its lower corner.
fn check_boxes(boxes: &[Bounds]) -> Result<()> {
    for (query, Bounds { low, high }) in boxes.iter().enumerate() {
        let backwards = |axis: &usize| low[*axis].is_nan() || high[*axis].is_nan() || low[*axis] > high[*axis];
        if let Some(axis) = (0..3).find(backwards) {
            let (low, high) = (low[axis], high[axis]);
            return Err(KdTreeError::Backwards { query, axis, low, high }.into());
        }
    }
    Ok(())
}
