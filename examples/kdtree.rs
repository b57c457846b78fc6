//! k-d tree of points in blobs, with four leaves for each rank: nearest neighbours of some points,
//! a picture of the cuts, and boxes of a grid with equal numbers of points. The first argument
//! names the file of the picture.

use std::fmt::Write;

use zippy::{Layout, Split, World};
use zippy_primitives::Primitives;
use zippy_primitives::kdtree::KdTree;

const POINTS: i64 = 20_000;
/// Side of the square of the points, in cells.
const CELLS: i64 = 4096;

fn main() -> zippy::Result<()> {
    let path = std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("kdtree.svg"), Into::into);
    zippy::run(move |world: &World| {
        let points = world.array::<[f32; 2], 1>("points", &Layout::new([POINTS]).split([Split::Auto]))?;
        points.fill_with(|[i]| point(i))?;
        let leaves = 4 * world.size();
        let tree = world.vectors().kdtree("tree", &points, leaves)?;

        // Each rank queries other points, and compares the result with a search over all points.
        let queries: Vec<[f32; 2]> = (0..20).map(|i| point(997 * i + 31 * world.rank() as i64)).collect();
        let found = world.vectors().nearest(&tree, &queries, 8)?;
        for (query, found) in queries.iter().zip(&found) {
            let distance = |[x, y]: [f32; 2]| (x - query[0]) * (x - query[0]) + (y - query[1]) * (y - query[1]);
            let mut all: Vec<(f32, u64)> = (0..POINTS).map(|i| (distance(point(i)), i as u64)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let found: Vec<(f32, u64)> =
                found.iter().map(|neighbour| (neighbour.squared_distance, neighbour.index)).collect();
            assert_eq!(found, all[..8]);
        }

        let cuts = world.vectors().balanced_boxes(&points, &[CELLS, CELLS], leaves)?;
        let field = Layout::new([CELLS, CELLS]).boxes(cuts.boxes().to_vec()).ghost([1, 1]).periodic([true, true]);
        let field = world.array::<u8, 2>("field", &field)?;
        let touching = cuts.neighbours(&[true, true])?.iter().map(Vec::len).max().unwrap_or(0);

        if world.rank() == 0 {
            let written = std::fs::write(&path, draw_svg(&tree));
            written.map_err(|error| {
                let reason = zippy::error::describe_refusal(&path, &error);
                zippy::Error::program(format!("cannot write {}: {reason}", path.display()))
            })?;
            println!(
                "{POINTS} points, {leaves} leaves on {} ranks: {} neighbours found, equal to a search over all points; cuts in {}",
                world.size(),
                8 * queries.len() * world.size(),
                path.display()
            );
            println!(
                "a field of {:?} cells in {leaves} boxes: imbalance {:.4}, at most {touching} neighbours of a box",
                field.shape(),
                cuts.imbalance()
            );
        }
        Ok(())
    })
}

/// Pseudo-random point in one of five blobs, densest at the centre.
fn point(i: i64) -> [f32; 2] {
    let mixed = |salt: u32| {
        let x = (i as u32).wrapping_mul(4).wrapping_add(salt).wrapping_mul(0x9e37_79b9);
        let x = (x ^ x >> 15).wrapping_mul(0x85eb_ca6b);
        ((x ^ x >> 13) >> 8) as f32 / (1 << 24) as f32
    };
    let blobs = [[0.25, 0.3, 0.15], [0.7, 0.2, 0.06], [0.6, 0.65, 0.3], [0.15, 0.8, 0.1], [0.85, 0.85, 0.03]];
    let [x, y, size] = blobs[i as usize % 5];
    let (radius, angle) = (size * (mixed(0) * mixed(1)).sqrt(), std::f32::consts::TAU * mixed(2));
    [x + radius * angle.cos(), y + radius * angle.sin()].map(|x| x * CELLS as f32)
}

/// Draws the points and the cuts of the tree as SVG.
fn draw_svg(tree: &KdTree<[f32; 2]>) -> String {
    let mut text = format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {CELLS} {CELLS}\">\n");
    text += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<path stroke=\"#888\" stroke-width=\"12\" d=\"";
    for i in 0..POINTS {
        let [x, y] = point(i);
        let _ = write!(text, "M{x:.0} {y:.0}h12");
    }
    text += "\"/>\n<path stroke=\"#c00\" stroke-width=\"6\" d=\"";
    // Stack of nodes to visit, each with the bounds of its subtree.
    let mut stack = vec![(0, [0.0, 0.0], [CELLS as f32; 2])];
    while let Some((node, low, high)) = stack.pop() {
        let Some(cut) = tree.all_nodes()[node].cut else { continue };
        let (mut from, mut to) = (low, high);
        (from[cut.axis], to[cut.axis]) = (cut.value, cut.value);
        let _ = write!(text, "M{:.0} {:.0}L{:.0} {:.0}", from[0], from[1], to[0], to[1]);
        stack.extend([(cut.children[0], low, to), (cut.children[1], from, high)]);
    }
    text + "\"/>\n</svg>\n"
}
