//! Tests of algorithms by native kernels. Most algorithms have a host version, so that other tests
//! run their kernels only by a driver.

use crate::support;

#[test]
fn algorithms_by_native_kernels_have_the_cells_of_their_definition() {
    support::rerun_by_native_kernels(&["algorithms::"]);
}
