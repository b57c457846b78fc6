//! Placements and plans for random layouts, compared with results on vectors.

extern crate zippy_plan as zippy;

mod copy;
mod ghosts;
mod locality;
mod one_sided;
mod patterns;
mod scale;

use zippy_testing::plans as random;
