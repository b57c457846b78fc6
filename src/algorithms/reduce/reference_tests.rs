//! Reference implementation of `shaders/reduce` in plain Rust, compared with the kernels on edge
//! cases.

use std::rc::Rc;

use half::f16;
use zippy_testing::random::fibonacci_hash;

use super::format::Order;
use super::number::Number;
use super::source::{DIFFERING, DOT_FLOAT, DOT_INTEGER, EXTREMES, HISTOGRAM, SUM_FLOAT, SUM_INTEGER, Work, kernel};
use crate::device::{BufferBox, Device, DeviceOptions, ReductionKernel, StridedBox};
use crate::extents::Index;

/// Adds the 16-bit parts of a number to consecutive digits, with a sign.
fn add_parts(digits: &mut [i64], at: usize, mut value: u128, negative: bool) {
    for digit in &mut digits[at..] {
        let part = (value & 0xffff) as i64;
        *digit += if negative { -part } else { part };
        value >>= 16;
    }
}

fn parts(bits: u32) -> (u32, u32) {
    let biased = bits >> 23 & 0xff;
    (bits & 0x7f_ffff | if biased != 0 { 1 << 23 } else { 0 }, biased.max(1) - 1)
}

fn count_special(counts: &mut [i64], nan: bool, negative: bool) {
    counts[if nan { 0 } else { 1 + usize::from(negative) }] += 1;
}

fn sum_float(words: &mut [i64], bits: u32) {
    if bits >> 23 & 0xff == 255 {
        return count_special(&mut words[18..], bits & 0x7f_ffff != 0, bits >> 31 == 1);
    }
    let (mantissa, exponent) = parts(bits);
    let shifted = u128::from(mantissa) << (exponent & 31);
    add_parts(&mut words[..18], 2 * (exponent >> 5) as usize, shifted, bits >> 31 == 1);
}

fn dot_float(words: &mut [i64], a: u32, b: u32) {
    let finite = |bits: u32| bits >> 23 & 0xff != 255;
    let negative = (a ^ b) >> 31 == 1;
    if !(finite(a) && finite(b)) {
        let product = f32::from_bits(a) * f32::from_bits(b);
        return count_special(&mut words[36..], product.is_nan(), negative);
    }
    let ((ma, ea), (mb, eb)) = (parts(a), parts(b));
    let shifted = (u128::from(ma) * u128::from(mb)) << ((ea + eb) & 63);
    add_parts(&mut words[..36], 4 * ((ea + eb) >> 6) as usize, shifted, negative);
}

/// Value of an integer with these bits.
fn as_integer<T: Number>(bits: u32) -> i64 {
    let signed = T::FORMAT.is_some_and(|format| format.order == Order::Signed);
    if signed { i64::from(bits as i32) } else { i64::from(bits) }
}

fn sum_integer<T: Number>(words: &mut [i64], bits: u32) {
    let value = as_integer::<T>(bits);
    words[0] += value & 0xffff;
    words[1] += value >> 16;
}

fn dot_integer<T: Number>(words: &mut [i64], a: u32, b: u32) {
    let product = i128::from(as_integer::<T>(a)) * i128::from(as_integer::<T>(b));
    add_parts(words, 0, product.unsigned_abs(), product < 0);
}

/// Minimum and maximum of the keys in a range, and their number.
fn extremes(keys: &[u32], low: u32, high: u32) -> (Option<u32>, Option<u32>, usize) {
    let within = || keys.iter().copied().filter(|key| (low..=high).contains(key));
    (within().min(), within().max(), within().count())
}

/// Counts of numbers below, between and above edges, given by their keys; NaNs in the last word.
fn histogram<T: Number>(numbers: &[T], edges: &[u32]) -> Vec<i64> {
    let mut words = vec![0; HISTOGRAM.words];
    for &value in numbers {
        let canonical = if value == T::zeroed() { T::zeroed() } else { value };
        let bin = edges.iter().filter(|&&edge| edge <= canonical.device_key()).count();
        words[if value.key().is_some() { bin } else { HISTOGRAM.words - 1 }] += 1;
    }
    words
}

/// Number of cells, each of `numbers` numbers, that differ from the corresponding cells.
fn differing(cells: &[u32], corresponding: &[u32], numbers: usize) -> i64 {
    let pairs = cells.chunks(numbers).zip(corresponding.chunks(numbers));
    pairs.filter(|(cell, corresponding)| cell != corresponding).count() as i64
}

/// Result of the kernels' `load` for a number.
trait Loaded: Number {
    fn load(self) -> u32;
}
macro_rules! loaded {
    ($($ty:ty: $to:expr;)*) => {$(
        impl Loaded for $ty {
            fn load(self) -> u32 {
                $to(self)
            }
        }
    )*};
}
loaded! {
    u8: u32::from; u16: u32::from; u32: |v| v;
    i8: |v| i32::from(v) as u32; i16: |v| i32::from(v) as u32; i32: |v| v as u32;
    f32: f32::to_bits;
    f16: |v: f16| v.to_f32().to_bits();
}

/// Words that a kernel writes for every second cell, per workgroup.
fn run_kernel<T: Number>(
    device: &Rc<Device>,
    work: &Work,
    constants: &[u32],
    cells: [&[T]; 2],
    paired: bool,
) -> Vec<Vec<u32>> {
    let n = cells[0].len();
    let buffers = cells.map(|cells| {
        let buffer = device.storage_buffer(size_of_val(cells) as u64, "cells").unwrap();
        let bytes: &[u8] = bytemuck::cast_slice(cells);
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), 0);
        device.queue().write_buffer(buffer.raw(), 0, &padded);
        buffer
    });
    let view = StridedBox { offset: 1, extents: Index::from([n as i64 / 2]), strides: Index::from([2]) };
    let second = paired.then(|| BufferBox { buffer: &buffers[1], view });
    let (name, source) = kernel(work, &T::INFO, T::FORMAT.unwrap());
    let kernel = ReductionKernel { name: &name, source: &source, words: work.words, constants };
    let mut found = Vec::new();
    let pairs = [(BufferBox { buffer: &buffers[0], view }, second)];
    device.reduce_boxes(&kernel, size_of::<T>(), &pairs, &mut |words| found.push(words.to_vec())).unwrap();
    found
}

/// Sums of the columns of words, as signed numbers.
fn sum_columns(words: &[Vec<u32>]) -> Vec<i64> {
    let column = |at: usize| words.iter().map(|words| i64::from(words[at] as i32)).sum();
    (0..words.first().map_or(0, Vec::len)).map(column).collect()
}

fn check_kernels<T: Loaded>(cells: &[T], float: bool) {
    let device = Device::open(&DeviceOptions::default()).unwrap();
    let others: Vec<T> = cells.iter().rev().copied().collect();
    let seen: Vec<(u32, u32)> =
        cells.iter().zip(&others).skip(1).step_by(2).map(|(a, b)| (a.load(), b.load())).collect();
    let adding = if float {
        [(&SUM_FLOAT.work, false), (&DOT_FLOAT.work, true)]
    } else {
        [(&SUM_INTEGER.work, false), (&DOT_INTEGER.work, true)]
    };
    for (work, paired) in adding {
        let found = sum_columns(&run_kernel(&device, work, &[], [cells, &others], paired));
        let mut expected = vec![0_i64; work.words];
        for &(a, b) in &seen {
            match (float, paired) {
                (true, false) => sum_float(&mut expected, a),
                (true, true) => dot_float(&mut expected, a, b),
                (false, false) => sum_integer::<T>(&mut expected, a),
                (false, true) => dot_integer::<T>(&mut expected, a, b),
            }
        }
        assert_eq!(found, expected, "{} of {}", work.name, T::INFO.name);
    }

    let counted: Vec<T> = cells.iter().copied().skip(1).step_by(2).collect();
    let keys: Vec<u32> = counted.iter().filter(|v| v.key().is_some()).map(|v| v.device_key()).collect();
    // The range of all numbers, and a range whose bounds are among the numbers.
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    for (low, high) in [(0, u32::MAX), (sorted[sorted.len() / 5], sorted[sorted.len() / 2])] {
        let found = run_kernel(&device, &EXTREMES, &[low, high], [cells, &others], false);
        let least = found.iter().map(|words| words[0]).min();
        let most = found.iter().map(|words| words[1]).max();
        let taken = counted.len() - found.iter().map(|words| words[2]).sum::<u32>() as usize;
        assert_eq!((least, most, taken), extremes(&keys, low, high));
    }

    let mut edges: Vec<u32> = keys.iter().copied().step_by(7).collect();
    edges.sort_unstable();
    edges.truncate(900);
    let constants: Vec<u32> = std::iter::once(edges.len() as u32).chain(edges.iter().copied()).collect();
    let found = sum_columns(&run_kernel(&device, &HISTOGRAM, &constants, [cells, &others], false));
    assert_eq!(found, histogram(&counted, &edges));

    // The kernel compares bits, so floats are excluded.
    if !float {
        let corresponding: Vec<T> = (0..cells.len()).map(|i| if i % 5 == 0 { others[i] } else { cells[i] }).collect();
        let [one, other] =
            [cells, &corresponding].map(|cells| cells.iter().map(|cell| cell.load()).collect::<Vec<_>>());
        let seen = |cells: &[u32]| cells.iter().copied().skip(1).step_by(2).collect::<Vec<_>>();
        let found = sum_columns(&run_kernel(&device, &DIFFERING, &[1], [cells, &corresponding], true));
        let expected = differing(&seen(&one), &seen(&other), 1);
        assert!(found == [expected] && expected > 0, "{found:?}, {expected}");
    }
}

fn edge_case_bits(n: u64) -> impl Iterator<Item = u64> {
    (0..n).map(|i| {
        let mixed = fibonacci_hash(i + 1);
        match i % 8 {
            0 => [0, 1 << 31, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xff80_0001, 1, 0x8000_0001][i as usize / 8 % 8],
            1 => 0x7f7f_ffff | mixed & 1 << 31,
            2 => mixed & 0x807f_ffff,
            _ => mixed >> 20,
        }
    })
}

#[test]
fn float_kernels_equal_reference() {
    check_kernels(&edge_case_bits(20_001).map(|bits| f32::from_bits(bits as u32)).collect::<Vec<_>>(), true);
    check_kernels(&(0..=u16::MAX).map(f16::from_bits).collect::<Vec<_>>(), true);
    let shifted: Vec<_> = (0..=u16::MAX).map(|bits| f16::from_bits(bits.rotate_left(1))).collect();
    check_kernels(&shifted, true);
}

#[test]
fn integer_kernels_equal_reference() {
    check_kernels(&edge_case_bits(20_000).map(|bits| bits as u32).collect::<Vec<_>>(), false);
    check_kernels(&edge_case_bits(20_001).map(|bits| bits as i32).collect::<Vec<_>>(), false);
    check_kernels(&edge_case_bits(9_003).map(|bits| (bits >> 3) as u16).collect::<Vec<_>>(), false);
    check_kernels(&edge_case_bits(9_002).map(|bits| (bits >> 3) as i16).collect::<Vec<_>>(), false);
    check_kernels(&edge_case_bits(9_001).map(|bits| (bits >> 3) as u8).collect::<Vec<_>>(), false);
    check_kernels(&edge_case_bits(9_000).map(|bits| (bits >> 3) as i8).collect::<Vec<_>>(), false);
}
