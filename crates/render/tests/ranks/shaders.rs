//! Every shader of the renderer is valid in all its combinations. Their twins are held against them by the other modules.

use std::collections::BTreeSet;

use zippy::KernelSource;
use zippy::device::colour;

use crate::support;

/// Shaders that are part of the twin of another one.
const ELSEWHERE: [(&str, &str); 7] = [
    ("compositing/pixel_f32", "../../src/device/colour.rs"),
    ("compositing/pixel_rgba8", "../../src/device/colour.rs"),
    ("volume/pixel_f32", "../../src/device/colour.rs"),
    ("volume/pixel_rgba8", "../../src/device/colour.rs"),
    ("volume/unlit", "src/volume/march.rs"),
    ("volume/passes", "src/volume/march.rs"),
    ("volume/one_pass", "src/volume/march.rs"),
];

/// Kernels: the files that they are made of, and what CELL stands for in them.
const KERNELS: [(&[&str], &[&str]); 5] = [
    (&CASTERS[0], &["f32", "i32", "u32"]),
    (&CASTERS[1], &["f32", "u32"]),
    (&CASTERS[2], &["u32"]),
    (&["volume/ranges.wgsl"], &["f32", "i32", "u32"]),
    (&["volume/visible.wgsl"], &[""]),
];

/// Ray casters: the plain one, one of segments with light, and one for pixels of 8 bits in several passes.
const CASTERS: [[&str; 8]; 3] = [
    caster(["volume/point.wgsl", "volume/unlit.wgsl", "volume/pixel_f32.wgsl", "volume/one_pass.wgsl"]),
    caster(["volume/segment.wgsl", "volume/shading.wgsl", "volume/pixel_f32.wgsl", "volume/one_pass.wgsl"]),
    caster(["volume/point.wgsl", "volume/shading.wgsl", "volume/pixel_rgba8.wgsl", "volume/passes.wgsl"]),
];

const fn caster([classify, light, pixel, passes]: [&'static str; 4]) -> [&'static str; 8] {
    let [view, cells] = ["volume/view.wgsl", "volume/cells.wgsl"];
    [view, cells, "volume/decay.wgsl", classify, light, pixel, passes, "volume/march.wgsl"]
}

/// Coded compositing: what its kernels begin with, and what each of them is.
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
    let seen: BTreeSet<&str> = volume.chain([LINES]).chain(WORK).chain(PIXELS).collect();
    let left: Vec<&String> = files.keys().filter(|name| !seen.contains(name.as_str())).collect();
    assert!(left.is_empty(), "no kernel is made of {left:?}");
}

#[test]
fn all_have_twins() {
    let left = support::shaders::without_twin(env!("CARGO_MANIFEST_DIR"), &ELSEWHERE);
    assert!(left.is_empty(), "in Rust there is nothing of the name of {left:?}");
}
