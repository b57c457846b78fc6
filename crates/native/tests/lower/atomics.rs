use crate::{lower, run_with};
use zippy_native::ir::{AtomicOperation, Statement};

#[test]
fn atomic_operations_return_old_values() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> state: array<atomic<u32>>;
        @compute @workgroup_size(1) fn main() {
            out[0] = atomicAdd(&state[0], 5u); out[1] = atomicSub(&state[0], 2u); out[2] = atomicAnd(&state[0], 6u);
            out[3] = atomicOr(&state[0], 9u); out[4] = atomicXor(&state[0], 3u); out[5] = atomicMin(&state[0], 4u);
            out[6] = atomicMax(&state[0], 0xfffffff0u); out[7] = atomicExchange(&state[0], 77u);
            let a = atomicCompareExchangeWeak(&state[0], 77u, 78u); out[8] = a.old_value; out[9] = u32(a.exchanged);
            let b = atomicCompareExchangeWeak(&state[0], 77u, 79u); out[10] = b.old_value; out[11] = u32(b.exchanged);
            atomicStore(&state[1], 12u); out[12] = atomicLoad(&state[0]) + atomicLoad(&state[1]);
            atomicAdd(&state[2], 1u);
            out[13] = atomicAdd(&state[2], 1u);
            out[14] = atomicAdd(&state[out[12]], 1u); atomicStore(&state[out[12]], 1u);
            let c = atomicCompareExchangeWeak(&state[out[12]], 0u, 1u); out[15] = u32(c.exchanged) + atomicLoad(&state[99]);
        }";
    let out = run_with(source, &[10, 0, 3], 16);
    let n = 10_u32;
    let steps = [n, 15, 13, 4, 13, 14, 4, 0xffff_fff0];
    assert_eq!(out[..8], steps);
    assert_eq!(out[8..], [77, 1, 78, 0, 90, 4, 0, 0]);
}

#[test]
fn signed_and_long_and_float_atomics_use_their_operations() {
    let kernel = lower(
        "struct S { i: atomic<i32>, f: atomic<f32>, l: atomic<i64>, u: atomic<u64> }
         @group(0) @binding(0) var<storage, read_write> s: S;
         @compute @workgroup_size(1) fn main() {
             atomicMin(&s.i, -1); atomicMax(&s.i, 5); let a = atomicAdd(&s.f, 1.5); let b = atomicSub(&s.f, 2.5);
             let c = atomicExchange(&s.f, a + b); atomicMax(&s.l, -4li); atomicMin(&s.u, 4lu);
             let d = atomicAdd(&s.l, 1li); let e = atomicCompareExchangeWeak(&s.l, d, 3li);
             atomicStore(&s.u, select(0lu, 1lu, e.exchanged));
         }",
    );
    let operations: Vec<_> = kernel
        .body
        .iter()
        .filter_map(|statement| match statement {
            Statement::Atomic(atomic) => Some((atomic.operation, atomic.access.offset)),
            _ => None,
        })
        .collect();
    use AtomicOperation as O;
    assert_eq!(
        operations,
        [
            (O::SignedMin, 0),
            (O::SignedMax, 0),
            (O::FloatAdd, 4),
            (O::FloatAdd, 4),
            (O::Exchange, 4),
            (O::SignedMax, 8),
            (O::UnsignedMin, 16),
            (O::Add, 8),
            (O::CompareExchange, 8),
            (O::Store, 16),
        ]
    );
}

#[test]
fn workgroup_atomics_and_uniform_loads_work() {
    let source = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        struct Tile { n: atomic<u32>, m: array<atomic<i32>, 3> }
        var<workgroup> tile: Tile; var<workgroup> p: vec3<u32>; var<workgroup> q: atomic<u32>;
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {
            atomicAdd(&tile.n, 3u); atomicSub(&tile.m[i + 1u], 4); atomicAdd(&tile.m[i + 9u], 2);
            p = vec3(1u, 2u, 3u); let v = workgroupUniformLoad(&p);
            out[0] = atomicLoad(&tile.n); out[1] = bitcast<u32>(atomicLoad(&tile.m[1])); out[2] = bitcast<u32>(atomicLoad(&tile.m[2]));
            out[3] = v.y; atomicStore(&q, 8u); out[4] = atomicLoad(&q);
        }";
    assert_eq!(run_with(source, &[], 5), [3, -4_i32 as u32, 2, 2, 8]);
    let kernel = lower(source);
    let barriers = kernel.body.iter().filter(|statement| matches!(statement, Statement::Barrier));
    assert_eq!(barriers.count(), 2);
    assert_eq!(kernel.workgroup_bytes, 36);
}
