//! [`BrickPoints`]: numbers of the points that the cells of a brick use. In kernels:
//! `shaders/points/brick_points.wgsl`.

use super::numbering::{Brick, Numbering};
use crate::field::block::{BRICK, row};
use crate::field::bricked_chunk::BrickedChunk;

/// Number of rows of a brick and of the next rows.
pub(crate) const ROWS_AND_NEXT: usize = (BRICK[1] + 1) * (BRICK[2] + 1);

/// Numbers of points that begin at the samples of a brick and at the next samples.
pub(crate) struct BrickPoints<const K: usize> {
    /// Per kind and row: bits of the samples with points, and number of the first point.
    rows: [[(u32, u32); ROWS_AND_NEXT]; K],
    /// Per kind and row: number of the point at the sample after the row.
    after_row: [[u32; ROWS_AND_NEXT]; K],
    width: usize,
}

/// Start of a point relative to a cell: kind of the point, offset along axis 0, row offset.
#[derive(Clone, Copy)]
pub(crate) struct PointStart(usize, usize, usize);

impl PointStart {
    pub(crate) const NONE: Self = Self(0, 0, 0);

    /// Start of points of a kind at a corner of the cell.
    pub(crate) const fn new(kind: usize, corner: u8) -> Self {
        let corner = corner as usize;
        Self(kind, corner & 1, (corner >> 2) * (BRICK[1] + 1) + (corner >> 1 & 1))
    }
}

impl<const K: usize> BrickPoints<K> {
    /// Looks up the points around a brick. `bases`: index of the first own point and ghost.
    pub(crate) fn new(numbering: &Numbering<K>, part: &BrickedChunk, brick: &Brick<K>, bases: [u32; 2]) -> Self {
        let base = |at: [i64; 3]| bases[usize::from(!part.is_own(at))];
        let [width, heights @ ..] = part.samples(brick.at).extents().map(|count| count as usize);
        let mut near = Self { rows: [[(0, 0); ROWS_AND_NEXT]; K], after_row: [[0; ROWS_AND_NEXT]; K], width };
        for [i, j, k] in (0..8).map(|corner| [corner & 1, corner >> 1 & 1, corner >> 2]) {
            let at = [brick.at[0] + i, brick.at[1] + j, brick.at[2] + k];
            if (0..3).any(|axis| at[axis] >= part.bricks()[axis]) {
                continue;
            }
            let Some(found) = numbering.brick(part, at) else { continue };
            let rows = |next: i64, height: usize| if next == 0 { 0..height } else { height..height + 1 };
            for z in rows(k, heights[1]) {
                for y in rows(j, heights[0]) {
                    let from = row(y - heights[0] * j as usize, z - heights[1] * k as usize);
                    let to = z * (BRICK[1] + 1) + y;
                    for kind in 0..K {
                        let first = base(at) + found.first_of_row(kind, from);
                        match i {
                            0 => near.rows[kind][to] = (found.words[kind][from], first),
                            _ => near.after_row[kind][to] = first,
                        }
                    }
                }
            }
        }
        near
    }

    /// Number of an existing point, for the cell at a position.
    #[inline]
    pub(crate) fn number(&self, PointStart(kind, further, rows): PointStart, [x, y, z]: [usize; 3]) -> u32 {
        let (x, row) = (x + further, z * (BRICK[1] + 1) + y + rows);
        if x >= self.width {
            return self.after_row[kind][row];
        }
        let (word, first) = self.rows[kind][row];
        first + (word & ((1 << x) - 1)).count_ones()
    }
}
