//! Adjacency of boxes.

use std::ops::ControlFlow;

use zippy::extents::Index;
use zippy::region::{Region, RegionTree};

/// Returns, for each of several disjoint boxes of a grid, the ascending indices of its neighbours.
pub(super) fn neighbours(boxes: &[Region], shape: Index, periodic: &[bool]) -> Vec<Vec<usize>> {
    let tree = RegionTree::new(boxes);
    let ones = Index::splat(shape.axes(), 1);
    let around = |number: usize| {
        let mut found = Vec::new();
        for image in periodic_images(boxes[number].grow(&ones, &ones), shape, periodic) {
            let _ = tree.visit(&image, &mut |other, _| {
                found.push(other);
                ControlFlow::Continue(())
            });
        }
        found.sort_unstable();
        found.dedup();
        found.retain(|other| *other != number);
        found
    };
    (0..boxes.len()).map(around).collect()
}

/// Returns a region, and its periodic images inside the shape if it crosses the end of a periodic
/// axis.
fn periodic_images(region: Region, shape: Index, periodic: &[bool]) -> Vec<Region> {
    let mut periodic_images = vec![region];
    for axis in (0..shape.axes()).filter(|&axis| periodic[axis]) {
        for image in periodic_images.clone() {
            for (reaches, by) in [(image.start[axis] < 0, shape[axis]), (image.end[axis] > shape[axis], -shape[axis])] {
                let mut offset = Index::zeros(shape.axes());
                offset[axis] = by;
                periodic_images.extend(reaches.then(|| image.translate(&offset)));
            }
        }
    }
    periodic_images
}
