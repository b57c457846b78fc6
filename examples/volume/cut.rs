//! How the volume is cut, and the other sizes of the command line.

use zippy::error::LayoutError;
use zippy::{Layout, Split};

/// More chunks than this are a mistake: each has a partial picture of full size.
const MOST_CHUNKS: usize = 4096;

/// How the volume is cut into chunks.
#[derive(Debug, Clone, PartialEq)]
pub enum Cut {
    /// Near-cubic chunks, one for each rank.
    Auto,
    /// Near-cubic chunks, this many for each rank.
    PerRank(usize),
    /// Axis by axis.
    Axes([Split; 3]),
}

impl Cut {
    /// The layout of a volume of `shape` voxels of `voxel_bytes` bytes, in buffers of up to `buffer_bytes`. Every chunk
    /// has one ghost cell on the upper side of each axis: what it takes to interpolate in its last cells.
    ///
    /// # Errors
    /// Cuts that do not fit the volume, more chunks than anybody wants, a chunk that fits no buffer.
    pub fn layout(
        &self,
        shape: [i64; 3],
        ranks: usize,
        voxel_bytes: usize,
        buffer_bytes: u64,
    ) -> Result<Layout, LayoutError> {
        let uncut = Layout::new(shape).ghost_sides([(0, 1); 3]);
        let splits = match self {
            Self::Axes(splits) => splits.clone(),
            Self::Auto | Self::PerRank(_) => {
                let wanted = if let Self::PerRank(count) = self { ranks.saturating_mul(*count) } else { ranks };
                let chunks = uncut.resolve(wanted, voxel_bytes, buffer_bytes)?;
                // A layout without cuts by boxes is a grid.
                let grid = chunks.grid().unwrap_or(chunks.shape());
                std::array::from_fn(|axis| Split::Even(grid[axis] as usize))
            }
        };
        let layout = uncut.split(splits);
        let given = layout.resolve(ranks, voxel_bytes, buffer_bytes)?.count();
        if given > MOST_CHUNKS {
            return Err(LayoutError::TooManyChunks { given: given as u128, limit: MOST_CHUNKS });
        }
        Ok(layout)
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
    let axes: Vec<Split> = text.split(['x', ',']).map(axis).collect::<Result<_, _>>()?;
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

/// Reads `64` or `64x80x72`, the voxels of the phantom.
///
/// # Errors
/// What is wrong, for the command line.
pub fn extents(text: &str) -> Result<[i64; 3], String> {
    let numbers: Vec<i64> = text.split('x').map(|size| number(size, 1)).collect::<Result<_, _>>()?;
    let shape = match numbers[..] {
        [side] => [side; 3],
        [x, y, z] => [x, y, z],
        _ => return Err("one number or three, as in 64x80x72".into()),
    };
    let voxels = shape.iter().try_fold(1_i64, |voxels, &side| voxels.checked_mul(side));
    voxels.filter(|&voxels| voxels <= 1 << 32).map(|_| shape).ok_or_else(|| "at most 2^32 voxels".into())
}

/// Reads `512x512`, the pixels of the picture.
///
/// # Errors
/// What is wrong, for the command line.
pub fn pixels(text: &str) -> Result<(u32, u32), String> {
    let (width, height) = text.split_once('x').ok_or("width and height, as in 512x512")?;
    let side = |text| match number(text, 1)? {
        side if side <= 16384 => Ok(side as u32),
        side => Err(format!("{side} pixels; a side has at most 16384")),
    };
    Ok((side(width)?, side(height)?))
}

fn number(text: &str, least: i64) -> Result<i64, String> {
    match text.parse() {
        Ok(number) if number >= least => Ok(number),
        Ok(number) => Err(format!("{number} is less than {least}")),
        Err(_) => Err(format!("{text:?} is not a whole number")),
    }
}
