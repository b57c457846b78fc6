//! Every shader of the renderer has a Rust equivalent. The other modules compare both.

use crate::support;

const ELSEWHERE: [(&str, &str); 15] = [
    ("compositing/pixel_f32", "../device/src/device/colour.rs"),
    ("compositing/pixel_rgba8", "../device/src/device/colour.rs"),
    ("volume/pixel_f32", "../device/src/device/colour.rs"),
    ("volume/pixel_rgba8", "../device/src/device/colour.rs"),
    ("volume/hidden_f32", "../device/src/device/colour.rs"),
    ("volume/hidden_rgba8", "../device/src/device/colour.rs"),
    ("volume/light", "src/volume/shading.rs"),
    ("volume/unlit", "src/volume/march.rs"),
    ("volume/linear", "src/volume/cells.rs"),
    ("volume/nearest", "src/volume/cells.rs"),
    ("volume/direct", "src/volume/cells.rs"),
    ("volume/passes", "src/volume/march.rs"),
    ("volume/one_pass", "src/volume/march.rs"),
    ("surface/none", "src/volume/march.rs"),
    // Intersections of rays with single triangles.
    ("surface/on_ray", "tests/ranks/surfaces/mod.rs"),
];

#[test]
fn all_have_twins() {
    let left = support::shaders::without_twin(env!("CARGO_MANIFEST_DIR"), &ELSEWHERE);
    assert!(left.is_empty(), "in Rust there is nothing of the name of {left:?}");
}
