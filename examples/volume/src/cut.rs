//! Decomposition of the volume into chunks, and ownership of the chunks.

use zippy::error::LayoutError;
use zippy::ownership::Ownership;
use zippy::{Layout, Split};

use super::irregular_cuts::{self, OwnedBoxes};
use super::sizes::AXES;
pub use super::sizes::{extents, number, pixels, voxels};

/// Maximum number of chunks. A larger number is a mistake in the options.
const MAX_CHUNKS: usize = 1 << 16;

/// Division of the volume into chunks.
#[derive(Debug, Clone, PartialEq)]
pub enum Cut {
    /// Near-cubic chunks.
    Auto,
    /// A grid: the parts of each axis.
    Axes([Split; 3]),
    /// A k-d tree with uneven cuts and this number of leaves; `None`: one leaf for each chunk.
    Tree(Option<usize>),
    /// Layers of bars in alternating directions (see [`irregular_cuts::bars`]).
    Bars,
    /// Nested L-shapes (see [`irregular_cuts::l_shapes`]).
    LShapes,
}

/// Division of the volume and its distribution over the ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition {
    pub cut: Cut,
    /// Chunks for each rank; `None`: the default of the cut.
    pub per_rank: Option<usize>,
    /// Number of ranks, the last ones, that own no chunk.
    pub idle: usize,
}

impl Decomposition {
    /// The volume uncut, or with as few chunks as buffers allow.
    pub const WHOLE: Self = Self { cut: Cut::Auto, per_rank: None, idle: 0 };

    /// Layout and ownership of a volume of `shape` voxels on `ranks` ranks. A voxel has
    /// `voxel_bytes` bytes; `buffer_bytes` is the limit of a buffer.
    ///
    /// # Errors
    /// The cut does not fit the shape; more than 65,536 chunks; a chunk larger than a buffer.
    pub fn layout(
        &self,
        shape: [i64; 3],
        ranks: usize,
        voxel_bytes: usize,
        buffer_bytes: u64,
    ) -> Result<(Layout, Ownership), LayoutError> {
        let working = ranks.saturating_sub(self.idle).max(1);
        let wanted = working.saturating_mul(self.per_rank.unwrap_or(1));
        let too_many = |count: usize| LayoutError::TooManyChunks { given: count as u128, limit: MAX_CHUNKS };
        let leaves = if let Cut::Tree(Some(leaves)) = self.cut { leaves } else { wanted };
        if leaves > MAX_CHUNKS {
            return Err(too_many(leaves));
        }
        let uncut = Layout::new(shape);
        let layout = match &self.cut {
            Cut::Axes(splits) => uncut.split(splits.clone()),
            Cut::Auto => {
                let chunks = uncut.resolve(wanted, voxel_bytes, buffer_bytes)?;
                match chunks.grid() {
                    Some(grid) => uncut.split::<3>(std::array::from_fn(|axis| Split::Even(grid[axis] as usize))),
                    None => uncut.boxes((0..chunks.count()).map(|chunk| chunks.region(chunk)).collect()),
                }
            }
            Cut::Tree(_) => return box_layout(uncut, irregular_cuts::tree(shape, leaves, working), ranks),
            Cut::Bars => {
                return box_layout(uncut, irregular_cuts::bars(shape, self.per_rank.unwrap_or(3), working), ranks);
            }
            Cut::LShapes => return box_layout(uncut, irregular_cuts::l_shapes(shape, working), ranks),
        };
        let count = layout.resolve(working, voxel_bytes, buffer_bytes)?.count();
        if count > MAX_CHUNKS {
            return Err(too_many(count));
        }
        let balanced = Ownership::balanced(count, working);
        let table = (0..count).map(|chunk| balanced.owner(chunk).rank).collect();
        Ok((layout, Ownership::table(table, ranks)?))
    }
}

fn box_layout(uncut: Layout, owned: OwnedBoxes, ranks: usize) -> Result<(Layout, Ownership), LayoutError> {
    let (boxes, owners): (Vec<_>, Vec<_>) = owned.into_iter().unzip();
    Ok((uncut.boxes(boxes), Ownership::table(owners, ranks)?))
}

/// Parses `kd`, `kd:12`, `bars` or `ell`.
///
/// # Errors
/// A message for the command line.
pub fn parse_cut(text: &str) -> Result<Cut, String> {
    match text.split_once(':') {
        None if text == "kd" => Ok(Cut::Tree(None)),
        None if text == "bars" => Ok(Cut::Bars),
        None if text == "ell" => Ok(Cut::LShapes),
        Some(("kd", leaves)) => Ok(Cut::Tree(Some(number(leaves, 1)? as usize))),
        _ => Err("one of kd, kd:N, bars, ell".into()),
    }
}

/// Parses `auto` or three cuts: `2x2x1`, `10+246,1,64+64`.
///
/// # Errors
/// A message for the command line.
pub fn parse_split(text: &str) -> Result<Cut, String> {
    if text == "auto" {
        return Ok(Cut::Auto);
    }
    let axes: Vec<Split> = text.split(AXES).map(parse_axis).collect::<Result<_, _>>()?;
    let count = axes.len();
    let axes = axes.try_into().map_err(|_| format!("{count} axes; a volume has 3, as in 2x2x1"))?;
    Ok(Cut::Axes(axes))
}

/// Parses the cut of an axis: a number of equal parts, or the sizes of the parts joined by `+`.
fn parse_axis(text: &str) -> Result<Split, String> {
    let sizes: Vec<i64> = text.split('+').map(|size| number(size, 0)).collect::<Result<_, _>>()?;
    match sizes[..] {
        [0] => Err("an axis has at least 1 part".into()),
        [parts] => Ok(Split::Even(parts as usize)),
        _ => Ok(Split::Sizes(sizes)),
    }
}
