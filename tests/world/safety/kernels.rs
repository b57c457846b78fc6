//! Wrong kernel calls: local errors, detected before the kernel runs.

use zippy::{KernelSource, Layout};

use super::refused;
use crate::support::{RANKS, ranks};

const ADD: &str = "
struct Params { scale: f32, shift: u32 }
@group(0) @binding(0) var<storage, read> source: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = result_position(id);
    if result_inside(p) { result_store(p, params.scale * source_load(p) + f32(params.shift)); }
}";

#[test]
fn wrong_bindings_parameters_and_types_are_refused() {
    ranks(RANKS, |world| {
        // Local arrays, so that every rank gets the same error.
        let layout = Layout::new([4]);
        let (a, b) = (world.local_array::<f32, 1>("a", &layout)?, world.local_array::<f32, 1>("b", &layout)?);
        let whole = world.local_array::<i32, 1>("whole", &layout)?;
        b.all().write(&[5.0, 6.0, 7.0, 8.0])?;
        let kernel = world.kernel(KernelSource::text("add.wgsl", ADD))?;
        let (x, y, z) = (a.all(), b.all(), whole.all());
        let given = || kernel.call().read("source", &x).write("result", &y);
        let messages = [
            refused(world, kernel.call().read("sourse", &x).write("result", &y).param("scale", 1.0_f32).run()),
            refused(world, given().param("scale", 1.0_f32).run()),
            refused(world, given().param("scale", 1.0_f32).param("shift", 1_u32).param("sihft", 2_u32).run()),
            refused(world, given().param("scale", 1).param("shift", -1).run()),
            refused(world, kernel.call().read("source", &x).run()),
            refused(world, kernel.call().read("source", &z).write("result", &y).param("scale", 1.0_f32).run()),
            refused(world, kernel.call().read("result", &x).write("source", &y).run()),
            refused(world, kernel.call().read("source", &y).write("result", &y).param("scale", 1.0_f32).run()),
        ];
        insta::allow_duplicates! {
            insta::assert_snapshot!(messages.join("\n"), @r#"
            kernel add.wgsl: there is no storage variable `sourse`; the shader declares `var<storage, read> source: array<f32>`, `var<storage, read_write> result: array<f32>`
            kernel add.wgsl: parameter `shift` was not given; the shader declares `var<uniform> params: Params { scale: f32, shift: u32 }`
            kernel add.wgsl: there is no parameter `sihft` in use; the shader declares `var<uniform> params: Params { scale: f32, shift: u32 }`
            kernel add.wgsl: parameter `shift` is u32, but -1, which it cannot hold, was given as i32; the shader declares `var<uniform> params: Params { scale: f32, shift: u32 }`
            kernel add.wgsl: the section for `result` was not given; the shader declares `var<storage, read> source: array<f32>`, `var<storage, read_write> result: array<f32>`
            kernel add.wgsl: section [0..4] of array "whole" is bound to `source`: its cells are i32, not f32; the shader declares `var<storage, read> source: array<f32>`, `var<storage, read_write> result: array<f32>`
            kernel add.wgsl: `result` is bound with read, but declared var<storage, read_write>: bind it with write or update, or declare it var<storage, read>
            kernel add.wgsl: `source` and `result` are sections of one chunk, one to be read and one to be written (section [0..4] of array "b" and section [0..4] of array "b"): bind it once with update, or copy one of them first
            "#);
        }
        let wrong = "fn f() -> f32 {\n    return missing;\n}";
        let text = refused(world, world.kernel(KernelSource::text("wrong.wgsl", wrong)));
        assert!(text.starts_with("wrong.wgsl:2:12: ") && text.contains("`missing`"), "{text}");
        assert_eq!(b.all().read()?, [5.0, 6.0, 7.0, 8.0], "nothing ran");
        world.barrier()
    });
}
