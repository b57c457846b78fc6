//! Depth order of boxes.

use super::view::View;
use crate::error::RenderError;

/// Reason why boxes have no depth order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unordered {
    Overlap(usize, usize),
    /// Boxes that contain a cycle: each hides the next.
    Ring(Vec<usize>),
}

impl From<Unordered> for RenderError {
    fn from(unordered: Unordered) -> Self {
        Self::Volume(match unordered {
            Unordered::Overlap(i, j) => format!("chunks {i} and {j} overlap and have no depth order"),
            Unordered::Ring(mut ring) => {
                ring.truncate(8);
                format!("chunks {ring:?} interlock, so that they have no depth order")
            }
        })
    }
}

/// For boxes that are separated along one axis (one ends at `low_end`, the other begins at
/// `high_start`): true if a ray through both crosses the lower box first. `None` if no ray crosses
/// both.
fn low_first(view: &View, axis: usize, low_end: i64, high_start: i64) -> Option<bool> {
    if view.parallel {
        let forward = view.parallel_direction()[axis];
        return (forward != 0.0).then_some(forward > 0.0);
    }
    // A sample in the plane between two touching boxes belongs to the higher box.
    let eye = f64::from(view.eye[axis]);
    match (eye >= low_end as f64, eye >= high_start as f64) {
        (false, _) => Some(true),
        (_, true) => Some(false),
        // From an eye between the boxes, each ray reaches at most one of them.
        _ => None,
    }
}

/// Sorts disjoint boxes of cells, `(start, end)` half-open, from front to back along the rays of a
/// view; returns a permutation of their indices. If a ray crosses two boxes, the nearer one comes
/// first. Empty boxes and boxes without a common ray are sorted by index.
///
/// Supports grid cuts, k-d cuts and every other decomposition without cycles. Cost: quadratic in
/// the number of boxes.
///
/// # Errors
/// Boxes overlap, or hide each other in a cycle.
pub(super) fn front_to_back(boxes: &[([i64; 3], [i64; 3])], view: &View) -> Result<Vec<usize>, Unordered> {
    let n = boxes.len();
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut waiting_for = vec![0_usize; n];
    let empty = |b: &([i64; 3], [i64; 3])| (0..3).any(|axis| b.0[axis] >= b.1[axis]);
    for i in 0..n {
        for j in i + 1..n {
            if empty(&boxes[i]) || empty(&boxes[j]) {
                continue;
            }
            let (mut i_first, mut j_first, mut apart) = (false, false, false);
            for axis in 0..3 {
                let (low_is_i, low_end, high_start) = if boxes[i].1[axis] <= boxes[j].0[axis] {
                    (true, boxes[i].1[axis], boxes[j].0[axis])
                } else if boxes[j].1[axis] <= boxes[i].0[axis] {
                    (false, boxes[j].1[axis], boxes[i].0[axis])
                } else {
                    continue;
                };
                apart = true;
                match low_first(view, axis, low_end, high_start) {
                    None => (i_first, j_first) = (true, true),
                    Some(low) if low == low_is_i => i_first = true,
                    Some(_) => j_first = true,
                }
            }
            if !apart {
                return Err(Unordered::Overlap(i, j));
            }
            // Two planes with contradicting orders: no ray crosses both boxes.
            match (i_first, j_first) {
                (true, false) => {
                    behind[i].push(j);
                    waiting_for[j] += 1;
                }
                (false, true) => {
                    behind[j].push(i);
                    waiting_for[i] += 1;
                }
                _ => {}
            }
        }
    }
    let mut ready: std::collections::BTreeSet<usize> = (0..n).filter(|&i| waiting_for[i] == 0).collect();
    let mut order = Vec::with_capacity(n);
    while let Some(i) = ready.pop_first() {
        order.push(i);
        for &j in &behind[i] {
            waiting_for[j] -= 1;
            if waiting_for[j] == 0 {
                ready.insert(j);
            }
        }
    }
    if order.len() < n {
        // Boxes that are only farther than a cycle are not part of it.
        let mut ring: Vec<usize> = (0..n).filter(|&i| waiting_for[i] > 0).collect();
        loop {
            let inside = |&i: &usize| behind[i].iter().any(|j| ring.binary_search(j).is_ok());
            let rest: Vec<usize> = ring.iter().copied().filter(inside).collect();
            if rest.len() == ring.len() {
                return Err(Unordered::Ring(ring));
            }
            ring = rest;
        }
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::super::layers::max_samples;
    use super::*;
    use crate::volume::test_grids::{COUNT, grid_and_camera};
    use crate::volume::{Camera, Projection};
    use proptest::prelude::*;

    type Cuboid = ([i64; 3], [i64; 3]);

    fn cells_of((start, end): Cuboid, shape: [i64; 3]) -> ([i32; 3], [i32; 3]) {
        (start.map(|v| v as i32), std::array::from_fn(|axis| end[axis].min(shape[axis] - 1) as i32))
    }

    /// Cuts a box repeatedly; can yield every k-d cover.
    fn cover(shape: [i64; 3], cuts: &[(usize, usize, i64)]) -> Vec<Cuboid> {
        let mut boxes = vec![([0; 3], shape)];
        for &(which, axis, at) in cuts {
            let index = which % boxes.len();
            let (start, end) = boxes[index];
            let extent = end[axis] - start[axis];
            let cut = start[axis] + at % (extent + 1);
            let (mut low, mut high) = ((start, end), (start, end));
            low.1[axis] = cut;
            high.0[axis] = cut;
            boxes[index] = low;
            boxes.push(high);
        }
        boxes
    }

    fn cameras() -> impl Strategy<Value = Camera> {
        let place = prop::array::uniform3(-40.0..60.0_f64);
        let snapped = (place, any::<bool>()).prop_map(|(p, snap)| if snap { p.map(f64::round) } else { p });
        (snapped, prop::array::uniform3(0.0..12.0_f64), any::<bool>(), prop::option::of(0_usize..3)).prop_filter_map(
            "a direction of view",
            |(position, mut focal_point, parallel, aligned)| {
                if let Some(axis) = aligned {
                    // Exactly along an axis: two components of every parallel ray are zero.
                    focal_point = position;
                    focal_point[axis] = 6.0;
                }
                let projection = if parallel {
                    Projection::Parallel { half_height: 14.0 }
                } else {
                    Projection::Perspective { vertical_fov_degrees: 60.0 }
                };
                let camera = Camera { position, focal_point, view_up: [0.31, 0.2, 0.93], projection };
                View::new(&camera, (1, 1), [3; 3], [1.0; 3], 1.0).is_ok().then_some(camera)
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

        /// Every sample belongs to one chunk, and a ray crosses the chunks in depth order.
        #[test]
        fn chunks_share_the_samples_in_depth_order(
            shape in prop::array::uniform3(2_i64..14),
            cuts in prop::collection::vec((0_usize..8, 0_usize..3, 0_i64..14), 0..8),
            spacing in prop::array::uniform3(0.5..1.5_f64),
            step in 0.1..2.0_f64,
            camera in cameras(),
            number in 0..COUNT,
        ) {
            let boxes = cover(shape, &cuts);
            let (grid, camera) = grid_and_camera(number, spacing, &camera);
            let view = View::new(&camera, (9, 7), shape, grid, step).unwrap();
            let order = front_to_back(&boxes, &view).unwrap();
            let mut sorted = order.clone();
            sorted.sort();
            prop_assert_eq!(sorted, (0..boxes.len()).collect::<Vec<_>>());
            for pixel in 0..63 {
                let ray = view.ray(pixel % 9, pixel / 9);
                prop_assert!(ray.samples <= max_samples(&view, &([0; 3], view.cells)));
                let mut next = 0;
                for &chunk in &order {
                    let (start, end) = cells_of(boxes[chunk], shape);
                    let range = ray.samples_in(view.cells, start, end);
                    for sample in range.clone() {
                        let cell = ray.cell(sample, view.cells);
                        prop_assert!((0..3).all(|a| start[a] <= cell[a] && cell[a] < end[a]));
                    }
                    if !range.is_empty() {
                        prop_assert_eq!(range.start, next, "pixel {} chunk {}", pixel, chunk);
                        next = range.end;
                    }
                }
                prop_assert_eq!(next, ray.samples, "pixel {}", pixel);
            }
        }
    }

    #[test]
    fn rings_and_overlaps_have_no_order() {
        let view = |towards: [f64; 3]| {
            let camera = Camera {
                position: [1.0; 3],
                focal_point: towards.map(|v| 1.0 + v),
                view_up: [0.1, 0.9, -0.4],
                projection: Projection::Parallel { half_height: 9.0 },
            };
            View::new(&camera, (9, 7), [6; 3], [1.0; 3], 1.0).unwrap()
        };
        let said = |unordered: Unordered| RenderError::from(unordered).to_string();
        // Three bars: each hides the next along another axis.
        let ring = [([0, 0, 1], [1, 2, 2]), ([1, 0, 0], [3, 1, 2]), ([0, 1, 0], [3, 2, 1])];
        let error = said(front_to_back(&ring, &view([1.0; 3])).unwrap_err());
        assert!(error.contains("chunks [0, 1, 2] interlock"), "{error}");
        // Boxes in front of or behind the cycle are not part of it.
        let more = [&[([0; 3], [1; 3])], &ring[..], &[([3, 2, 2], [4; 3])]].concat();
        assert!(matches!(front_to_back(&more, &view([1.0; 3])), Err(Unordered::Ring(ring)) if ring == [1, 2, 3]));
        assert_eq!(front_to_back(&ring, &view([-1.0, 1.0, 1.0])).unwrap(), [1, 2, 0]);
        let overlap = [([0; 3], [4; 3]), ([3, 3, 3], [5; 3])];
        assert!(said(front_to_back(&overlap, &view([1.0; 3])).unwrap_err()).contains("overlap"));
        let empty = [([0; 3], [4; 3]), ([2, 2, 2], [2, 3, 3])];
        assert_eq!(front_to_back(&empty, &view([1.0; 3])).unwrap().len(), 2);
    }
}
