//! Layers of an image: their boxes of cells, order, bounds in the image, and the positions of their
//! pixels. Pure functions, equal on all ranks.

use zippy::extents::Index;
use zippy::region::Region;

use super::bricks::{BrickBox, CellBox, Lattice, bounding_box, halves};
use super::look::Mode;
use super::order::{Unordered, front_to_back};
use super::view::{View, diagonal};
use crate::error::RenderError;

/// Box of cells of one part of the storage, which becomes a layer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Subvolume {
    /// Index of the part of the storage.
    pub part: usize,
    pub cells: CellBox,
    /// Non-empty bounds of the pixels that the box may cover.
    pub bounds: Region,
}

/// Subvolumes of an image, front first. `visible` returns the visible cells of a brick; `parts` are
/// boxes of bricks.
///
/// # Errors
/// Parts that overlap.
/// Parts that overlap.
pub(super) fn subvolumes(
    view: &View,
    mode: Mode,
    lattice: &Lattice,
    parts: &[BrickBox],
    visible: impl Fn(usize) -> Option<CellBox>,
) -> Result<Vec<Subvolume>, RenderError> {
    let boxes: Vec<(usize, CellBox)> = match mode {
        Mode::Reproducible => {
            let depth = lattice.depth(view);
            let bricks = |(part, bricks)| {
                let visible_cells = |brick| Some((part, brick, visible(brick)?));
                lattice.within(bricks).filter_map(visible_cells).collect::<Vec<_>>()
            };
            let mut all: Vec<_> = parts.iter().enumerate().flat_map(bricks).collect();
            all.sort_by_key(|&(_, brick, _)| (depth(brick), brick));
            all.into_iter().map(|(part, _, cells)| (part, cells)).collect()
        }
        Mode::Fast => {
            let visible_box = |(part, bricks): (usize, BrickBox)| {
                let cells = lattice.within(&bricks).filter_map(&visible).reduce(|a, b| bounding_box(&a, &b))?;
                Some((part, bricks, cells))
            };
            let mut boxes: Vec<_> = parts.iter().copied().enumerate().filter_map(visible_box).collect();
            loop {
                let wide = boxes.iter().map(|(_, _, (low, high))| (low.map(i64::from), high.map(i64::from)));
                match front_to_back(&wide.collect::<Vec<_>>(), view) {
                    Ok(order) => break order.into_iter().map(|index| (boxes[index].0, boxes[index].2)).collect(),
                    // Boxes that hide each other in a cycle are halved, finally to bricks, which
                    // have an order.
                    Err(Unordered::Ring(ring)) if ring.iter().any(|&index| halves(&boxes[index].1).is_some()) => {
                        let cut = |index: usize| match halves(&boxes[index].1).filter(|_| ring.contains(&index)) {
                            Some(both) => both.map(|half| visible_box((boxes[index].0, half))).to_vec(),
                            None => vec![Some(boxes[index])],
                        };
                        boxes = (0..boxes.len()).flat_map(cut).flatten().collect();
                    }
                    Err(unordered) => return Err(unordered.into()),
                }
            }
        }
    };
    let subvolume =
        |(part, cells): (usize, CellBox)| Some(Subvolume { part, cells, bounds: covered_pixels(view, &cells)? });
    Ok(boxes.into_iter().filter_map(subvolume).collect())
}

/// Upper bound of the number of samples of a ray in a box of cells.
pub(super) fn max_samples(view: &View, (low, high): &CellBox) -> u32 {
    let extent = |axis: usize| f64::from(high[axis] - low[axis]) / f64::from(view.per_length[axis]);
    let diagonal = diagonal(&view.directions.map(|direction| direction.map(f64::from)), extent);
    (diagonal / f64::from(view.step)).ceil() as u32 + 2
}

/// Pixels whose rays may cross a box of cells, with a margin; `None` if there are none.
pub(super) fn covered_pixels(view: &View, (low, high): &CellBox) -> Option<Region> {
    // Upper bound of the rounding of samples.
    let margin: [f64; 3] = std::array::from_fn(|axis| 1e-3 + 1e-6 * f64::from(view.cells[axis]));
    let corner = |number: usize| {
        let at = |axis: usize| match number >> axis & 1 {
            0 => f64::from(low[axis]) - margin[axis],
            _ => f64::from(high[axis]) + margin[axis],
        };
        // Corners relative to the eye, in units of length: first along the axes, then in space.
        let lengths: [f64; 3] =
            std::array::from_fn(|axis| (at(axis) - f64::from(view.eye[axis])) / f64::from(view.per_length[axis]));
        let part = |row: usize| (0..3).map(|axis| lengths[axis] * f64::from(view.directions[axis][row])).sum::<f64>();
        let from: [f64; 3] = std::array::from_fn(part);
        let along = |v: [f32; 3]| (0..3).map(|axis| from[axis] * f64::from(v[axis])).sum::<f64>();
        let square = |v: [f32; 3]| v.iter().map(|&part| f64::from(part).powi(2)).sum::<f64>();
        [along(view.right) / square(view.right), along(view.up) / square(view.up), along(view.forward)]
    };
    let corners: [[f64; 3]; 8] = std::array::from_fn(corner);
    let mut spans = [[f64::INFINITY, f64::NEG_INFINITY]; 2];
    let mut add = |[x, y, depth]: [f64; 3]| {
        for (span, aside) in spans.iter_mut().zip([x, y]) {
            let at = match (view.parallel, depth > 0.0) {
                (true, _) => [aside; 2],
                (false, true) => [aside / depth; 2],
                // At the height of the eye, the projection is unbounded on one or both sides.
                (false, false) => [
                    if aside <= 0.0 { f64::NEG_INFINITY } else { f64::INFINITY },
                    if aside >= 0.0 { f64::INFINITY } else { f64::NEG_INFINITY },
                ],
            };
            *span = [span[0].min(at[0]), span[1].max(at[1])];
        }
    };
    if corners.iter().all(|corner| corner[2] <= 0.0) {
        return None;
    }
    for (number, &here) in corners.iter().enumerate() {
        if here[2] > 0.0 || view.parallel {
            add(here);
            continue;
        }
        for axis in 0..3 {
            let there = corners[number ^ 1 << axis];
            if there[2] > 0.0 {
                let share = here[2] / (here[2] - there[2]);
                add([here[0] + share * (there[0] - here[0]), here[1] + share * (there[1] - here[1]), 0.0]);
            }
        }
    }
    let (width, height) = (f64::from(view.width), f64::from(view.height));
    let [[left, right], [bottom, top]] = spans;
    let column = |x: f64| (x * height + width - 1.0) / 2.0;
    let row = |y: f64| (height - 1.0 - y * height) / 2.0;
    // One pixel of margin on all sides.
    let first = |at: f64, most: f64| (at.floor() - 1.0).clamp(0.0, most) as i64;
    let end = |at: f64, most: f64| (at.ceil() + 2.0).clamp(0.0, most) as i64;
    let start = Index::new(&[first(column(left), width), first(row(top), height)]);
    let region = Region::between(start, Index::new(&[end(column(right), width), end(row(bottom), height)]));
    (!region.is_empty()).then_some(region)
}

/// Allocation of layers in the array of pixels. Each rank has pages of the image's width, one below
/// the other; layers fill a page shelf by shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Atlas {
    /// Rows of each page of each rank.
    pub pages: Vec<Vec<i64>>,
}

/// Position of a layer: page of its rank, and corner in the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LayerPosition {
    pub page: usize,
    pub corner: [i64; 2],
}

impl Atlas {
    /// Packs boxes of `(rank, [width, height])`, of at most `width` columns, onto pages of at most
    /// `rows` rows (a single higher box gets a page of its height).
    pub(super) fn pack(boxes: &[(usize, [i64; 2])], ranks: usize, width: i64, rows: i64) -> (Self, Vec<LayerPosition>) {
        let mut pages: Vec<Vec<i64>> = vec![vec![1]; ranks];
        // Current shelf of each rank: first row, height, used width.
        let mut shelves = vec![[0_i64; 3]; ranks];
        let mut order: Vec<usize> = (0..boxes.len()).collect();
        order.sort_by_key(|&index| (std::cmp::Reverse(boxes[index].1[1]), index));
        let mut spots = vec![LayerPosition { page: 0, corner: [0; 2] }; boxes.len()];
        for index in order {
            let (rank, [wide, high]) = boxes[index];
            let [row, height, taken] = &mut shelves[rank];
            if *taken + wide > width || high > *height {
                (*row, *height, *taken) = (*row + *height, high, 0);
                if *row > 0 && *row + high > rows {
                    pages[rank].push(1);
                    *row = 0;
                }
            }
            let last = pages[rank].len() - 1;
            spots[index] = LayerPosition { page: last, corner: [*taken, *row] };
            pages[rank][last] = pages[rank][last].max(*row + high);
            *taken += wide;
        }
        (Self { pages }, spots)
    }

    /// True if every allocation that fits `other` fits this atlas.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.pages
            .iter()
            .zip(&other.pages)
            .all(|(own, other)| own.len() >= other.len() && own.iter().zip(other).all(|(own, other)| own >= other))
    }

    /// Atlas with the maximum number of rows of both.
    pub(super) fn join(&self, other: &Self) -> Self {
        let most = |(own, other): (&Vec<i64>, &Vec<i64>)| {
            let at = |pages: &Vec<i64>, page: usize| pages.get(page).copied().unwrap_or(0);
            (0..own.len().max(other.len())).map(|page| at(own, page).max(at(other, page))).collect()
        };
        Self { pages: self.pages.iter().zip(&other.pages).map(most).collect() }
    }

    /// First row of each page in the array of all pages.
    pub(super) fn first_rows(&self) -> Vec<Vec<i64>> {
        let mut next = 0;
        let mut first = |rows: &i64| {
            next += rows;
            next - rows
        };
        self.pages.iter().map(|pages| pages.iter().map(&mut first).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::volume::test_grids::{COUNT, grid_and_camera};
    use crate::volume::{Camera, Projection};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

        /// Every ray with a sample in a box belongs to a pixel within the covered region, for any
        /// camera.
        #[test]
        fn covered_region_has_every_pixel_of_a_box(
            position in prop::array::uniform3(-25.0..45.0_f64),
            whole in any::<bool>(),
            towards in prop::array::uniform3(-1.0..1.0_f64),
            parallel in any::<bool>(),
            fov in 5.0..150.0_f64,
            low in prop::array::uniform3(0..20_i32),
            extents in prop::array::uniform3(1..12_i32),
            number in 0..COUNT,
        ) {
            prop_assume!(towards.iter().any(|part| part.abs() > 0.1));
            let (voxels, spacing) = ([21, 21, 21], [1.0, 0.5, 2.0]);
            // Whole numbers also put eyes on corners and edges of boxes.
            let position = if whole { position.map(|at| (at / 4.0).round() * 4.0) } else { position };
            let camera = Camera {
                position,
                focal_point: std::array::from_fn(|axis| position[axis] + towards[axis]),
                view_up: [0.23, 0.91, 0.3],
                projection: if parallel {
                    Projection::Parallel { half_height: fov / 8.0 }
                } else {
                    Projection::Perspective { vertical_fov_degrees: fov }
                },
            };
            let (grid, camera) = grid_and_camera(number, spacing, &camera);
            let view = View::new(&camera, (17, 13), voxels, grid, 0.21).unwrap();
            let cells = (low, std::array::from_fn(|axis| (low[axis] + extents[axis]).min(20)));
            let bounds = covered_pixels(&view, &cells);
            for (column, row) in (0..13).flat_map(|row| (0..17).map(move |column| (column, row))) {
                let ray = view.ray(column, row);
                let range = ray.samples_in(view.cells, cells.0, cells.1);
                prop_assert!(range.len() as u32 <= max_samples(&view, &cells));
                let inside = |bounds: &Region| bounds.contains(&Index::new(&[column.into(), row.into()]));
                prop_assert!(range.is_empty() || bounds.as_ref().is_some_and(inside), "({column}, {row}), {bounds:?}");
            }
        }

        /// Boxes on pages do not overlap and stay within the rows of the page.
        #[test]
        fn pages_hold_all_boxes(
            boxes in prop::collection::vec((0_usize..3, 1_i64..20, 1_i64..30), 0..40),
            rows in 1_i64..60,
        ) {
            let boxes: Vec<_> = boxes.into_iter().map(|(rank, w, h)| (rank, [w, h])).collect();
            let (atlas, spots) = Atlas::pack(&boxes, 3, 20, rows);
            let stored = |index: usize| {
                let (LayerPosition { page, corner }, (rank, extents)) = (spots[index], boxes[index]);
                (rank, page, Region::at(Index::new(&corner), Index::new(&extents)))
            };
            for i in 0..boxes.len() {
                let (rank, page, region) = stored(i);
                prop_assert!(region.end[0] <= 20 && region.end[1] <= atlas.pages[rank][page]);
                for j in 0..i {
                    let (other_rank, other_page, other) = stored(j);
                    prop_assert!((rank, page) != (other_rank, other_page) || !region.intersects(&other));
                }
            }
            let highest = boxes.iter().map(|(_, [_, high])| *high).max().unwrap_or(1);
            prop_assert!(atlas.pages.concat().iter().all(|&page| page <= rows.max(highest)));
            let joined = atlas.join(&Atlas { pages: vec![vec![5], vec![7, 7], vec![1]] });
            prop_assert!(joined.covers(&atlas) && joined.pages[1].len() >= 2);
        }
    }
}
