//! Merge operators for every element type, from payloads and from boxes on the device, compared
//! with plain loops.

use bytemuck::Pod;
use half::f16;
use zippy::Element;
use zippy::device::{BufferBox, ChunkBuffer, Device, Operator, PackedBox, StridedBox};
use zippy::error::DeviceError;
use zippy_testing::random::fibonacci_hash;

use super::devices::devices;

pub(crate) fn dense(n: usize) -> StridedBox {
    StridedBox::dense(0, [n as i64].into())
}

pub(crate) fn chunk<T: Pod>(device: &Device, cells: &[T]) -> ChunkBuffer {
    let bytes: &[u8] = bytemuck::cast_slice(cells);
    let buffer = device.storage_buffer(bytes.len() as u64, "chunk").unwrap();
    device.scatter(1, bytes, &[PackedBox { buffer: &buffer, view: dense(bytes.len()), payload_offset: 0 }]).unwrap();
    buffer
}

pub(crate) fn contents<T: Pod>(device: &Device, chunk: &ChunkBuffer, n: usize) -> Vec<T> {
    let bytes = n * size_of::<T>();
    let piece = PackedBox { buffer: chunk, view: dense(bytes), payload_offset: 0 };
    let payload = device.gather(1, &[piece], bytes.next_multiple_of(4) as u64).unwrap();
    bytemuck::pod_collect_to_vec(&payload.as_ref()[..bytes])
}

/// Combines boxes of a 2-d storage that share words and overlap, from a payload and from another
/// chunk.
fn check<T: Element + PartialEq + std::fmt::Debug>(
    operator: &Operator,
    make: impl Fn(u64) -> T,
    twin: impl Fn(T, T) -> T + Copy,
) {
    check_rounded_or_fused(operator, make, [twin, twin]);
}

/// [`check`] for an operator with sums of products. The first host version rounds the products
/// before the sum. The second version fuses both operations, which only GPUs may do.
fn check_rounded_or_fused<T: Element + PartialEq + std::fmt::Debug>(
    operator: &Operator,
    make: impl Fn(u64) -> T,
    twins: [impl Fn(T, T) -> T; 2],
) {
    let (nx, ny) = (37, 60);
    let there: Vec<T> = (0..nx * ny).map(|i| make(i * 7 + 3)).collect();
    let arriving: Vec<T> = (0..nx * ny).map(|i| make(i * 13 + 5)).collect();
    let boxes: Vec<StridedBox> =
        [(1, 2, 9, 20), (10, 2, 3, 30), (5, 10, 20, 30), (0, 59, 37, 1), (36, 0, 1, 59), (7, 7, 1, 1)]
            .iter()
            .map(|&(x, y, w, h)| StridedBox {
                offset: y * nx + x,
                extents: [w, h].into(),
                strides: [1, nx as i64].into(),
            })
            .chain([StridedBox { offset: 4 * nx, extents: [8, 5].into(), strides: [nx as i64, 1].into() }])
            .collect();
    let cells = |view: &StridedBox| -> Vec<usize> {
        let at = |x: i64, y: i64| view.offset as usize + (x * view.strides[0] + y * view.strides[1]) as usize;
        (0..view.extents[1]).flat_map(|y| (0..view.extents[0]).map(move |x| at(x, y))).collect()
    };
    let mut expected = [there.clone(), there.clone()];
    let mut payload: Vec<u8> = Vec::new();
    let mut offsets = Vec::new();
    for view in &boxes {
        payload.resize(payload.len().next_multiple_of(4) + 4, 0);
        offsets.push(payload.len() as u64);
        for cell in cells(view) {
            for (expected, twin) in expected.iter_mut().zip(&twins) {
                expected[cell] = twin(arriving[cell], expected[cell]);
            }
            payload.extend_from_slice(bytemuck::bytes_of(&arriving[cell]));
        }
    }
    for (which, device) in devices().iter().enumerate() {
        if T::INFO.supported_by(device.features(), "").is_err() {
            let buffer = chunk(device, &there);
            let piece = PackedBox { buffer: &buffer, view: boxes[0], payload_offset: offsets[0] };
            assert!(matches!(
                device.combine(&T::INFO, &payload, &[piece], operator),
                Err(DeviceError::Operator { .. })
            ));
            continue;
        }
        let is_gpu = device.adapter().device_type != wgpu::DeviceType::Cpu;
        let [rounded, fused] = &expected;
        let assert_expected = |found: Vec<T>, how: &str| {
            if !(is_gpu && found == *fused) {
                assert_eq!(found, *rounded, "{} {operator} from {how} on device {which}", T::INFO.name);
            }
        };
        let (buffer, beside) = (chunk(device, &there), chunk(device, &there));
        let pieces: Vec<_> = boxes
            .iter()
            .zip(&offsets)
            .map(|(&view, &payload_offset)| PackedBox { buffer: &buffer, view, payload_offset })
            .collect();
        device.combine(&T::INFO, &payload, &pieces, operator).unwrap();
        assert_expected(contents(device, &buffer, there.len()), "a payload");
        let source = chunk(device, &arriving);
        let pairs: Vec<_> = boxes
            .iter()
            .map(|&view| (BufferBox { buffer: &source, view }, BufferBox { buffer: &beside, view }))
            .collect();
        device.combine_boxes(&T::INFO, &pairs, operator).unwrap();
        assert_expected(contents(device, &beside, there.len()), "boxes");
    }
}

#[test]
fn floats() {
    let make = |i: u64| ((i * 2654435761 % 1000) as f32 - 500.0) * 0.37;
    check::<f32>(&Operator::Add, make, |s, d| s + d);
    check::<f32>(&Operator::Min, make, f32::min);
    check::<f32>(&Operator::Max, make, f32::max);
    check::<[f32; 2]>(&Operator::Add, |i| [make(i), make(i + 1)], |s, d| [s[0] + d[0], s[1] + d[1]]);
    check::<[f32; 4]>(
        &Operator::Max,
        |i| [i, i + 1, i + 2, i + 3].map(make),
        |s, d| std::array::from_fn(|c| s[c].max(d[c])),
    );
}

#[test]
fn integers_wrap() {
    let make = |i: u64| fibonacci_hash(i);
    check::<u32>(&Operator::Add, |i| make(i) as u32, u32::wrapping_add);
    check::<i32>(&Operator::Add, |i| make(i) as i32, i32::wrapping_add);
    check::<i32>(&Operator::Min, |i| make(i) as i32, i32::min);
    check::<[i32; 4]>(
        &Operator::Max,
        |i| [0, 1, 2, 3].map(|c| make(i + c) as i32),
        |s, d| std::array::from_fn(|c| s[c].max(d[c])),
    );
    check::<[u32; 2]>(&Operator::Min, |i| [make(i) as u32, 5], |s, d| [s[0].min(d[0]), 5]);
}

#[test]
fn packed_integers_saturate() {
    let make = |i: u64| fibonacci_hash(i) >> 40;
    check::<u8>(&Operator::Add, |i| make(i) as u8, u8::saturating_add);
    check::<i8>(&Operator::Add, |i| make(i) as i8, i8::saturating_add);
    check::<u16>(&Operator::Add, |i| make(i) as u16, u16::saturating_add);
    check::<i16>(&Operator::Add, |i| make(i) as i16, i16::saturating_add);
    check::<i8>(&Operator::Min, |i| make(i) as i8, i8::min);
    check::<u16>(&Operator::Max, |i| make(i) as u16, u16::max);
    check::<u8>(
        &Operator::custom(
            "absolute difference",
            "fn combine(src: T, dst: T) -> T { return max(src, dst) - min(src, dst); }",
        ),
        |i| make(i) as u8,
        u8::abs_diff,
    );
}

#[test]
fn optional_formats_combine_on_adapters_that_support_them() {
    let make = |i: u64| fibonacci_hash(i);
    check::<u64>(&Operator::Add, make, u64::wrapping_add);
    check::<i64>(&Operator::Max, |i| make(i) as i64, i64::max);
    check::<f64>(&Operator::Add, |i| make(i) as f64 * 1e-3, |s, d| s + d);
    check::<f16>(&Operator::Add, |i| f16::from_f32((i % 64) as f32), |s, d| s + d);
    check::<f16>(&Operator::Max, |i| f16::from_f32((i % 64) as f32), f16::max);
}

#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Nearest {
    distance: f32,
    id: u32,
    rank: u32,
    hits: i32,
    weight: f32,
}

#[test]
fn records_combine_by_custom_operator() {
    let wgsl = "
        fn combine(src: T, dst: T) -> T {
            if src.distance < dst.distance { return src; }
            return dst;
        }";
    let make = |i: u64| Nearest {
        distance: (i * 2654435761 % 1000) as f32,
        id: i as u32,
        rank: 3,
        hits: -(i as i32),
        weight: 0.5,
    };
    let twin = |s: Nearest, d: Nearest| if s.distance < d.distance { s } else { d };
    check(&Operator::custom("nearest", wgsl), make, twin);
}

/// A premultiplied colour that uses all bits.
fn colour(i: u64) -> [f32; 4] {
    let part = |c: u64| (fibonacci_hash(i + c) >> 40) as f32 / (1 << 24) as f32;
    let alpha = part(3);
    [part(0) * alpha, part(1) * alpha, part(2) * alpha, alpha]
}

/// Operator "over" with products that are rounded before the sum.
pub(crate) fn onto(front: [f32; 4], back: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|c| front[c] + (1.0 - front[3]) * back[c])
}

/// [`onto`] with fused products and sums.
fn onto_fused(front: [f32; 4], back: [f32; 4]) -> [f32; 4] {
    std::array::from_fn(|c| (1.0 - front[3]).mul_add(back[c], front[c]))
}

#[test]
fn over_and_under_blend_colours() {
    type Onto = fn([f32; 4], [f32; 4]) -> [f32; 4];
    let twins: [Onto; 2] = [onto, onto_fused];
    check_rounded_or_fused::<[f32; 4]>(&Operator::Over, colour, twins);
    check_rounded_or_fused::<[f32; 4]>(&Operator::Under, colour, twins.map(|onto| move |s, d| onto(d, s)));
    let opaque = std::sync::atomic::AtomicU32::new(0);
    let saturated = |onto: Onto| {
        let opaque = &opaque;
        move |s, d| {
            let mut c = onto(d, s);
            if c[3] >= 0.75 {
                c[3] = 1.0;
                opaque.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            c
        }
    };
    check_rounded_or_fused::<[f32; 4]>(&Operator::under_opaque_from(0.75), colour, twins.map(saturated));
    assert!(opaque.into_inner() > 200, "the threshold is met often");
}

#[test]
fn cell_under_opaque_cell_has_no_effect() {
    let operator = Operator::under_opaque_from(1.0 - 1.0 / 1024.0);
    let there = [0.5, 0.25, 0.125, 1.0 - 1.0 / 2048.0_f32];
    for device in devices() {
        let buffer = chunk(&device, &[there; 70]);
        let piece = PackedBox { buffer: &buffer, view: dense(70), payload_offset: 0 };
        for front in [[0.0_f32; 4], [1.0, 1.0, 1.0, 1.0], [0.3, 0.2, 0.1, 0.9]] {
            device.combine(&<[f32; 4]>::INFO, bytemuck::cast_slice(&[front; 70]), &[piece], &operator).unwrap();
            assert_eq!(contents::<[f32; 4]>(&device, &buffer, 70), [[0.5, 0.25, 0.125, 1.0]; 70]);
        }
    }
}

/// Operator "over" for 8 bits each of red (lowest), green, blue and alpha, rounded to nearest.
fn onto_bytes(front: u32, back: u32) -> u32 {
    let (front, back) = (front.to_le_bytes(), back.to_le_bytes());
    let through = 255 - u32::from(front[3]);
    u32::from_le_bytes(std::array::from_fn(|c| {
        let nearest = (2 * through * u32::from(back[c]) + 255) / 510;
        (u32::from(front[c]) + nearest).min(255) as u8
    }))
}

#[test]
fn colours_of_eight_bits() {
    // Every product of a transparency and a component, and colours without premultiplication, which
    // saturate.
    let make = |i: u64| (fibonacci_hash(i) >> 32) as u32;
    check::<u32>(&Operator::Over, make, onto_bytes);
    check::<u32>(&Operator::Under, make, |s, d| onto_bytes(d, s));
    check::<u32>(&Operator::under_opaque_from(0.6), make, |s, d| {
        let c = onto_bytes(d, s);
        if c >> 24 >= 153 { c | 0xff00_0000 } else { c }
    });
    let all = |n: usize| (0..n).map(|i| i as u32);
    let (fronts, backs): (Vec<u32>, Vec<u32>) =
        all(1 << 16).map(|i| ((i >> 8) << 24, (i & 255) | (i & 255) << 24)).unzip();
    for device in devices() {
        let buffer = chunk(&device, &backs);
        let piece = PackedBox { buffer: &buffer, view: dense(backs.len()), payload_offset: 0 };
        device.combine(&u32::INFO, bytemuck::cast_slice(&fronts), &[piece], &Operator::Over).unwrap();
        let expected: Vec<u32> = fronts.iter().zip(&backs).map(|(s, d)| onto_bytes(*s, *d)).collect();
        assert_eq!(contents::<u32>(&device, &buffer, backs.len()), expected);
    }
}

#[test]
fn overlapping_sources_are_read_first() {
    for device in devices() {
        let cells: Vec<u32> = (0..2000).map(|i| i * i).collect();
        let buffer = chunk(&device, &cells);
        let view = |offset| StridedBox { offset, extents: [900].into(), strides: [1].into() };
        let of = |offset| BufferBox { buffer: &buffer, view: view(offset) };
        device.combine_boxes(&u32::INFO, &[(of(0), of(1)), (of(500), of(1000))], &Operator::Add).unwrap();
        let mut expected = cells.clone();
        (0..900).for_each(|i| expected[i + 1] += cells[i]);
        (0..900).for_each(|i| expected[i + 1000] += cells[i + 500]);
        assert_eq!(contents::<u32>(&device, &buffer, 2000), expected);
    }
}

#[test]
fn repeated_combine_allocates_nothing() {
    for device in devices() {
        let buffer = chunk(&device, &[1_u32; 3000]);
        let view = StridedBox { offset: 3, extents: [30, 30].into(), strides: [1, 50].into() };
        let piece = PackedBox { buffer: &buffer, view, payload_offset: 0 };
        let step = || {
            device.combine(&u32::INFO, &[1; 3600], &[piece], &Operator::Add).unwrap();
            device.wait().unwrap();
        };
        (0..2).for_each(|_| step());
        let warm = device.counters();
        (0..5).for_each(|_| step());
        let after = device.counters();
        assert_eq!((after.buffers_made, after.pipelines_made), (warm.buffers_made, warm.pipelines_made));
    }
}

#[test]
fn unsupported_operator_error_lists_alternatives() {
    let over = Operator::Over.check(&f32::INFO).unwrap_err().to_string();
    assert!(over.contains("over") && over.contains("f32") && over.contains("vec4<f32>"), "{over}");
    let record = Operator::Add.check(&Nearest::INFO).unwrap_err().to_string();
    assert!(record.contains("Nearest") && record.contains("custom"), "{record}");
    let threshold = Operator::under_opaque_from(1.5).check(&u32::INFO).unwrap_err().to_string();
    assert!(threshold.contains("1.5 is no threshold"), "{threshold}");
    let built_in = [Operator::Add, Operator::Min, Operator::Max, Operator::Over, Operator::Under];
    for operator in built_in.into_iter().chain([Operator::under_opaque_from(0.9), Operator::custom("a", "b")]) {
        let (name, wgsl) = operator.to_parts();
        assert_eq!(Operator::from_parts(&name, wgsl.as_deref()).unwrap(), operator);
    }
    assert!(Operator::from_parts("mul", None).is_err());
}

#[test]
fn invalid_operator_error_has_line_and_column() {
    let at = |wgsl: &str, element: &zippy::element::ElementInfo| match Operator::custom("mine", wgsl).check(element) {
        Err(DeviceError::OperatorSource { operator, line, column, message }) => {
            assert_eq!(operator, "mine");
            assert!(!message.is_empty());
            (line, column)
        }
        other => panic!("{other:?}"),
    };
    let syntax = "fn combine(src: T, dst: T) -> T {\n    return src + ;\n}";
    assert_eq!(at(syntax, &f32::INFO), (2, 18));
    assert_eq!(at(syntax, &f16::INFO), (2, 18));
    let unknown = "fn helper(x: T) -> T { return x; }\nfn combine(src: T, dst: T) -> T {\n    return helper(srce);\n}";
    assert_eq!(at(unknown, &u8::INFO), (3, 19));
    let types = "\n\nfn combine(src: T, dst: T) -> T {\n    return vec2(src, dst);\n}";
    assert_eq!(at(types, &u32::INFO).0, 4);
    assert_eq!(at("fn combine(src: T) -> T { return src; }", &u32::INFO).0, 1);
    assert_eq!(at("", &u32::INFO).0, 1);
    let device = &devices()[0];
    let buffer = chunk(device, &[1.0_f32; 64]);
    let piece = PackedBox { buffer: &buffer, view: dense(64), payload_offset: 0 };
    assert!(device.combine(&f32::INFO, &[0; 256], &[piece], &Operator::custom("mine", syntax)).is_err());
    assert!(device.combine(&f32::INFO, &[0; 256], &[piece], &Operator::Over).is_err());
    assert_eq!(contents::<f32>(device, &buffer, 64), [1.0; 64]);
}
