//! Conversions between screens, planes and arrays.

use proptest::prelude::*;
use zippy_debugger::imaging::{
    CellLocation, Mosaic, Slice, ViewedNumbers, Viewport, axis, axis_name, box_in_plane, indices, locate,
};
use zippy_protocol::{ArrayEntry, ArrayKind, ArrayRef, ChunkEntry, ElementType, MOST_VIEW_BYTES};

const ARRAY: ArrayRef = ArrayRef { rank: None, number: 3 };

/// A shape of 1 to 7 axes, a slice of it, and a cell.
fn slices() -> impl Strategy<Value = (Vec<i64>, Slice, Vec<i64>)> {
    let shape = prop::collection::vec(1_i64..9, 1..=7);
    shape.prop_flat_map(|shape| {
        let axes = shape.len();
        let cell: Vec<_> = shape.iter().map(|&extent| 0..extent).collect();
        (Just(shape), 0..axes, 0..axes, cell).prop_map(|(shape, across, up, cell)| {
            let mut slice = Slice::new(&shape);
            slice.set_across(across);
            slice.set_up(up);
            slice.at.clone_from(&cell);
            (shape, slice, cell)
        })
    })
}

fn viewports() -> impl Strategy<Value = Viewport> {
    let number = -300.0..300.0_f64;
    let corner = [number.clone(), number.clone()];
    (corner, [40.0..900.0_f64, 40.0..900.0_f64], [number.clone(), number], -4.0..5.0_f64)
        .prop_map(|(corner, size, centre, scale)| Viewport { corner, size, centre, scale: scale.exp2() })
}

proptest! {
    #[test]
    fn slice_index_and_position_are_inverse((shape, slice, cell) in slices()) {
        prop_assert!(slice.up != Some(slice.across));
        prop_assert_eq!(slice.up.is_none(), shape.len() == 1);
        prop_assert_eq!(slice.fixed().count() + 1 + usize::from(slice.up.is_some()), shape.len());
        let position = slice.position(&cell).unwrap();
        prop_assert_eq!(slice.index(position), cell.clone());
        let extents = slice.extents(&shape);
        prop_assert!((0..2).all(|axis| (0..extents[axis]).contains(&position[axis])));
        if let Some(fixed) = slice.fixed().next() {
            let mut other = cell.clone();
            other[fixed] += 1;
            prop_assert_eq!(slice.position(&other), None);
        }
        // The number of array cells in the slice equals the number of cells of the slice.
        let request = slice.request(ARRAY, [[0, 0], extents], [1, 1], None);
        prop_assert_eq!(request.bytes(1), Some((extents[0] * extents[1]) as usize));
        prop_assert!((0..shape.len()).all(|axis| request.start[axis] >= 0 && request.end[axis] <= shape[axis]));
        prop_assert!((0..shape.len()).all(|axis| (request.start[axis]..request.end[axis]).contains(&cell[axis])));
    }

    #[test]
    fn screen_and_plane_coordinates_are_inverse((shape, slice, _) in slices(), port in viewports(), at in [0.0..1.0_f64, 0.0..1.0]) {
        let screen = [0, 1].map(|axis| port.corner[axis] + at[axis] * port.size[axis]);
        let back = port.to_screen(port.to_plane(screen));
        prop_assert!((0..2).all(|axis| (back[axis] - screen[axis]).abs() < 1e-6 * (1.0 + port.scale)), "{:?} {:?}", back, screen);
        let cell = port.cell(screen);
        let [[left, top], [right, bottom]] = port.rectangle([cell, cell.map(|at| at + 1)]);
        let slack = 1e-6 * (1.0 + port.scale);
        prop_assert!(left - slack <= screen[0] && screen[0] <= right + slack);
        prop_assert!(top - slack <= screen[1] && screen[1] <= bottom + slack);
        prop_assert!(((right - left) - port.scale).abs() < slack && ((bottom - top) - port.scale).abs() < slack);
        // Up on the plane is up on the screen.
        prop_assert!(port.to_screen([0.0, 1.0])[1] < port.to_screen([0.0, 0.0])[1]);
        // A cell of the array and its centre on the screen.
        let bounds = [[0, 0], slice.extents(&shape)];
        let [start, end] = port.seen(bounds);
        for i in 0..bounds[1][0] {
            for j in 0..bounds[1][1] {
                let middle = port.to_screen([i as f64 + 0.5, j as f64 + 0.5]);
                prop_assert_eq!(slice.position(&slice.index(port.cell(middle))), Some([i, j]));
                let inside = (0..2).all(|axis| {
                    middle[axis] > port.corner[axis] && middle[axis] < port.corner[axis] + port.size[axis]
                });
                let seen = (start[0]..end[0]).contains(&i) && (start[1]..end[1]).contains(&j);
                prop_assert!(seen || !inside, "cell {:?} is on the screen", [i, j]);
                let [[left, top], [right, bottom]] = port.rectangle([[i, j], [i + 1, j + 1]]);
                let outside = right < port.corner[0] - 1e-3
                    || bottom < port.corner[1] - 1e-3
                    || left > port.corner[0] + port.size[0] + 1e-3
                    || top > port.corner[1] + port.size[1] + 1e-3;
                prop_assert!(!(seen && outside), "cell {:?} is not on the screen", [i, j]);
            }
        }
    }

    #[test]
    fn zoom_keeps_point_under_pointer(port in viewports(), at in [0.0..1.0_f64, 0.0..1.0], factor in 0.2..5.0_f64) {
        let pointer = [0, 1].map(|axis| port.corner[axis] + at[axis] * port.size[axis]);
        let zoomed = port.zoomed(pointer, factor);
        let (before, after) = (port.to_plane(pointer), zoomed.to_plane(pointer));
        prop_assert!((0..2).all(|axis| (before[axis] - after[axis]).abs() < 1e-6 * (1.0 + before[axis].abs())));
        let by = [7.5, -3.25];
        let extents = [1 << 40, 1 << 40];
        let held = Viewport { centre: [1e9, 1e9], ..port };
        let (panned, grabbed) = (held.panned(by, extents), held.to_plane(pointer));
        let moved = panned.to_screen(grabbed);
        let slack = 1e-3 * (1.0 + port.scale);
        prop_assert!((0..2).all(|axis| (moved[axis] - pointer[axis] - by[axis]).abs() < slack), "{:?}", moved);
        prop_assert_eq!(port.zoomed(pointer, f64::NAN), port.zoomed(pointer, 1.0));
    }

    #[test]
    fn request_covers_visible_cells_within_size_limit(
        extents in [1_i64..40_000, 1_i64..40_000],
        port in viewports(),
        centre in [0.0..1.0_f64, 0.0..1.0],
        zoom in -12.0..4.0_f64,
        (density, cell_bytes) in (0.5..3.0_f64, 1_usize..64),
    ) {
        let centre = [0, 1].map(|axis| centre[axis] * extents[axis] as f64);
        let port = Viewport { centre, scale: zoom.exp2(), ..port };
        let slice = Slice::new(&[extents[0], extents[1], 4]);
        let shape = [extents[0], extents[1], 4];
        let viewed = ViewedNumbers { numbers: Some(1), bytes: cell_bytes };
        let request = port.request(&slice, ARRAY, &shape, density, viewed).unwrap();
        prop_assert!(request.bytes(cell_bytes).unwrap() <= MOST_VIEW_BYTES);
        prop_assert_eq!((request.start[2], request.end[2], request.numbers), (2, 3, Some(1)));
        let [start, end] = port.seen([[0, 0], extents]);
        let stride = request.stride[0];
        prop_assert!(stride == request.stride[1] && stride.count_ones() == 1);
        for axis in 0..2 {
            prop_assert!(request.start[axis] <= start[axis] && request.end[axis] >= end[axis].min(extents[axis]));
            prop_assert!(request.start[axis] >= 0 && request.end[axis] <= extents[axis]);
            // Boxes begin at multiples of the stride for every position.
            prop_assert_eq!(request.start[axis] % stride, 0);
        }
        // Not coarser than pixels, except to stay within the size limit.
        let cells_per_pixel = 1.0 / (port.scale * density);
        let finer = (0..2).map(|axis| ((end[axis] - start[axis]) as f64 / (stride as f64 / 2.0)) + 2.0).product::<f64>();
        prop_assert!(stride == 1 || stride as f64 <= cells_per_pixel || finer * cell_bytes as f64 > MOST_VIEW_BYTES as f64 * 0.9);
        prop_assert!(stride as f64 * 2.0 > cells_per_pixel.min(2.0));
    }

    #[test]
    fn mosaic_has_every_slice_once(
        (shape, slice, cell) in slices(),
        axis in 0_usize..7,
        (most, aspect) in (1_i64..20, 0.2..5.0_f64),
    ) {
        let Some(mosaic) = Mosaic::new(&slice, axis, &shape, most, aspect) else {
            prop_assert!(axis >= shape.len() || slice.shows(axis));
            return Ok(());
        };
        prop_assert!(mosaic.count() <= most && mosaic.count() >= 1);
        let (grid, extents) = (mosaic.grid(), mosaic.extents());
        prop_assert!(grid[0] * grid[1] >= mosaic.count() && grid[0] * (grid[1] - 1) < mosaic.count());
        // Each cell of the plane is a gap or a unique cell of the array, whose position is that
        // cell.
        let mut found = std::collections::BTreeSet::new();
        for i in -1..=extents[0] {
            for j in -1..=extents[1] {
                if let Some(index) = mosaic.index([i, j]) {
                    prop_assert_eq!(mosaic.position(&index), Some([i, j]));
                    prop_assert!((0..shape.len()).all(|axis| (0..shape[axis]).contains(&index[axis])));
                    let tile = mosaic.tile_of(index[axis]).unwrap();
                    let [start, end] = mosaic.box_of(tile);
                    prop_assert!((start[0]..end[0]).contains(&i) && (start[1]..end[1]).contains(&j));
                    prop_assert!(found.insert(index));
                }
            }
        }
        let tile = slice.extents(&shape);
        prop_assert_eq!(found.len() as i64, mosaic.count() * tile[0] * tile[1]);
        // The first slice is the upper left tile.
        let [start, end] = mosaic.box_of(0);
        prop_assert_eq!((start[0], end[1]), (0, extents[1]));
        let request = mosaic.request(ARRAY, 1, None);
        prop_assert_eq!(request.bytes(1), Some(found.len()));
        prop_assert!(found.iter().all(|index| (index[axis] - request.start[axis]) % request.stride[axis] == 0));
        prop_assert_eq!(mosaic.position(&cell).is_some(), mosaic.tile_of(cell[axis]).is_some());
    }
}

#[test]
fn orthogonal_planes_contain_the_cell() {
    let planes = Slice::orthogonal(&[4, 5, 6]).unwrap();
    let shown = planes.clone().map(|plane| (plane.across, plane.up.unwrap()));
    assert_eq!(shown, [(0, 1), (0, 2), (1, 2)]);
    assert!(planes.iter().all(|plane| plane.position(&[4, 5, 6]).is_some()));
    assert_eq!(planes[1].position(&[1, 5, 2]), Some([1, 2]));
    assert_eq!(Slice::orthogonal(&[4, 5]), None);
    let kept = Slice { across: 1, up: Some(2), at: vec![7, 8, 9] };
    assert_eq!(kept.within(&[4, 20, 30]), Slice { at: vec![3, 8, 9], ..kept.clone() });
    assert_eq!(kept.within(&[4, 20]), Slice::new(&[4, 20]));
    // An axis without cells has no last index.
    assert_eq!(Slice::new(&[0, 3]).within(&[0, 3]).at, [0, 1]);
}

#[test]
fn a_plane_fits_and_keeps_its_shape() {
    let port = Viewport::fit([10.0, 20.0], [400.0, 100.0], [50, 25]);
    assert_eq!(port.scale, 4.0);
    assert_eq!(port.rectangle([[0, 0], [50, 25]]), [[110.0, 20.0], [310.0, 120.0]]);
    assert_eq!(port.cell([111.0, 119.0]), [0, 0]);
    assert_eq!(port.cell([309.0, 21.0]), [49, 24]);
    assert_eq!(port.seen([[0, 0], [50, 25]]), [[0, 0], [50, 25]]);
    let nothing = Viewport::fit([0.0; 2], [0.0; 2], [0, 0]);
    assert!(nothing.scale > 0.0 && nothing.to_plane([0.0; 2]).iter().all(|coordinate| coordinate.is_finite()));
    assert_eq!(nothing.wanted([[0, 0], [0, 0]], 1.0, 4, 1), None);
}

fn entry(shape: &[i64], ghosts: i64, periodic: bool, chunks: Vec<ChunkEntry>) -> ArrayEntry {
    ArrayEntry {
        array: ARRAY,
        name: "u".into(),
        kind: ArrayKind::Global,
        element: ElementType { name: "f32".into(), bytes: 4, numbers: Vec::new() },
        shape: shape.to_vec(),
        ghosts: [vec![ghosts; shape.len()], vec![ghosts; shape.len()]],
        periodic: vec![periodic; shape.len()],
        chunk_count: chunks.len() as u64,
        grid: None,
        chunks,
        bytes: 0,
        writes: 0,
        last_write: None,
    }
}

/// 2 × 2 chunks of an array of 7 × 6, cut at 3 and 2. Chunk 3 belongs to rank 1; the others to
/// ranks 0, 1 and 2.
fn quarter_chunks() -> Vec<ChunkEntry> {
    let chunk =
        |rank, start: [i64; 2], end: [i64; 2]| ChunkEntry { rank, start: start.into(), end: end.into(), writes: 0 };
    vec![chunk(0, [0, 0], [3, 2]), chunk(1, [3, 0], [7, 2]), chunk(2, [0, 2], [3, 6]), chunk(1, [3, 2], [7, 6])]
}

#[test]
fn cells_are_located_in_owners_and_ghost_cells() {
    let array = entry(&[7, 6], 1, true, quarter_chunks());
    let owned = CellLocation { chunk: 3, rank: 1, local: vec![1, 3], owned: true, owner: Some((3, 1)) };
    assert_eq!(locate(&array, None, &[4, 5]), Some(owned));
    let ghost = CellLocation { chunk: 0, rank: 0, local: vec![3, 1], owned: false, owner: Some((1, 1)) };
    assert_eq!(locate(&array, Some(0), &[3, 1]), Some(ghost));
    // Outside of the array, with a periodic owner on the opposite side.
    let wrapped = CellLocation { chunk: 0, rank: 0, local: vec![-1, -1], owned: false, owner: Some((3, 1)) };
    assert_eq!(locate(&array, Some(0), &[-1, -1]), Some(wrapped));
    assert_eq!(locate(&array, Some(0), &[4, 1]), None, "beyond its ghost cells");
    assert_eq!(locate(&array, Some(9), &[4, 1]), None);
    assert_eq!(locate(&array, None, &[4]), None);
    let walled = entry(&[7, 6], 1, false, quarter_chunks());
    assert_eq!(locate(&walled, None, &[-1, 0]), None);
    let outside = locate(&walled, Some(0), &[-1, 0]).unwrap();
    assert_eq!((outside.owned, outside.owner), (false, None));
    // Each cell has exactly one owner: the chunk that contains it.
    for index in (0..7).flat_map(|x| (0..6).map(move |y| [x, y])) {
        let number = usize::from(index[0] >= 3) + 2 * usize::from(index[1] >= 2);
        let found = locate(&array, None, &index).unwrap();
        assert_eq!((found.chunk, found.owned, found.rank), (number as u64, true, array.chunks[number].rank));
    }
}

#[test]
fn box_in_plane_is_part_of_chunk_in_plane() {
    let slice = Slice { across: 1, up: Some(0), at: vec![0, 0] };
    let chunks = quarter_chunks();
    assert_eq!(box_in_plane(&slice, &chunks[3], [&[], &[]]), Some([[2, 3], [6, 7]]));
    assert_eq!(box_in_plane(&slice, &chunks[3], [&[1, 2], &[0, 1]]), Some([[0, 2], [7, 7]]));
    let line = Slice { across: 0, up: None, at: vec![9] };
    let part = ChunkEntry { rank: 0, start: vec![2], end: vec![5], writes: 0 };
    assert_eq!(box_in_plane(&line, &part, [&[], &[]]), Some([[2, 0], [5, 1]]));
    let block = ChunkEntry { rank: 0, start: vec![0, 0, 4], end: vec![3, 3, 6], writes: 0 };
    let at = |z| Slice { across: 0, up: Some(1), at: vec![0, 0, z] };
    assert_eq!(box_in_plane(&at(5), &block, [&[], &[]]), Some([[0, 0], [3, 3]]));
    assert_eq!(box_in_plane(&at(6), &block, [&[], &[]]), None);
    assert_eq!(box_in_plane(&at(6), &block, [&[], &[0, 0, 1]]), Some([[0, 0], [3, 3]]));
    let empty = ChunkEntry { rank: 0, start: vec![3, 3, 4], end: vec![3, 3, 6], writes: 0 };
    assert_eq!(box_in_plane(&at(5), &empty, [&[], &[]]), None);
}

#[test]
fn axes_and_indices_are_parsed() {
    assert_eq!((axis("y", 3), axis("2", 3), axis("6", 7)), (Ok(1), Ok(2), Ok(6)));
    assert_eq!([0, 3, 4].map(axis_name), ["x", "w", "4"]);
    let error = axis("w", 3).unwrap_err();
    assert!(error.contains("`w`") && error.contains("x, y, z"), "{error}");
    assert_eq!(indices("z=0, 0=-1", &[5, 6, 7]), Ok(vec![(2, 0), (0, 4)]));
    assert_eq!(indices("", &[5]), Ok(vec![]));
    for (text, part) in [
        ("z", "z=0"),
        ("z=7", "7 cells"),
        ("z=-8", "7 cells"),
        ("z=1,2=2", "twice"),
        ("z=1.5", "whole"),
        ("q=1", "`q`"),
    ] {
        let error = indices(text, &[5, 6, 7]).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
}
