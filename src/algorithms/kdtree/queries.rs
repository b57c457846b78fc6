//! Queries: what is close to points, and what is in boxes.

use super::KdTree;
use super::ask::{Question, Questions};
use super::local_tree::{LocalTree, Neighbour};
use super::nodes::Nodes;
use super::own::shown;
use super::point::{Bounds, Point, Position};
use crate::World;
use crate::algorithms::vectors::{Vector, Vectors};
use crate::error::{CallSite, KdTreeError, Result};

impl Vectors<'_> {
    /// The `k` nearest points of each query, sorted by distance, of equally distant ones those with the lowest indices; all
    /// points where there are fewer. Collective: each rank brings its own queries, as many as it likes, and gets the answers
    /// to them. `k` is the same on every rank.
    ///
    /// Exact: what is compared is [`Neighbour::squared_distance`], and ties are decided.
    ///
    /// Cost: a query goes to the rank whose leaf it is in or close to, then, with the distance of the last point found
    /// there, to the ranks that have boxes around leaves so close; 28 bytes each time, 16 for each point found. Four
    /// messages for each pair of ranks and O(log ranks) in all. Searching is done by the hosts, which read their points when
    /// first asked and keep them (about 40 bytes each), in O(log points) for each query but for ties.
    ///
    /// # Errors
    /// `k` is 0; a query is not finite (its rank says which, others have [`ErrorKind::Remote`](crate::error::ErrorKind::Remote), and the
    /// world goes on); a failure of this or of another rank.
    ///
    /// An example stands at [`kdtree`](Self::kdtree).
    #[track_caller]
    pub fn nearest<P: Point>(&self, tree: &KdTree<P>, queries: &[P], k: usize) -> Result<Vec<Vec<Neighbour>>> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("nearest");
        if k == 0 {
            return Err(KdTreeError::NoNeighbours.into());
        }
        let queries = positions(queries);
        let check = finite::<P>(&queries);
        self.query("nearest", tree, k as u64, check, |nodes, local| {
            find_nearest(self.world(), nodes, local, &queries, k)
        })
    }

    /// The points of which the squared distance to a query is at most the square of `radius` (which is rounded to `f32`),
    /// sorted by distance and index. Collective, and costs, as [`nearest`](Self::nearest), but that each query goes once to
    /// the ranks that it reaches.
    ///
    /// # Errors
    /// The radius is negative or a NaN; else as [`nearest`](Self::nearest).
    #[track_caller]
    pub fn within<P: Point>(&self, tree: &KdTree<P>, queries: &[P], radius: f32) -> Result<Vec<Vec<Neighbour>>> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("within");
        if radius.is_nan() || radius < 0.0 {
            return Err(KdTreeError::Radius { given: radius }.into());
        }
        let queries = positions(queries);
        let check = finite::<P>(&queries);
        let find = |nodes: &Nodes, local: &LocalTree| find_within(self.world(), nodes, local, &queries, radius);
        self.query("within", tree, radius.to_bits(), check, find)
    }

    /// The indices of the points in boxes, rising. A box is its lower and its upper corner, both included, and may be
    /// infinite. Collective: each rank brings its own boxes, and gets the answers to them. Costs as
    /// [`within`](Self::within).
    ///
    /// # Errors
    /// A box that ends before it begins, or has a NaN (its rank says which, others have
    /// [`ErrorKind::Remote`](crate::error::ErrorKind::Remote), and the world goes on); a failure of this or of another rank.
    #[track_caller]
    pub fn in_boxes<P: Point>(&self, tree: &KdTree<P>, boxes: &[[P; 2]]) -> Result<Vec<Vec<u64>>> {
        let _call = CallSite::enter();
        let _acting = self.world().acting("in_boxes");
        let boxes: Vec<Bounds> =
            boxes.iter().map(|corners| corners.map(Point::position)).map(|[low, high]| Bounds { low, high }).collect();
        let check = forwards(&boxes);
        self.query("in_boxes", tree, 0, check, |nodes, local| find_inside(self.world(), nodes, local, &boxes))
    }

    /// Runs a query as a collective; mistakes of a rank are told to all before anything is sent.
    fn query<P: Point, R>(
        &self,
        verb: &'static str,
        tree: &KdTree<P>,
        argument: impl std::hash::Hash,
        check: Result<()>,
        find: impl FnOnce(&Nodes, &LocalTree) -> Result<R>,
    ) -> Result<R> {
        let named = vec![Vector::from(tree.points()).named()?];
        self.collective(verb, named, argument, || match self.world().agreed(verb, check)? {
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
        queries.iter().map(|query| nodes.close_to(query).map(|leaf| nodes.rank_of(leaf))).collect();
    let mut questions = Questions::default();
    for (query, (position, home)) in queries.iter().zip(&home).enumerate() {
        if let Some(rank) = home {
            questions.add(*rank, query, at(*position, f32::INFINITY));
        }
    }
    let answer = |question: &Question| local.closest(&question.bounds.low, question.within, k);
    let mut all = vec![Vec::new(); queries.len()];
    questions.ask(world, answer, |query, found| all[query] = found)?;
    let reach = |query: usize| match all[query].get(k - 1) {
        Some(Neighbour { squared_distance, .. }) => *squared_distance,
        None => f32::INFINITY,
    };
    let questions = around(nodes, queries, reach, |query| home[query]);
    questions.ask(world, answer, |query, found| all[query].extend(found))?;
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
    let questions = around(nodes, queries, |_| radius * radius, |_| None);
    let answer = |question: &Question| local.closest(&question.bounds.low, question.within, usize::MAX);
    let mut all = vec![Vec::new(); queries.len()];
    questions.ask(world, answer, |query, found| all[query].extend(found))?;
    all.iter_mut().for_each(|found| found.sort_unstable_by_key(Neighbour::order));
    Ok(all)
}

fn find_inside(world: &World, nodes: &Nodes, local: &LocalTree, boxes: &[Bounds]) -> Result<Vec<Vec<u64>>> {
    let mut questions = Questions::default();
    for (query, &bounds) in boxes.iter().enumerate() {
        let found = |rank| questions.add(rank, query, Question { bounds, within: 0.0 });
        nodes.ranks(|node| node.meets(&bounds), found);
    }
    let answer = |question: &Question| {
        let found = local.inside(&question.bounds).into_iter();
        found.map(|index| Neighbour { index, squared_distance: 0.0 }).collect()
    };
    let mut all = vec![Vec::new(); boxes.len()];
    questions.ask(world, answer, |query, found| all[query].extend(found.into_iter().map(|one| one.index)))?;
    all.iter_mut().for_each(|found| found.sort_unstable());
    Ok(all)
}

fn at(position: Position, within: f32) -> Question {
    Question { bounds: Bounds { low: position, high: position }, within }
}

/// Each query for all ranks that have boxes within its reach, but one.
fn around(
    nodes: &Nodes,
    queries: &[Position],
    reach: impl Fn(usize) -> f32,
    but: impl Fn(usize) -> Option<usize>,
) -> Questions {
    let mut questions = Questions::default();
    for (query, position) in queries.iter().enumerate() {
        let (reach, but) = (reach(query), but(query));
        let add = |rank| {
            if but != Some(rank) {
                questions.add(rank, query, at(*position, reach));
            }
        };
        nodes.ranks(|bounds| bounds.squared_distance(position) <= reach, add);
    }
    questions
}

fn positions<P: Point>(points: &[P]) -> Vec<Position> {
    points.iter().map(|point| point.position()).collect()
}

/// That all queries are finite.
fn finite<P: Point>(queries: &[Position]) -> Result<()> {
    match queries.iter().position(|position| position.iter().any(|x| !x.is_finite())) {
        None => Ok(()),
        Some(query) => {
            let position = shown::<P>(&queries[query]);
            Err(KdTreeError::NotFinite { what: format!("query {query}"), position }.into())
        }
    }
}

/// That no box ends before it begins.
fn forwards(boxes: &[Bounds]) -> Result<()> {
    for (query, Bounds { low, high }) in boxes.iter().enumerate() {
        let backwards = |axis: &usize| low[*axis].is_nan() || high[*axis].is_nan() || low[*axis] > high[*axis];
        if let Some(axis) = (0..3).find(backwards) {
            let (low, high) = (low[axis], high[axis]);
            return Err(KdTreeError::Backwards { query, axis, low, high }.into());
        }
    }
    Ok(())
}
