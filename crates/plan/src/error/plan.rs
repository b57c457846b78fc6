use super::RegionError;
use crate::extents::Index;

/// The operands of an operation do not go together.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// One of the regions does not fit its array.
    #[error("{operand}: {source}")]
    Region {
        /// Which operand.
        operand: &'static str,
        /// What is wrong.
        source: RegionError,
    },
    /// The two ends have different extents.
    #[error(
        "source {src} has {src_extents} cells but destination {dst} has {dst_extents}{}; they must agree axis by axis",
        permuted.as_ref().map_or(String::new(), |order| permuted_note(src_extents, order))
    )]
    Extents {
        /// The source region.
        src: String,
        /// Its extents.
        src_extents: Index,
        /// The destination region.
        dst: String,
        /// Its extents.
        dst_extents: Index,
        /// The axis permutation, if any.
        permuted: Option<Vec<usize>>,
    },
    /// Source and destination have different numbers of axes.
    #[error("the source has {src} axes, the destination {dst}; a copy needs the same number")]
    Axes {
        /// Axes of the source.
        src: usize,
        /// Axes of the destination.
        dst: usize,
    },
    /// The axis permutation is none.
    #[error("{given:?} does not re-order {axes} axes; each of 0 to {} must stand in it once", axes - 1)]
    Permutation {
        /// What was given.
        given: Vec<usize>,
        /// Number of axes.
        axes: usize,
    },
    /// Arrays of different worlds, or a rank outside of theirs.
    #[error("an array is spread over {given} ranks where {expected} are expected")]
    Ranks {
        /// Ranks of one array.
        given: usize,
        /// Ranks of the other.
        expected: usize,
    },
    /// A rank that does not exist.
    #[error("there is no rank {rank}; the world has {ranks} ranks")]
    NoSuchRank {
        /// The rank.
        rank: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// One array, or handles of the same chunks, twice in a ghost update.
    #[error(
        "the ghost update names array {first:?} and again {again:?}, which are the same chunks; each may take part once"
    )]
    GhostsTwice {
        /// What it is called the first time.
        first: String,
        /// What it is called the second time.
        again: String,
    },
    /// The component axis is not an axis of the array.
    #[error("the component table is for axis {axis} of {table_axes} axes, but the array has {axes}")]
    ComponentAxis {
        /// The component axis.
        axis: usize,
        /// Axes of the table.
        table_axes: usize,
        /// Axes of the array.
        axes: usize,
    },
    /// The component axis has ghosts.
    #[error("the component axis {axis} has ghost widths ({before}, {behind}); it must have none")]
    ComponentGhosts {
        /// The component axis.
        axis: usize,
        /// Width before.
        before: i64,
        /// Width behind.
        behind: i64,
    },
    /// A component list names a component that does not exist.
    #[error("the list for direction {direction:?} names component {component}, but axis {axis} has {count}")]
    Component {
        /// The direction, one number per axis.
        direction: Vec<i8>,
        /// The component.
        component: i64,
        /// The component axis.
        axis: usize,
        /// Number of components.
        count: i64,
    },
    /// A pattern over no participants, or with a radix below two.
    #[error("a partner pattern over {count} chunks with radix {radix}; it needs at least 1 chunk and radix 2")]
    Pattern {
        /// Participants.
        count: usize,
        /// The radix.
        radix: usize,
    },
    /// Plans given to the oracle do not fit together: a defect of a planner.
    #[error("plans do not agree: {0}")]
    Disagree(String),
}

impl PlanError {
    /// A source and a destination, as they are called, of different extents.
    pub fn extents(src: String, src_extents: Index, dst: String, dst_extents: Index) -> Self {
        Self::Extents { src, src_extents, dst, dst_extents, permuted: None }
    }
}

/// What a destination should be like whose axes take the source's in this order.
fn permuted_note(extents: &Index, order: &[usize]) -> String {
    let wanted = Index::from_fn(order.len(), |axis| extents[order[axis]]);
    format!(" where {wanted} are wanted, as its axes take source axes {order:?}")
}
