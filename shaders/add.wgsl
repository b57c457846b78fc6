// Sum of two rows and a number: Listing 3 of the paper.

@group(0) @binding(0) var<storage, read> array1: array<f32>;
@group(0) @binding(1) var<storage, read> array2: array<f32>;
@group(0) @binding(2) var<storage, read_write> array0: array<f32>;

struct Params {
    additional_num: f32,
}
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = array0_position(id);
    if array0_inside(p) {
        array0_store(p, array1_load(p) + array2_load(p) + params.additional_num);
    }
}
