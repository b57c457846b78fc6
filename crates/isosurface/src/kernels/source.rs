//! Source texts of kernels.

use zippy::KernelSource;
use zippy::element::{ElementInfo, ElementKind};

macro_rules! shader {
    ($path:literal) => {
        include_str!(concat!("../../shaders/", $path, ".wgsl"))
    };
}

const BRICKED_CHUNK: &str = shader!("field/bricked_chunk");
const VALUES: &str = shader!("field/values");
const ITEMS: &str = shader!("kernels/items");
const TABLE: &str = shader!("kernels/table");
const NUMBERING: &str = shader!("points/numbering");
const GRID: &str = shader!("grid");

pub(super) fn tree(element: &ElementInfo) -> KernelSource {
    over("isosurface tree", &[BRICKED_CHUNK, VALUES, shader!("field/tree")], element)
}

pub(super) fn inside(element: &ElementInfo) -> KernelSource {
    over(
        "isosurface inside",
        &[BRICKED_CHUNK, VALUES, ITEMS, TABLE, shader!("points/rows"), shader!("points/inside")],
        element,
    )
}

pub(super) fn vertices(element: &ElementInfo) -> KernelSource {
    over("isosurface vertices", &[BRICKED_CHUNK, VALUES, ITEMS, NUMBERING, GRID, shader!("extract/vertices")], element)
}

pub(super) fn interior(element: &ElementInfo) -> KernelSource {
    over("isosurface interior", &[BRICKED_CHUNK, VALUES, GRID, shader!("extract/interior")], element)
}

pub(super) fn triangles() -> KernelSource {
    let texts = [BRICKED_CHUNK, ITEMS, TABLE, shader!("points/brick_points"), shader!("extract/triangles")];
    KernelSource::text("isosurface triangles", texts.concat())
}

fn over(name: &str, texts: &[&str], element: &ElementInfo) -> KernelSource {
    let cell = match element.kind {
        ElementKind::Packed(_) => "u32",
        _ => element.name,
    };
    let number_of = match cell {
        "u32" if element.name == cell => "of_unsigned",
        "i32" => "of_signed",
        _ => "f32",
    };
    let enabled = if cell == "f16" { "enable f16;\n" } else { "" };
    KernelSource::text(
        format!("{name} of {}", element.name),
        enabled.to_string() + &texts.concat().replace("SAMPLE", cell).replace("NUMBER_OF", number_of),
    )
}
