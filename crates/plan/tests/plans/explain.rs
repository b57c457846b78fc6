//! Texts of plans: Listing 2 of the paper, 8 x 6 x 6 cells in 3 x 2 x 2 chunks.

use zippy::layout::{Layout, Split};
use zippy::locate::Placement;
use zippy::plan::{CopySpec, GhostSpec, copy, ghosts};
use zippy::region::Region;

use crate::random::explain_all;

#[test]
fn explain_lists_messages_by_pair_and_round() {
    let layout = Layout::new([8, 6, 6]).split([[3, 2, 3].into(), Split::Even(2), Split::Even(2)]).ghost([1, 1, 1]);
    let array = Placement::balanced(layout.resolve(4, 4, u64::MAX).unwrap(), 4);
    let spec = CopySpec {
        src: &array,
        src_region: Region::new(&[0, 0, 0], &[4, 2, 3]).unwrap(),
        dst: &array,
        dst_region: Region::new(&[2, 4, 2], &[6, 6, 5]).unwrap(),
        aliased: true,
        permutation: None,
    };
    let copies: Vec<_> = (0..4).map(|rank| copy(&spec, rank).unwrap()).collect();
    let halos: Vec<_> = (0..4).map(|rank| ghosts(&[(&array, &GhostSpec::faces())], rank).unwrap()).collect();
    insta::assert_snapshot!("copy", explain_all(&copies, &[4, 4]));
    insta::assert_snapshot!("ghosts_of_one_rank", halos[1].explain(&[4]));
    insta::assert_snapshot!("ghosts", explain_all(&halos, &[4]));
}
