//! Generated helpers are valid WGSL in every combination.

use super::helpers::{HELPERS, Signature, VarShape};
use super::program::{Program, capabilities};
use crate::element::Packed;

fn all_caps() -> naga::valid::Capabilities {
    capabilities(wgpu::Features::all())
}

/// A kernel that calls every helper that its array has.
fn uses(cell: &str, atomic: bool, shape: VarShape) -> String {
    let ty = if atomic { format!("atomic<{cell}>") } else { cell.to_owned() };
    let mut text = format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<{ty}>;\n\
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{\n let p = x_position(id);\n"
    );
    for helper in HELPERS {
        let call = match helper {
            "position" | "store" | "store_word" => continue,
            "extent" | "shape" => format!("x_{helper}()"),
            "global_axis" => format!("x_{helper}(p, 0u)"),
            "inside_word" if shape.packed.is_none() => continue,
            "index" if shape.packed.is_some() => continue,
            _ => format!("x_{helper}(p)"),
        };
        text += &format!(" let v_{helper} = {call};\n");
    }
    text += match (shape.packed, atomic) {
        (Some(Packed::U8 | Packed::I8), false) => " x_store_word(p, vec4(v_load));\n",
        (Some(_), false) => " x_store_word(p, vec2(v_load));\n",
        _ => " x_store(p, v_load);\n",
    };
    text + "}\n"
}

#[test]
fn helpers_are_valid_for_every_number_of_axes_kind_of_cell_and_window() {
    for axes in 1..=7 {
        for windows in [1, 3] {
            let kinds = [None, Some(Packed::U8), Some(Packed::I8), Some(Packed::U16), Some(Packed::I16)];
            let mut cases: Vec<_> = kinds.iter().flat_map(|&p| [("u32", false, p), ("u32", true, p)]).collect();
            cases.extend([("vec4<f32>", false, None), ("f64", false, None), ("i32", true, None)]);
            for (cell, atomic, packed) in cases {
                let shape = VarShape { axes, packed, windows };
                let text = uses(cell, atomic, shape);
                let program = Program::new("test.wgsl", &text, all_caps()).unwrap();
                let signature = Signature { domain_axes: axes, vars: vec![shape] };
                if let Err(fault) = program.complete(&signature, None, all_caps()) {
                    let map = super::geometry::GeometryMap::new(&signature);
                    let generated = super::helpers::generate(&program.scan, &signature, &map, 1);
                    panic!("{shape:?} {cell} {atomic}: {fault:?}\n{text}\n{generated}");
                }
            }
        }
    }
}
