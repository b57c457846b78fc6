//! Merge operators for zeros, subnormal floats and NaNs: host and kernels give the same bits.

use std::collections::HashMap;

use zippy::Element;
use zippy::device::{Device, DeviceOptions, Operator, PackedBox};

use super::combine::{chunk, contents, dense, onto};
use super::devices::{devices, moves_by_shaders};

/// True if kernels flush subnormal floats to zero, which WGSL allows.
fn kernels_flush() -> bool {
    let device = Device::open(&DeviceOptions { host_map: moves_by_shaders(), ..Default::default() }).unwrap();
    let cell = chunk(&device, &[f32::MIN_POSITIVE]);
    let piece = PackedBox { buffer: &cell, view: dense(1), payload_offset: 0 };
    let arriving = [-1.5 * f32::MIN_POSITIVE];
    device.combine(&f32::INFO, bytemuck::cast_slice(&arriving), &[piece], &Operator::Add).unwrap();
    contents::<f32>(&device, &cell, 1) != [-0.5 * f32::MIN_POSITIVE]
}

#[test]
fn zeros_and_the_smallest_floats() {
    let flush = kernels_flush();
    let values = [0.0, -0.0, 1.0, -1.0, f32::MIN_POSITIVE, -1.5 * f32::MIN_POSITIVE, f32::MAX, f32::INFINITY];
    let (there, arriving): (Vec<f32>, Vec<f32>) =
        (0..64).map(|i| (values[i % 8], values[i / 8])).filter(|(s, d)| (s + d).is_finite()).unzip();
    let mut bits: HashMap<Operator, Vec<u32>> = HashMap::new();
    for device in devices() {
        for operator in [Operator::Add, Operator::Min, Operator::Max] {
            let buffer = chunk(&device, &there);
            let piece = PackedBox { buffer: &buffer, view: dense(there.len()), payload_offset: 0 };
            device.combine(&f32::INFO, bytemuck::cast_slice(&arriving), &[piece], &operator).unwrap();
            let mut found: Vec<f32> = contents(&device, &buffer, there.len());
            found.iter_mut().filter(|cell| flush && cell.is_subnormal()).for_each(|cell| *cell *= 0.0);
            let found: Vec<u32> = found.iter().map(|cell| cell.to_bits()).collect();
            assert_eq!(*bits.entry(operator.clone()).or_insert(found.clone()), found, "{operator}");
        }
    }
}

/// Host and kernels combine NaNs alike. All NaN payloads are equal here.
#[test]
fn nan_combines_equally_on_host_and_by_kernels() {
    let values = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.0, 0.25, f32::MAX];
    let pairs: Vec<(f32, f32)> = values.iter().flat_map(|&s| values.map(|d| (s, d))).collect();
    let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    type Scalar = fn(f32, f32) -> f32;
    let scalars: [(Operator, Scalar); 3] = [
        (Operator::Add, |s, d| s + d),
        (Operator::Min, |s, d| if s.is_nan() || d.is_nan() || s >= d { d } else { s }),
        (Operator::Max, |s, d| if s.is_nan() || d.is_nan() || s <= d { d } else { s }),
    ];
    // Every pair of alphas with every pair of colours.
    let colours: Vec<([f32; 4], [f32; 4])> = pairs
        .iter()
        .flat_map(|alphas| pairs.iter().map(move |c| ([c.0, 0.5, c.1, alphas.0], [c.1, c.0, 0.125, alphas.1])))
        .collect();
    let saturate_opacity = |mut c: [f32; 4]| {
        c[3] = if c[3] >= 0.75 { 1.0 } else { c[3] };
        c
    };
    type Blend<'a> = &'a dyn Fn([f32; 4], [f32; 4]) -> [f32; 4];
    let blends: [(Operator, Blend<'_>); 3] = [
        (Operator::Over, &onto),
        (Operator::Under, &|s, d| onto(d, s)),
        (Operator::under_opaque_from(0.75), &|s, d| saturate_opacity(onto(d, s))),
    ];
    for (which, device) in devices().iter().enumerate() {
        if device.adapter().device_type != wgpu::DeviceType::Cpu {
            continue;
        }
        for (operator, expected) in &scalars {
            let (arriving, there): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let buffer = chunk(device, &there);
            let piece = PackedBox { buffer: &buffer, view: dense(there.len()), payload_offset: 0 };
            device.combine(&f32::INFO, bytemuck::cast_slice(&arriving), &[piece], operator).unwrap();
            for ((s, d), found) in pairs.iter().zip(contents::<f32>(device, &buffer, there.len())) {
                assert!(same(found, expected(*s, *d)), "{operator} of {s} and {d} on device {which}: {found}");
            }
        }
        for (operator, expected) in &blends {
            let (arriving, there): (Vec<[f32; 4]>, Vec<[f32; 4]>) = colours.iter().copied().unzip();
            let buffer = chunk(device, &there);
            let piece = PackedBox { buffer: &buffer, view: dense(there.len()), payload_offset: 0 };
            device.combine(&<[f32; 4]>::INFO, bytemuck::cast_slice(&arriving), &[piece], operator).unwrap();
            for ((s, d), found) in colours.iter().zip(contents::<[f32; 4]>(device, &buffer, there.len())) {
                let expected = expected(*s, *d);
                let alike = found.iter().zip(expected).all(|(&found, expected)| same(found, expected));
                assert!(alike, "{operator} of {s:?} and {d:?} on device {which}: {found:?}, not {expected:?}");
            }
        }
    }
}
