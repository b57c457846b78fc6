use super::RegionError;
use crate::extents::Index;

/// Invalid or mismatched operands of an operation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A region is malformed or outside of its array.
    #[error("{operand}: {source}")]
    Region {
        /// Operand name.
        operand: &'static str,
        /// Region error.
        source: RegionError,
    },
    /// The source and the destination have different extents.
    #[error(
        "source {src} has {src_extents} cells but destination {dst} has {dst_extents}{}; they must agree axis by axis",
        permuted.as_ref().map_or(String::new(), |order| permuted_note(src_extents, order))
    )]
    Extents {
        /// The source region.
        src: String,
        /// Extents of the source region.
        src_extents: Index,
        /// The destination region.
        dst: String,
        /// Extents of the destination region.
        dst_extents: Index,
        /// The axis permutation, if any.
        permuted: Option<Vec<usize>>,
    },
    /// Source and destination have different numbers of axes.
    #[error("the source has {src} axes, the destination {dst}; a copy needs the same number")]
    Axes {
        /// Number of axes of the source.
        src: usize,
        /// Number of axes of the destination.
        dst: usize,
    },
    /// The axis permutation is not a permutation of all axes.
    #[error("{given:?} does not re-order {axes} axes; each of 0 to {} must occur once", axes - 1)]
    Permutation {
        /// The list of axes.
        given: Vec<usize>,
        /// Number of axes.
        axes: usize,
    },
    /// Two arrays have different numbers of ranks.
    #[error("an array is spread over {given} ranks where {expected} are expected")]
    Ranks {
        /// Number of ranks of the array.
        given: usize,
        /// Number of ranks of the first array.
        expected: usize,
    },
    /// A rank does not exist.
    #[error("there is no rank {rank}; the world has {ranks} ranks")]
    NoSuchRank {
        /// Rank.
        rank: usize,
        /// Number of ranks.
        ranks: usize,
    },
    /// A ghost update has the same chunks twice.
    #[error(
        "the ghost update names array {first:?} and again {again:?}, which are the same chunks; each may take part once"
    )]
    GhostsTwice {
        /// Name of the first handle.
        first: String,
        /// Name of the second handle.
        again: String,
    },
    /// The component axis is not an axis of the array.
    #[error("the component table is for axis {axis} of {table_axes} axes, but the array has {axes}")]
    ComponentAxis {
        /// Component axis.
        axis: usize,
        /// Number of axes of the table.
        table_axes: usize,
        /// Number of axes of the array.
        axes: usize,
    },
    /// The component axis has ghost cells.
    #[error("the component axis {axis} has ghost widths ({before}, {behind}); it must have none")]
    ComponentGhosts {
        /// Component axis.
        axis: usize,
        /// Ghost width before the chunk.
        before: i64,
        /// Ghost width after the chunk.
        behind: i64,
    },
    /// A component of a list does not exist.
    #[error("the list for direction {direction:?} names component {component}, but axis {axis} has {count}")]
    Component {
        /// The direction: −1, 0 or 1 per axis.
        direction: Vec<i8>,
        /// Component.
        component: i64,
        /// Component axis.
        axis: usize,
        /// Number of components.
        count: i64,
    },
    /// A partner pattern has no participants, or a radix less than two.
    #[error("a partner pattern over {count} chunks with radix {radix}; it needs at least 1 chunk and radix 2")]
    Pattern {
        /// Number of participants.
        count: usize,
        /// Radix.
        radix: usize,
    },
    /// The plans of all ranks are inconsistent: a bug of a planner, found by the oracle.
    #[error("plans do not agree: {0}")]
    Disagree(String),
}

impl PlanError {
    /// Error for a source and a destination, by their names, with different extents.
    pub fn extents(src: String, src_extents: Index, dst: String, dst_extents: Index) -> Self {
        Self::Extents { src, src_extents, dst, dst_extents, permuted: None }
    }
}

/// Extents that a destination with this axis permutation needs, as text.
fn permuted_note(extents: &Index, order: &[usize]) -> String {
    let wanted = Index::from_fn(order.len(), |axis| extents[order[axis]]);
    format!(" where {wanted} are wanted, as its axes take source axes {order:?}")
}
