use super::{bytes, run_text, run_words, values};

#[test]
fn barrier_orders_writes_and_reads() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> tile: array<u32, 8>;
        @compute @workgroup_size(8)
        fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) local: u32) {
            tile[local] = id.x * id.x;
            workgroupBarrier();
            out[id.x] = tile[7u - local];
        }";
    let expected: Vec<u32> = (0..16).map(|i: u32| (i / 8 * 8 + 7 - i % 8).pow(2)).collect();
    assert_eq!(run_words(text, 16, [2, 1, 1]), expected);
}

#[test]
fn reduction_in_workgroup_memory_adds_all_invocations() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> sums: array<u32, 64>;
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) local: u32) {
            sums[local] = local * (group.x + 1u);
            for (var half = 32u; half > 0u; half /= 2u) {
                workgroupBarrier();
                if local < half { sums[local] += sums[local + half]; }
            }
            if local == 0u { out[group.x] = sums[0]; }
        }";
    assert_eq!(run_words(text, 3, [3, 1, 1]), [2016, 4032, 6048]);
}

#[test]
fn barrier_in_function_is_passed_by_all() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> tile: array<u32, 4>;
        fn rotate(local: u32, x: u32) -> u32 {
            tile[local] = x;
            workgroupBarrier();
            let y = tile[(local + 1u) % 4u];
            workgroupBarrier();
            return y;
        }
        @compute @workgroup_size(2, 2)
        fn main(@builtin(local_invocation_index) local: u32) {
            var x = local;
            for (var i = 0; i < 3; i++) { x = rotate(local, x) + 10u; }
            out[local] = x;
        }";
    assert_eq!(run_words(text, 4, [1, 1, 1]), [33, 30, 31, 32]);
}

#[test]
fn workgroup_memory_starts_as_zero_in_each_workgroup() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        struct S { a: bool, b: vec2<bool>, c: array<u32, 3> }
        var<workgroup> s: S;
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) group: vec3<u32>) {
            out[group.x] = s.c[2] + u32(s.a) + u32(s.b.y);
            s.c[2] = 5u; s.a = true; s.b = vec2<bool>(true);
            out[group.x] += 10u * (s.c[2] + u32(s.a) + u32(s.b.x));
        }";
    assert_eq!(run_words(text, 2, [2, 1, 1]), [70, 70]);
}

#[test]
fn private_memory_belongs_to_one_invocation() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<private> counter: u32 = 3u;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) local: u32) {
            counter += local;
            workgroupBarrier();
            out[local] = counter;
        }";
    assert_eq!(run_words(text, 4, [1, 1, 1]), [3, 4, 5, 6]);
}

#[test]
fn uniform_load_waits_before_and_after() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> x: u32;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) local: u32) {
            if local == 3u { x = 7u; }
            let y = workgroupUniformLoad(&x);
            if local == 0u { x = 1u; }
            let z = workgroupUniformLoad(&x);
            out[local] = y * 10u + z;
        }";
    assert_eq!(run_words(text, 4, [1, 1, 1]), [71; 4]);
}

#[test]
fn barrier_that_some_invocations_miss_is_an_error() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) local: u32) {
            if out[local] == 1u { return; }
            workgroupBarrier();
        }";
    assert!(run_text(text, &[bytes(&[1u32, 0, 0, 0])], [1, 1, 1]).is_err());
    assert!(run_text(text, &[bytes(&[1u32; 4])], [1, 1, 1]).is_ok());
    assert!(run_text(text, &[bytes(&[0u32; 4])], [1, 1, 1]).is_ok());
}

#[test]
fn atomic_operations_return_the_old_value() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<i32>;
        @group(0) @binding(1) var<storage, read_write> a: array<atomic<i32>, 3>;
        @compute @workgroup_size(1)
        fn main() {
            out[0] = atomicAdd(&a[0], 5);
            out[1] = atomicSub(&a[0], 7);
            out[2] = atomicMin(&a[0], -20);
            out[3] = atomicMax(&a[0], 6);
            out[4] = atomicAnd(&a[0], 3);
            out[5] = atomicOr(&a[0], 9);
            out[6] = atomicXor(&a[0], 1);
            out[7] = atomicExchange(&a[0], 40);
            out[8] = atomicLoad(&a[0]);
            atomicStore(&a[1], 50);
            let same = atomicCompareExchangeWeak(&a[1], 50, 60);
            let other = atomicCompareExchangeWeak(&a[1], 50, 70);
            out[9] = same.old_value; out[10] = i32(same.exchanged);
            out[11] = other.old_value; out[12] = i32(other.exchanged);
            atomicAdd(&a[2], 2147483647); atomicAdd(&a[2], 2);
        }";
    let buffers = run_text(text, &[bytes(&[0i32; 13]), bytes(&[1i32, 0, 0])], [1, 1, 1]).unwrap();
    assert_eq!(values::<i32>(&buffers[0]), [1, 6, -1, -20, 6, 2, 11, 10, 40, 50, 1, 60, 0]);
    assert_eq!(values::<i32>(&buffers[1]), [40, 60, i32::MIN + 1]);
}

#[test]
fn atomics_of_unsigned_integers_in_workgroup_memory_follow_their_operations() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> highest: atomic<u32>;
        var<workgroup> bins: array<atomic<u32>, 4>;
        @compute @workgroup_size(32)
        fn main(@builtin(local_invocation_index) local: u32) {
            atomicMax(&highest, local ^ 0x80000000u);
            atomicAdd(&bins[local % 3u], local);
            workgroupBarrier();
            if local < 4u { out[local] = atomicLoad(&bins[local]); }
            out[4] = atomicLoad(&highest);
        }";
    assert_eq!(run_words(text, 5, [1, 1, 1]), [165, 176, 155, 0, 0x8000_001f]);
}

#[test]
fn atomic_past_the_end_gives_zero() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @group(0) @binding(1) var<storage, read_write> a: array<atomic<u32>>;
        @compute @workgroup_size(1)
        fn main() {
            var i = 2u;
            out[0] = atomicAdd(&a[i], 5u) + 1u;
            out[1] = atomicExchange(&a[i], 5u) + 1u;
            out[2] = atomicLoad(&a[i]) + 1u;
            out[3] = u32(atomicCompareExchangeWeak(&a[i], 0u, 5u).exchanged) + 1u;
        }";
    let buffers = run_text(text, &[bytes(&[0u32; 4]), bytes(&[3u32, 4])], [1, 1, 1]).unwrap();
    assert_eq!(values::<u32>(&buffers[0]), [1; 4]);
    assert_eq!(values::<u32>(&buffers[1]), [3, 4]);
}

#[test]
fn atomic_addition_of_floats_and_wide_integers_counts_each_invocation() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> f: atomic<f32>;
        @group(0) @binding(1) var<storage, read_write> w: atomic<u64>;
        @compute @workgroup_size(4)
        fn main() { atomicAdd(&f, 0.5); atomicAdd(&w, 4294967295lu); }";
    let buffers = run_text(text, &[bytes(&[1f32]), bytes(&[1u64])], [1, 1, 1]).unwrap();
    assert_eq!(values::<f32>(&buffers[0]), [3.0]);
    assert_eq!(values::<u64>(&buffers[1]), [1 + 4 * 0xffff_ffff]);
}
