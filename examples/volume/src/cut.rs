//! How the volume is cut, who owns the chunks, and the sizes of the command line.

use zippy::error::LayoutError;
use zippy::ownership::Ownership;
use zippy::{Layout, Split};

use super::irregular::{self, Owned};
use super::sizes::AXES;
pub use super::sizes::{extents, number, pixels, voxels};

/// More chunks than this are a mistake.
const MOST_CHUNKS: usize = 1 << 16;

/// How the volume is cut into chunks.
#[derive(Debug, Clone, PartialEq)]
pub enum Cut {
    /// Near-cubic chunks.
    Auto,
    /// Axis by axis.
    Axes([Split; 3]),
    /// A k-d tree with uneven cuts and so many leaves; `None`: as many as there are chunks wanted.
    Tree(Option<usize>),
    /// Interlocking bars.
    Bars,
    /// L-shapes.
    Angles,
}

/// How the volume is spread over the ranks.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition {
    pub cut: Cut,
    /// Chunks for each rank; the cut has its own idea where this is `None`.
    pub per_rank: Option<usize>,
    /// So many ranks, the last ones, own nothing.
    pub idle: usize,
}

impl Decomposition {
    /// The volume as little cut as buffers allow.
    pub const WHOLE: Self = Self { cut: Cut::Auto, per_rank: None, idle: 0 };

    /// The layout of a volume of `shape` voxels of `voxel_bytes` bytes on `ranks` ranks with buffers of up to
    /// `buffer_bytes`, and the owners of its chunks.
    ///
    /// # Errors
    /// Cuts that do not fit the volume, more chunks than anybody wants, a chunk that fits no buffer.
    pub fn layout(
        &self,
        shape: [i64; 3],
        ranks: usize,
        voxel_bytes: usize,
        buffer_bytes: u64,
    ) -> Result<(Layout, Ownership), LayoutError> {
        let working = ranks.saturating_sub(self.idle).max(1);
        let wanted = working.saturating_mul(self.per_rank.unwrap_or(1));
        let too_many = |given: usize| LayoutError::TooManyChunks { given: given as u128, limit: MOST_CHUNKS };
        let leaves = if let Cut::Tree(Some(leaves)) = self.cut { leaves } else { wanted };
        if leaves > MOST_CHUNKS {
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
            Cut::Tree(_) => return boxed(uncut, irregular::tree(shape, leaves, working), ranks),
            Cut::Bars => return boxed(uncut, irregular::bars(shape, self.per_rank.unwrap_or(3), working), ranks),
            Cut::Angles => return boxed(uncut, irregular::angles(shape, working), ranks),
        };
        let count = layout.resolve(working, voxel_bytes, buffer_bytes)?.count();
        if count > MOST_CHUNKS {
            return Err(too_many(count));
        }
        let balanced = Ownership::balanced(count, working);
        let table = (0..count).map(|chunk| balanced.owner(chunk).rank).collect();
        Ok((layout, Ownership::table(table, ranks)?))
    }
}

fn boxed(uncut: Layout, owned: Owned, ranks: usize) -> Result<(Layout, Ownership), LayoutError> {
    let (boxes, owners): (Vec<_>, Vec<_>) = owned.into_iter().unzip();
    Ok((uncut.boxes(boxes), Ownership::table(owners, ranks)?))
}

/// Reads `kd`, `kd:12`, `bars` or `ell`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn irregular(text: &str) -> Result<Cut, String> {
    match text.split_once(':') {
        None if text == "kd" => Ok(Cut::Tree(None)),
        None if text == "bars" => Ok(Cut::Bars),
        None if text == "ell" => Ok(Cut::Angles),
        Some(("kd", leaves)) => Ok(Cut::Tree(Some(number(leaves, 1)? as usize))),
        _ => Err("one of kd, kd:N, bars, ell".into()),
    }
}

/// Reads `auto` or three cuts: `2x2x1`, `10+246,1,64+64`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn cut(text: &str) -> Result<Cut, String> {
    if text == "auto" {
        return Ok(Cut::Auto);
    }
    let axes: Vec<Split> = text.split(AXES).map(axis).collect::<Result<_, _>>()?;
    let count = axes.len();
    let axes = axes.try_into().map_err(|_| format!("{count} axes are cut; a volume has 3, as in 2x2x1"))?;
    Ok(Cut::Axes(axes))
}

/// One number: even parts. Numbers joined by plus: the sizes of the parts.
fn axis(text: &str) -> Result<Split, String> {
    let sizes: Vec<i64> = text.split('+').map(|size| number(size, 0)).collect::<Result<_, _>>()?;
    match sizes[..] {
        [0] => Err("an axis is cut into at least 1 part".into()),
        [parts] => Ok(Split::Even(parts as usize)),
        _ => Ok(Split::Sizes(sizes)),
    }
}
