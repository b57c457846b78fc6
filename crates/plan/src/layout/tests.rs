use super::*;

const NO_LIMIT: u64 = u64::MAX;

fn message(layout: Layout) -> String {
    layout.resolve(4, 4, NO_LIMIT).unwrap_err().to_string()
}

#[test]
fn first_mistake_of_layout_is_reported() {
    let layout = Layout::new([8, -6, 6]).split([Split::Whole, Split::Whole]).ghost([-1]);
    assert_eq!(message(layout), "the shape on axis 1 is -6; it must be at least 0 and fit 63 bits");
    assert!(message(Layout::new([8_u64, u64::MAX])).contains("18446744073709551615"));
    assert!(message(Layout::new([1_i128 << 90])).contains("axis 0"));
    assert!(message(Layout::new([8; 8])).contains("8 axes; 1 to 7"));
    assert!(message(Layout::new::<i32, 0>([])).contains("0 axes"));
    assert!(message(Layout::new([8, 6]).ghost([1, -2])).contains("a ghost width on axis 1 is -2"));
    assert!(message(Layout::new([8, 6]).ghost_sides([(1, 0)])).contains("1 axes, but the shape has 2"));
    assert!(message(Layout::new([8, 6]).periodic([true])).contains("periodicity"));
    assert!(message(Layout::new([8]).split([Split::Whole]).boxes(vec![])).contains("not both"));
    assert!(message(Layout::new([8]).boxes(vec![]).split_all(Split::Whole)).contains("not both"));
}

#[test]
fn shape_of_any_integer_type_is_accepted() {
    let shape = Layout::new([8_i64, 6]).shape();
    assert_eq!(shape, Layout::new([8_u8, 6]).shape());
    assert_eq!(shape, Layout::new([8_usize, 6]).shape());
    assert_eq!(shape, Layout::new([8, 6]).shape());
    assert_eq!(Layout::new([8, 6]).mistake(), None);
}

#[test]
fn sizes_that_overflow_are_refused() {
    assert!(message(Layout::new([1_i64 << 31, 1 << 31])).contains("overflows 63 bits"));
    assert!(message(Layout::new([i64::MAX])).contains("overflows 63 bits"));
    assert!(message(Layout::new([4]).ghost([i64::MAX])).contains("overflows 63 bits"));
    assert!(message(Layout::new([0, i64::MAX])).contains("overflows 63 bits"));
    assert!(message(Layout::new([8]).split([Split::Even(1 << 40)])).contains("at most 16777216"));
    assert!(message(Layout::new([8, 8]).split_all(Split::Even(1 << 13))).contains("67108864 chunks"));
}

#[test]
fn cuts_must_fit_the_shape() {
    assert_eq!(
        message(Layout::new([8]).split([[3, 4].into()])),
        "the chunk sizes on axis 0 add up to 7, but the axis has 8 cells"
    );
    assert!(message(Layout::new([8]).split([[9, -1].into()])).contains("a chunk size on axis 0 is -1"));
    assert!(message(Layout::new([8]).split([[i64::MAX, i64::MAX].into()])).contains("add up to 18446744073709551614"));
    assert!(message(Layout::new([8]).split([vec![].into()])).contains("0 chunks"));
    assert!(message(Layout::new([8]).split([Split::Even(0)])).contains("0 chunks"));
}

#[test]
fn boxes_must_be_disjoint_and_cover() {
    let at = |start: [i64; 2], end: [i64; 2]| Region::new(&start, &end).unwrap();
    let cover = |boxes: &[Region]| Layout::new([4, 4]).boxes(boxes.to_vec());
    let left = at([0, 0], [2, 4]);
    assert!(cover(&[left, at([2, 0], [4, 3]), at([3, 3], [3, 4]), at([2, 3], [4, 4])]).resolve(1, 4, NO_LIMIT).is_ok());
    assert!(message(cover(&[left, at([2, 0], [4, 3])])).contains("hold 14 of the 16 cells"));
    assert!(
        message(cover(&[left, at([1, 0], [4, 4])])).contains("boxes 0 [0..2, 0..4] and 1 [1..4, 0..4] share cells")
    );
    assert!(message(cover(&[left, at([2, 0], [5, 4])])).starts_with("box 1: region"));
    assert!(message(cover(&[Region::whole(Index::from([4]))])).starts_with("box 0: a region of 1 axes"));
    let backwards = Region { start: Index::from([2, 2]), end: Index::from([0, 0]) };
    assert!(message(cover(&[left, backwards])).contains("backwards"));
    assert!(message(cover(&[])).contains("hold 0 of the 16"));
}

#[test]
fn many_boxes_are_resolved_and_found() {
    let boxes: Vec<_> = Region::whole(Index::from([1024, 1024])).tiles(&Index::from([4, 4])).collect();
    let chunks = Layout::new([1024, 1024]).boxes(boxes).resolve(1, 4, NO_LIMIT).unwrap();
    assert_eq!(chunks.count(), 65_536);
    assert_eq!(chunks.chunk_at(&Index::from([1023, 5])), Some(511));
}

fn grid_of(layout: Layout, ranks: usize, limit: u64) -> Vec<i64> {
    layout.resolve(ranks, 4, limit).unwrap().grid().unwrap().to_vec()
}

#[test]
fn auto_split_is_nearly_cubic_with_a_chunk_per_rank() {
    let cube = || Layout::new([64, 64, 64]);
    assert_eq!(grid_of(cube(), 1, NO_LIMIT), [1, 1, 1]);
    assert_eq!(grid_of(cube(), 8, NO_LIMIT), [2, 2, 2]);
    assert_eq!(grid_of(cube(), 4, NO_LIMIT), [1, 2, 2]);
    assert_eq!(grid_of(cube(), 7, NO_LIMIT), [1, 1, 7]);
    assert_eq!(grid_of(cube(), 64, NO_LIMIT), [4, 4, 4]);
    assert_eq!(grid_of(Layout::new([1000, 10]), 4, NO_LIMIT), [4, 1]);
    assert_eq!(grid_of(Layout::new([2, 2]), 100, NO_LIMIT), [2, 2]);
    assert_eq!(grid_of(Layout::new([0, 2]), 3, NO_LIMIT), [1, 2]);
    assert_eq!(grid_of(Layout::new([40_000]), 65_536, NO_LIMIT), [40_000]);
    assert_eq!(grid_of(Layout::new([128; 7]), 65_536, NO_LIMIT).iter().product::<i64>(), 65_536);
}

/// Number of cells of each chunk. Also checks that the chunks resolve as boxes.
fn sizes_of(layout: &Layout, ranks: usize, limit: u64) -> Vec<u64> {
    let chunks = layout.resolve(ranks, 4, limit).unwrap();
    let boxes: Vec<_> = (0..chunks.count()).map(|chunk| chunks.region(chunk)).collect();
    Layout::from_shape(&layout.shape()[..]).boxes(boxes.clone()).resolve(ranks, 4, NO_LIMIT).unwrap();
    boxes.iter().map(Region::cells).collect()
}

#[test]
fn auto_split_gives_ranks_chunks_of_nearly_equal_size() {
    for shape in shapes() {
        let layout = Layout::from_shape(&shape);
        let cells: i64 = shape.iter().product();
        for ranks in 1..=40 {
            let sizes = sizes_of(&layout, ranks, NO_LIMIT);
            if (ranks as i64) > cells {
                assert_eq!(sizes, vec![1; cells as usize], "{shape:?} on {ranks}");
                continue;
            }
            assert_eq!(sizes.len(), ranks, "{shape:?} on {ranks}");
            let (least, most) = (*sizes.iter().min().unwrap(), *sizes.iter().max().unwrap() as f64);
            // Boxes with few cells are less even.
            let fair = cells as f64 / ranks as f64;
            let bound = if fair < 100.0 { 2.0 } else { 1.5 };
            assert!(least > 0 && most <= bound * fair, "{shape:?} on {ranks}: {least} to {most}, {fair} each");
        }
    }
}

fn shapes() -> Vec<Vec<i64>> {
    let mut shapes = vec![vec![12, 10, 9], vec![64; 3], vec![31, 1, 17], vec![5; 4], vec![100, 3], vec![512, 300, 7]];
    for a in 1..=14 {
        shapes.push(vec![a]);
        for b in [1, 2, 3, 5, 8, 13] {
            shapes.push(vec![a, b]);
            shapes.extend([1, 2, 7, 11].map(|c| vec![a, b, c]));
            shapes.extend([2, 3].map(|c| vec![a, b, c, 4]));
        }
    }
    shapes
}

#[test]
fn boxes_above_the_byte_limit_are_divided() {
    let layout = Layout::new([20, 20, 18]).ghost([1, 1, 1]);
    let sizes = sizes_of(&layout, 13, 1000);
    assert_eq!(sizes.len() % 13, 0, "{}", sizes.len());
    let each: Vec<u64> = sizes.chunks(sizes.len() / 13).map(|chunks| chunks.iter().sum()).collect();
    assert!(each.iter().all(|&cells| (490..=600).contains(&cells)), "{each:?}");
    let chunks = layout.resolve(13, 4, 1000).unwrap();
    assert!((0..chunks.count()).all(|chunk| chunks.storage(chunk).cells() * 4 <= 1000));
    assert_eq!(chunks.grid(), None);
    let mixed = Layout::new([12, 10, 9]).split([Split::Auto, Split::Auto, Split::Whole]);
    assert_eq!(grid_of(mixed, 13, NO_LIMIT).iter().product::<i64>(), 14);
}

#[test]
fn auto_split_respects_the_byte_limit() {
    let chunks = Layout::new([800, 800, 800]).ghost([1, 1, 1]).resolve(4, 4, 128 << 20).unwrap();
    let largest = (0..chunks.count()).map(|chunk| chunks.storage(chunk).cells() * 4).max().unwrap();
    assert!(largest <= 128 << 20);
    assert_eq!(chunks.count() % 4, 0, "{:?}", chunks.grid());
    assert!(chunks.count() <= 32, "{:?}", chunks.grid());
    let mixed = Layout::new([100, 100, 100]).split([[99, 1].into(), Split::Auto, Split::Whole]);
    let grid = grid_of(mixed, 6, 100 * 10 * 100 * 4);
    assert_eq!((grid[0], grid[2]), (2, 1));
    assert!(grid[1] >= 10 && grid[1] % 3 == 0, "{grid:?}");
}

#[test]
fn error_of_chunk_above_the_limit_names_a_split_that_fits() {
    let layout = Layout::new([1000, 100]).split([[300, 700].into(), Split::Even(2)]).ghost([1, 1]);
    let error = layout.resolve(4, 4, 100_000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "chunk 1 with its ghost cells (702 x 52) needs 146016 bytes, but a chunk may have 100000; \
         Split::Auto or .split([Split::Even(4), Split::Even(2)]) would fit"
    );
    assert!(
        Layout::new([1000, 100]).split([Split::Even(4), Split::Even(2)]).ghost([1, 1]).resolve(4, 4, 100_000).is_ok()
    );
    assert!(layout.resolve(4, 4, 146_016).is_ok());
    let error = Layout::new([9]).ghost([1000]).resolve(1, 4, 4000).unwrap_err();
    assert!(error.to_string().contains("narrower ghost"), "{error}");
    // Rows of one-byte cells are padded to whole words.
    assert!(Layout::new([5, 4]).split_all(Split::Whole).resolve(1, 1, 31).is_err());
    assert!(Layout::new([5, 4]).split_all(Split::Whole).resolve(1, 1, 32).is_ok());
    let boxes = vec![Region::whole(Index::from([10, 10]))];
    let error = Layout::new([10, 10]).boxes(boxes).resolve(1, 4, 200).unwrap_err();
    assert!(error.to_string().contains("Split::Auto"), "{error}");
}
