//! Placements and plans for random layouts, compared with results on vectors.

extern crate zippy_plan as zippy;

mod copy;
mod explain;
mod ghosts;
mod locality;
mod one_sided;
mod scale;
mod swap;

use zippy_testing::plans as random;
