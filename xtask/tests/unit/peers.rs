//! What benchmarks are compared with.

use super::*;

#[test]
fn packages_of_benchmarks() {
    let of = |names: &[&str]| packages(&names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
    assert_eq!(of(&["plans", "ranks_volume", "ranks_ghosts"]), ["vtk"]);
    assert!(of(&["plans"]).is_empty());
}
