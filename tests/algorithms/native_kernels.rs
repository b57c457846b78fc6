//! Algorithms by native kernels: the host has versions of its own for most, and a driver runs the rest of the tests' kernels
//! where it maps nothing.

use crate::support;

#[test]
fn algorithms_by_native_kernels_have_the_cells_of_their_definition() {
    support::rerun_by_native_kernels(&["algorithms::"]);
}
