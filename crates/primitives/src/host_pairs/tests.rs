use std::num::NonZero;

use zippy::device::HostThreads;

use super::{BytePairs, count_bins, distribute, extremes, merge, sort};
use crate::sort_key::{KeyKind, KeyOrder};

/// Type of sort keys: the order of its words, and the comparison of keys as numbers.
struct KeyCase {
    order: KeyOrder,
    number: fn(&[u32]) -> u64,
}

fn float(key: &[u32]) -> u64 {
    // The comparison of `f32::total_cmp`, as signed integers.
    let bits = key[0].cast_signed();
    let signed = bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed();
    (i64::from(signed) + (1 << 31)) as u64
}

const CASES: [KeyCase; 6] = [
    KeyCase { order: KeyOrder { words: 1, top: 0, kind: KeyKind::Unsigned }, number: |key| key[0].into() },
    KeyCase {
        order: KeyOrder { words: 1, top: 0, kind: KeyKind::Signed },
        number: |key| (i64::from(key[0].cast_signed()) + (1 << 31)) as u64,
    },
    KeyCase { order: KeyOrder { words: 1, top: 0, kind: KeyKind::Float }, number: float },
    KeyCase {
        order: KeyOrder { words: 2, top: 0, kind: KeyKind::Unsigned },
        number: |key| u64::from(key[0]) << 32 | u64::from(key[1]),
    },
    KeyCase {
        order: KeyOrder { words: 2, top: 1, kind: KeyKind::Unsigned },
        number: |key| u64::from(key[1]) << 32 | u64::from(key[0]),
    },
    KeyCase {
        order: KeyOrder { words: 2, top: 1, kind: KeyKind::Signed },
        number: |key| (u64::from(key[1]) << 32 | u64::from(key[0])) ^ 1 << 63,
    },
];

fn mixed(index: usize, word: usize) -> u32 {
    let mut state = (index as u64 * 2 + word as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    (state.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32
}

/// Functions that generate test keys: a word by index of the key, index of the word, and number of
/// keys.
const KINDS: [fn(usize, usize, usize) -> u32; 8] = [
    |i, word, _| mixed(i, word),
    |_, _, _| 7,
    |i, _, _| i as u32,
    |i, _, n| (n - i) as u32,
    |i, word, _| mixed(i, word) % 5,
    // Most keys share all high bits.
    |i, word, _| if i % 64 == 0 { mixed(i, word) } else { mixed(i, word) >> 20 },
    |i, word, _| mixed(i, word) & 0x8000_0101,
    // NaN, zeros, infinities and subnormal numbers of both signs.
    |i, word, _| {
        [0x7fc0_0000, 0xffc0_0001, 0, 1 << 31, 0x7f80_0000, 0xff80_0000, 1, 0x8000_0001][mixed(i, word) as usize % 8]
    },
];

const THREADS: [HostThreads; 3] = [HostThreads::ONE, threads(2), threads(3)];

const fn threads(count: usize) -> HostThreads {
    HostThreads::with_count(NonZero::new(count).expect("not 0"))
}

/// Cuts bytes into `count` slices of whole cells of different lengths.
fn cut(bytes: &mut [u8], size: usize, count: usize) -> Vec<&mut [u8]> {
    let cells = bytes.len() / size.max(1);
    let (mut rest, mut slices, mut before) = (bytes, Vec::new(), 0);
    for number in 1..=count {
        let end = if number == count { cells } else { (number * cells / count + number % 3).clamp(before, cells) };
        let (head, tail) = std::mem::take(&mut rest).split_at_mut((end - before) * size);
        slices.push(head);
        (rest, before) = (tail, end);
    }
    slices
}

/// Copies bytes to words, so that the bytes are aligned like device memory.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    let mut words = vec![0; bytes.len().div_ceil(8)];
    bytemuck::cast_slice_mut(&mut words)[..bytes.len()].copy_from_slice(bytes);
    words
}

fn bytes_of(words: &mut [u64], bytes: usize) -> &mut [u8] {
    &mut bytemuck::cast_slice_mut(words)[..bytes]
}

/// Returns test keys, and values of `size` bytes that encode their index.
fn pairs(case: &KeyCase, kind: usize, cells: usize, size: usize) -> (Vec<u32>, Vec<u8>) {
    let words = case.order.words;
    let keys = (0..cells * words).map(|at| KINDS[kind](at / words, at % words, cells)).collect();
    (keys, (0..cells * size).map(|byte| mixed(byte / size.max(1), byte % size.max(1)) as u8).collect())
}

/// Returns the pairs in the order of the given indices.
fn gathered(case: &KeyCase, (keys, values): (&[u32], &[u8]), size: usize, order: &[usize]) -> (Vec<u32>, Vec<u8>) {
    let words = case.order.words;
    let keys = order.iter().flat_map(|&i| keys[i * words..][..words].iter().copied()).collect();
    (keys, order.iter().flat_map(|&i| values[i * size..][..size].iter().copied()).collect())
}

fn check_sort(case: &KeyCase, kind: usize, cells: usize, size: usize, chunks: &[usize]) {
    let (keys, values) = pairs(case, kind, cells, size);
    let words = case.order.words;
    let mut order: Vec<usize> = (0..cells).collect();
    order.sort_by_key(|&i| (case.number)(&keys[i * words..][..words]));
    let expected = gathered(case, (&keys, &values), size, &order);
    for threads in THREADS {
        for &chunks in chunks {
            let bytes = values.len();
            let (mut keys, mut values) = (keys.clone(), aligned(&values));
            let (mut keys_room, mut values_room) = (vec![0_u32; keys.len()], vec![0_u64; values.len()]);
            let all = BytePairs {
                keys: cut(bytemuck::cast_slice_mut(&mut keys), 4 * words, chunks),
                // Values are cut at other cells than keys.
                values: cut(bytes_of(&mut values, bytes), size, chunks + 1),
                size,
            };
            let room = BytePairs {
                keys: cut(bytemuck::cast_slice_mut(&mut keys_room), 4 * words, 1 + chunks / 3),
                values: vec![bytes_of(&mut values_room, bytes)],
                size,
            };
            sort(threads, case.order, all, room);
            let what =
                format!("{:?}, kind {kind}, {cells} cells, size {size}, {chunks} chunks, {threads:?}", case.order);
            assert!(keys == expected.0, "keys of {what}");
            assert!(bytes_of(&mut values, bytes) == expected.1, "values of {what}");
        }
    }
}

#[test]
fn sorted_pairs_equal_those_of_a_stable_sort() {
    for case in &CASES {
        for kind in 0..KINDS.len() {
            for cells in [0, 1, 2, 3, 24, 25, 1001] {
                check_sort(case, kind, cells, 4, &[1, 2, 3, 8]);
            }
        }
    }
}

#[test]
fn pairs_beyond_a_cache_are_sorted_on_all_threads() {
    for (number, case) in CASES.iter().enumerate() {
        for kind in 0..KINDS.len() {
            // Each case has some of the kinds at each length.
            let cells = [70_001, 230_003][(number + kind) % 2];
            check_sort(case, kind, cells, [0, 4, 2][(number + kind) % 3], &[1, 3, 8]);
        }
    }
}

#[test]
fn values_of_every_size_follow_their_keys() {
    for size in [0, 1, 2, 4, 8, 12, 16, 20, 24, 36, 64] {
        for kind in [0, 4] {
            check_sort(&CASES[0], kind, 1001, size, &[1, 2, 3, 8]);
            check_sort(&CASES[2], kind, 70_001, size, &[1, 3]);
        }
    }
}

#[test]
fn distributed_pairs_keep_their_order_within_buckets() {
    for case in &CASES {
        for (cells, size) in [(0, 4), (1, 0), (1001, 20), (70_001, 4), (70_001, 24)] {
            let (keys, values) = pairs(case, 0, cells, size);
            let words = case.order.words;
            let bucket = |number: u64| (number % 7) as usize;
            let numbers: Vec<u64> = keys.chunks_exact(words).map(|key| (case.number)(key)).collect();
            let mut order: Vec<usize> = (0..cells).collect();
            order.sort_by_key(|&i| bucket(numbers[i]));
            let expected = gathered(case, (&keys, &values), size, &order);
            for (threads, chunks) in THREADS.into_iter().zip([1, 2, 8]) {
                let bytes = values.len();
                let (mut keys, mut values) = (keys.clone(), aligned(&values));
                let (mut keys_room, mut values_room) = (vec![0_u32; keys.len()], vec![0_u64; values.len()]);
                let slices = cut(bytemuck::cast_slice_mut(&mut keys), 4 * words, chunks);
                let [least, most] = extremes(threads, case.order, slices);
                assert_eq!(least, numbers.iter().copied().min().unwrap_or(u64::MAX));
                assert_eq!(most, numbers.iter().copied().max().unwrap_or(0));
                let slices = cut(bytemuck::cast_slice_mut(&mut keys), 4 * words, chunks);
                let counts = count_bins(threads, case.order, slices, 7, bucket);
                let count_of = |bin| numbers.iter().filter(|number| bucket(**number) == bin).count() as u64;
                assert_eq!(counts, (0..7).map(count_of).collect::<Vec<_>>());
                let all = BytePairs {
                    keys: cut(bytemuck::cast_slice_mut(&mut keys), 4 * words, chunks),
                    values: cut(bytes_of(&mut values, bytes), size, chunks + 1),
                    size,
                };
                let room = BytePairs {
                    keys: cut(bytemuck::cast_slice_mut(&mut keys_room), 4 * words, chunks + 2),
                    values: cut(bytes_of(&mut values_room, bytes), size, chunks),
                    size,
                };
                distribute(threads, case.order, all, room, 7, bucket);
                assert!(keys_room == expected.0, "keys of {cells} cells, size {size}, {threads:?}");
                assert!(bytes_of(&mut values_room, bytes) == expected.1, "{cells} cells, size {size}, {threads:?}");
            }
        }
    }
}

#[test]
fn merged_runs_equal_a_stable_sort_of_both() {
    for (number, case) in CASES.iter().enumerate() {
        for (lengths, size) in [
            ([0, 0], 4),
            ([0, 3], 0),
            ([1, 0], 4),
            ([5, 1000], 20),
            ([700, 701], 8),
            ([40_001, 50_003], [4, 0, 12][number % 3]),
        ] {
            for kind in [0, 1, 4, 7] {
                check_merge(case, kind, lengths, size);
            }
        }
    }
}

fn check_merge(case: &KeyCase, kind: usize, lengths: [usize; 2], size: usize) {
    let (cells, words) = (lengths[0] + lengths[1], case.order.words);
    let (keys, values) = pairs(case, kind, cells, size);
    let by_key = |i: &usize| (case.number)(&keys[i * words..][..words]);
    let mut orders: Vec<Vec<usize>> =
        vec![(0..lengths[0]).collect(), (lengths[0]..cells).collect(), (0..cells).collect()];
    orders.iter_mut().for_each(|order| order.sort_by_key(by_key));
    let expected = gathered(case, (&keys, &values), size, &orders[2]);
    for (threads, chunks) in THREADS.into_iter().zip([1, 3, 8]) {
        let mut runs = [&orders[0], &orders[1]].map(|order| {
            let (keys, values) = gathered(case, (&keys, &values), size, order);
            (keys, aligned(&values))
        });
        let (mut keys_output, mut values_output) = (vec![0_u32; keys.len()], vec![0_u64; values.len()]);
        let output = BytePairs {
            keys: cut(bytemuck::cast_slice_mut(&mut keys_output), 4 * words, chunks + 1),
            values: cut(bytes_of(&mut values_output, values.len()), size, chunks),
            size,
        };
        let mut number = 0;
        let given = runs.each_mut().map(|(keys, values)| {
            number += 1;
            BytePairs {
                keys: cut(bytemuck::cast_slice_mut(keys), 4 * words, chunks),
                values: cut(bytes_of(values, lengths[number - 1] * size), size, chunks + number),
                size,
            }
        });
        merge(threads, case.order, given, output);
        let what = format!("{:?}, kind {kind}, {lengths:?} cells, size {size}, {threads:?}", case.order);
        assert!(keys_output == expected.0, "keys of {what}");
        assert!(bytes_of(&mut values_output, values.len()) == expected.1, "values of {what}");
    }
}

/// Keys that are not sorted come out in some order.
#[test]
fn unsorted_runs_are_merged_without_a_loss() {
    let case = &CASES[0];
    let (mut keys, _) = pairs(case, 0, 90_001, 0);
    let mut expected = keys.clone();
    let mut merged = vec![0_u32; keys.len()];
    let (first, second) = keys.split_at_mut(40_000);
    let runs =
        [first, second].map(|run| BytePairs { keys: vec![bytemuck::cast_slice_mut(run)], values: vec![], size: 0 });
    let output = BytePairs { keys: vec![bytemuck::cast_slice_mut(&mut merged)], values: vec![], size: 0 };
    merge(threads(3), case.order, runs, output);
    expected.sort_unstable();
    merged.sort_unstable();
    assert!(merged == expected);
}
