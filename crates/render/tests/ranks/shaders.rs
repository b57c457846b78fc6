//! Every shader of the renderer is valid in all its combinations. Their twins are held against them by the other modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use zippy::{KernelSource, Operator};
use zippy_render::compositing::Pixel;

use crate::support;

/// The files below `shaders/`, by their path in it.
fn files() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = vec![root.clone()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of shaders") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(&root).expect("below it").display().to_string();
                found.insert(name, std::fs::read_to_string(&path).expect("a shader"));
            }
        }
    }
    found
}

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
    caster(["volume/points.wgsl", "volume/unlit.wgsl", "volume/pixel_f32.wgsl", "volume/one_pass.wgsl"]),
    caster(["volume/segments.wgsl", "volume/lit.wgsl", "volume/pixel_f32.wgsl", "volume/one_pass.wgsl"]),
    caster(["volume/points.wgsl", "volume/lit.wgsl", "volume/pixel_rgba8.wgsl", "volume/passes.wgsl"]),
];

const fn caster([classify, light, pixel, passes]: [&'static str; 4]) -> [&'static str; 8] {
    let [rays, cells] = ["volume/rays.wgsl", "volume/cells.wgsl"];
    [rays, cells, "volume/decay.wgsl", classify, light, pixel, passes, "volume/march.wgsl"]
}

/// Coded compositing: kernels, and what they are given for each kind of pixel.
const COMPOSITING: [&str; 5] = [
    "compositing/count.wgsl",
    "compositing/write.wgsl",
    "compositing/blend.wgsl",
    "compositing/pixel_float.wgsl",
    "compositing/pixel_bytes.wgsl",
];

#[test]
fn all_are_valid() {
    let files = files();
    support::ranks(&[1], |world| {
        for (used, cells) in KERNELS {
            let text: String = used.iter().map(|name| files[*name].as_str()).collect();
            for cell in cells {
                for components in ["1", "2", "4"] {
                    let text = text.replace("CELL", cell).replace("COMPONENTS", components);
                    let text = text.replace("OPACITY", "0").replace("PLANES", "6");
                    world.kernel(KernelSource::text(used.join(" + "), text))?;
                }
            }
        }
        for [cell, full, load, store] in [<[f32; 4] as Pixel>::WGSL, <u32 as Pixel>::WGSL] {
            for (file, access) in COMPOSITING[..3].iter().zip(["", store, load]) {
                let text = [files[*file].as_str(), full, Operator::COLOURS, access].join("\n").replace("PIXEL", cell);
                world.kernel(KernelSource::text(*file, text))?;
            }
        }
        Ok(())
    });
    let seen: BTreeSet<&str> = KERNELS.iter().flat_map(|(used, _)| used.iter().copied()).chain(COMPOSITING).collect();
    let left: Vec<&String> = files.keys().filter(|name| !seen.contains(name.as_str())).collect();
    assert!(left.is_empty(), "no kernel is made of {left:?}");
}
