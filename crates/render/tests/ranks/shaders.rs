//! Every shader of the renderer compiles in all its combinations.

use std::collections::BTreeSet;

use zippy::KernelSource;
use zippy::device::colour;

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

/// Kernels: their files, and the types that replace CELL.
const KERNELS: [(&[&str], &[&str]); 10] = [
    (&CASTERS[0], &["f32", "i32", "u32"]),
    (&CASTERS[1], &["f32", "u32"]),
    (&CASTERS[2], &["u32"]),
    (&["volume/ranges.wgsl"], &["f32", "i32", "u32"]),
    (&["volume/visible.wgsl"], &[""]),
    (&["surface/fragments.wgsl"], &[""]),
    (&["surface/corner.wgsl"], &[""]),
    (&["surface/reached.wgsl"], &[""]),
    (&["volume/pixel_f32.wgsl", "surface/opaque.wgsl"], &[""]),
    (&["volume/pixel_rgba8.wgsl", "surface/opaque.wgsl"], &[""]),
];

/// Ray casters: plain; segments with light; 8-bit pixels in several passes with surfaces.
const CASTERS: [[&str; 13]; 3] = [
    caster([
        "volume/linear.wgsl",
        "volume/point.wgsl",
        "volume/unlit.wgsl",
        F32[0],
        F32[1],
        "volume/one_pass.wgsl",
        "surface/none.wgsl",
    ]),
    caster([
        "volume/linear.wgsl",
        "volume/segment.wgsl",
        "volume/shading.wgsl",
        F32[0],
        F32[1],
        "volume/one_pass.wgsl",
        "surface/none.wgsl",
    ]),
    caster([
        "volume/nearest.wgsl",
        "volume/point.wgsl",
        "volume/shading.wgsl",
        RGBA8[0],
        RGBA8[1],
        "volume/passes.wgsl",
        "surface/on_ray.wgsl",
    ]),
];
const F32: [&str; 2] = ["volume/pixel_f32.wgsl", "volume/hidden_f32.wgsl"];
const RGBA8: [&str; 2] = ["volume/pixel_rgba8.wgsl", "volume/hidden_rgba8.wgsl"];

const fn caster([between, classify, light, pixel, hidden, passes, surfaces]: [&'static str; 7]) -> [&'static str; 13] {
    let [view, cells, march] = ["volume/view.wgsl", "volume/cells.wgsl", "volume/march.wgsl"];
    let [decay, lights] = ["volume/decay.wgsl", "volume/light.wgsl"];
    [view, cells, between, "volume/direct.wgsl", decay, lights, classify, light, pixel, hidden, passes, surfaces, march]
}

/// Shader of the rasteriser; compiled by the tests of surfaces.
const DRAWN: &str = "surface/draw.wgsl";

/// Coded compositing: the common part of its kernels, and their work functions.
const LINES: &str = "compositing/lines.wgsl";
const WORK: [&str; 3] = ["compositing/count.wgsl", "compositing/write.wgsl", "compositing/blend.wgsl"];
const PIXELS: [&str; 2] = ["compositing/pixel_f32.wgsl", "compositing/pixel_rgba8.wgsl"];

#[test]
fn all_are_valid() {
    let files = support::shaders::files(env!("CARGO_MANIFEST_DIR"));
    support::ranks(&[1], |world| {
        for (used, cells) in KERNELS {
            let of_files = used.iter().map(|name| files[*name].as_str());
            let text: String = std::iter::once(colour::WGSL).chain(of_files).collect();
            for cell in cells {
                for components in ["1", "2", "4"] {
                    let text = text.replace("CELL", cell).replace("COMPONENTS", components);
                    let text = text.replace("OPACITY", "0").replace("PLANES", "6");
                    world.kernel(KernelSource::text(used.join(" + "), text))?;
                }
            }
        }
        for pixel in PIXELS {
            for work in WORK {
                let text = [colour::WGSL, &files[pixel], &files[LINES], &files[work]].join("\n");
                world.kernel(KernelSource::text([pixel, work].join(" + "), text))?;
            }
        }
        Ok(())
    });
    let volume = KERNELS.iter().flat_map(|(used, _)| used.iter().copied());
    let seen: BTreeSet<&str> = volume.chain([LINES, DRAWN]).chain(WORK).chain(PIXELS).collect();
    let left: Vec<&String> = files.keys().filter(|name| !seen.contains(name.as_str())).collect();
    assert!(left.is_empty(), "no kernel is made of {left:?}");
}

#[test]
fn all_have_twins() {
    let left = support::shaders::without_twin(env!("CARGO_MANIFEST_DIR"), &ELSEWHERE);
    assert!(left.is_empty(), "in Rust there is nothing of the name of {left:?}");
}
