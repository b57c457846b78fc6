//! Source texts of kernels.

use zippy::element::{ElementInfo, ElementKind};
use zippy::kernel::{WgslComposer, WgslModule};
use zippy::{KernelSource, Result};

use super::items::{AFTER_ROWS, BEFORE, CELL_WORDS, EDGE_WORDS, INSIDE, ITEM_WORDS, LANES, NONE};
use super::table::CASES;
use crate::cell::EDGE_COUNT;
use crate::field::block::{BRICK, ROWS};
use crate::points::brick_points::ROWS_AND_NEXT;

macro_rules! shader {
    ($path:literal) => {
        zippy::wgsl_module!(concat!("../../shaders/", $path, ".wgsl"))
    };
}

const BRICKED_CHUNK: WgslModule = shader!("field/bricked_chunk");
const VALUES: WgslModule = shader!("field/values");
const ITEMS: WgslModule = shader!("kernels/items");
const TABLE: WgslModule = shader!("kernels/table");
const NUMBERING: WgslModule = shader!("points/numbering");
const GRID: WgslModule = shader!("grid");

/// Constants that Rust and the kernels share.
const CONSTANTS: [(&str, u32); 16] = [
    // Invocations of a workgroup.
    ("LANES", LANES as u32),
    // Samples of a row of a brick.
    ("ROW_SAMPLES", BRICK[0] as u32),
    // Rows of a brick along each of the other axes, and with the next row.
    ("HEIGHT", BRICK[1] as u32),
    ("HEIGHT_AND_NEXT", BRICK[1] as u32 + 1),
    ("ROWS", ROWS as u32),
    ("ROWS_AND_NEXT", ROWS_AND_NEXT as u32),
    // Layout of the words of an item.
    ("EDGE_WORDS", EDGE_WORDS as u32),
    ("BEFORE", BEFORE as u32),
    ("INSIDE", INSIDE as u32),
    ("AFTER_ROWS", AFTER_ROWS as u32),
    ("ITEM_WORDS", ITEM_WORDS as u32),
    // Words of an ambiguous cell.
    ("CELL_WORDS", CELL_WORDS as u32),
    // No item, no shape.
    ("NONE", NONE),
    // Edges of a cell, and its cases.
    ("EDGE_COUNT", EDGE_COUNT as u32),
    ("CASES", CASES as u32),
    // Both rows of samples of a lane.
    ("STEPS", (EDGE_WORDS * BRICK[0] / LANES) as u32),
];

/// Kernels over samples of one type.
#[derive(Debug, Clone, Copy)]
pub(super) enum SampleKernel {
    Tree,
    Inside,
    Vertices,
    Interior,
}

impl SampleKernel {
    fn name(self) -> &'static str {
        match self {
            Self::Tree => "tree",
            Self::Inside => "inside",
            Self::Vertices => "vertices",
            Self::Interior => "interior",
        }
    }

    /// The parts after the samples.
    fn modules(self) -> Vec<WgslModule> {
        match self {
            Self::Tree => vec![shader!("field/tree")],
            Self::Inside => vec![ITEMS, TABLE, shader!("points/rows"), shader!("points/inside")],
            Self::Vertices => vec![ITEMS, NUMBERING, GRID, shader!("extract/vertices")],
            Self::Interior => vec![GRID, shader!("extract/interior")],
        }
    }

    /// The text of the kernel for samples of an element type.
    pub(super) fn composer(self, element: &ElementInfo) -> WgslComposer {
        let cell = match element.kind {
            ElementKind::Packed(_) => "u32",
            _ => element.name,
        };
        let number_of = match cell {
            "u32" if element.name == cell => "of_unsigned",
            "i32" => "of_signed",
            _ => "f32",
        };
        let composer = if cell == "f16" { chunk().enable("f16") } else { chunk() };
        composer.alias("Sample", cell).module(VALUES.define("NUMBER_OF", number_of)).modules(self.modules())
    }

    /// The source of the kernel for samples of an element type.
    pub(super) fn source(self, element: &ElementInfo) -> Result<KernelSource> {
        let name = format!("isosurface {} of {}", self.name(), element.name);
        Ok(KernelSource::text(name, self.composer(element).compose()?))
    }
}

/// The first part of all kernels.
fn chunk() -> WgslComposer {
    WgslComposer::new()
        .used_constants(CONSTANTS)
        .constant("BRICK", BRICK.map(|extent| extent as i32))
        .module(BRICKED_CHUNK)
}

/// The text of the kernel that writes triangles.
pub(super) fn triangles_composer() -> WgslComposer {
    chunk().modules([ITEMS, TABLE, shader!("points/brick_points"), shader!("extract/triangles")])
}

/// The source of the kernel that writes triangles.
pub(super) fn triangles() -> Result<KernelSource> {
    Ok(KernelSource::text("isosurface triangles", triangles_composer().compose()?))
}
