//! Tests that compare sorts with the stable sorts of `std`.

use std::cmp::Ordering;
use std::fmt::Debug;

use zippy::{Element, Layout, Result, World};
use zippy_primitives::Primitives;
use zippy_primitives::sort::SortKey;

use crate::algorithms::sequences::{CUTS, Cut, LENGTHS, pseudo_random_number, read, run_on_one_rank, sequence};

/// Functions that generate difficult keys for sorts: many, few and one different value, ascending,
/// and descending.
const KINDS: [fn(usize, usize) -> u32; 6] = [
    |i, _| pseudo_random_number(i),
    |i, _| pseudo_random_number(i) % 2 * 0xffff_ff00,
    |_, _| 7,
    |i, _| i as u32 * 3,
    |i, n| (n - i) as u32,
    |i, _| pseudo_random_number(i) % 97,
];

fn cell_bytes<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn compare_with_sort_of_std<K: SortKey + Debug, V: Element>(
    world: &World,
    n: usize,
    key: impl Fn(u32) -> K,
    value: impl Fn(usize) -> V,
    order: impl Fn(&K, &K) -> Ordering,
) -> Result<()> {
    for (number, kind) in KINDS.into_iter().enumerate() {
        let keys: Vec<K> = (0..n).map(|i| key(kind(i, n))).collect();
        let mut expected: Vec<(K, usize)> = keys.iter().copied().zip(0..).collect();
        expected.sort_by(|(a, _), (b, _)| order(a, b));
        let sorted: Vec<K> = expected.iter().map(|(key, _)| *key).collect();
        let sorted_values: Vec<V> = expected.iter().map(|(_, i)| value(*i)).collect();
        let values: Vec<V> = (0..n).map(&value).collect();
        for cut in if n > 4000 { &CUTS[..] } else { &CUTS[..2] } {
            let label = format!("{n} {} of kind {number}, {cut:?}", K::INFO.name);
            let (given, sections) = sequence(world, &keys, *cut)?;
            world.on_rank().sort(&given)?;
            assert!(cell_bytes(&read(&sections)?) == cell_bytes(&sorted), "{label}");
            let (given, sections) = sequence(world, &keys, *cut)?;
            let (with, with_sections) = sequence(world, &values, if *cut == Cut::Whole { Cut::Odd } else { *cut })?;
            world.on_rank().sort_pairs(&given, &with)?;
            assert!(cell_bytes(&read(&sections)?) == cell_bytes(&sorted), "keys of {label}");
            assert!(cell_bytes(&read(&with_sections)?) == cell_bytes(&sorted_values), "values of {label}");
        }
    }
    Ok(())
}

#[test]
fn keys_of_every_length_are_sorted() {
    run_on_one_rank(|world| {
        LENGTHS.into_iter().try_for_each(|n| compare_with_sort_of_std(world, n, |key| key, |i| i as u32, u32::cmp))
    });
}

#[test]
fn keys_near_multiples_of_tiles_and_blocks_are_sorted() {
    run_on_one_rank(|world| {
        [4095, 4097, 8191, 8192, 8193, 10_241]
            .into_iter()
            .try_for_each(|n| compare_with_sort_of_std(world, n, |key| key, |i| i as u32, u32::cmp))
    });
}

/// Keys with common bits, for which the sort skips passes: no pass, an odd or an even number of
/// passes remain.
#[test]
fn keys_with_common_bits_are_sorted() {
    run_on_one_rank(|world| {
        compare_with_sort_of_std(world, 4500, |key| 0x55aa_00ff | (key & 0x7f) << 8, |i| i as u32, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| (key & 0x1ff) << 21 | 1, |i| i as u8, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key & 0x8000_0001, |i| i as u32, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key & 0xff_ffff, particle, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| (key as i32) >> 24, |i| i as u16, i32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| f32::from_bits(key & 0x8000_ffff), |i| i as u32, f32::total_cmp)?;
        compare_with_sort_of_std(world, 4500, |key| [7, key % 100], |i| i as u32, <[u32; 2]>::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| [key << 24, 7], |i| i as u32, <[u32; 2]>::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| [key & 0x1ff, key >> 31], |i| [i as u32, 1], <[u32; 2]>::cmp)
    });
}

/// The keys exceed the cache of a core: the host first distributes them by their highest digits,
/// repeatedly if many keys share a digit.
#[test]
fn keys_beyond_a_cache_are_sorted() {
    run_on_one_rank(|world| {
        if !world.gpu().is_host() {
            return Ok(());
        }
        compare_with_sort_of_std(world, 210_000, |key| key, |i| i as u32, u32::cmp)?;
        compare_with_sort_of_std(
            world,
            210_000,
            |key| if key.is_multiple_of(8) { key } else { key >> 9 },
            |i| i as u16,
            u32::cmp,
        )?;
        compare_with_sort_of_std(world, 110_000, |key| [key % 3, key << 7], |i| [i as u32, 5], <[u32; 2]>::cmp)?;
        compare_with_sort_of_std(world, 110_000, f32::from_bits, particle, f32::total_cmp)
    });
}

#[test]
fn keys_of_every_type_are_sorted() {
    run_on_one_rank(|world| {
        compare_with_sort_of_std(world, 5000, |key| key as i32, |i| [i as u32; 2], i32::cmp)?;
        compare_with_sort_of_std(world, 5000, f32::from_bits, |i| i as u32, f32::total_cmp)?;
        let special = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45];
        compare_with_sort_of_std(world, 3000, |key| special[key as usize % 8], |i| i as u32, f32::total_cmp)?;
        compare_with_sort_of_std(
            world,
            5000,
            |key| [key % 5, pseudo_random_number(key as usize)],
            |i| i as u32,
            <[u32; 2]>::cmp,
        )?;
        if world.gpu().features().contains(zippy::wgpu::Features::SHADER_INT64) {
            compare_with_sort_of_std(world, 3000, |key| u64::from(key) << 16 | 5, |i| i as u32, u64::cmp)?;
            compare_with_sort_of_std(world, 3000, |key| i64::from(key as i32) << 20, |i| i as u32, i64::cmp)?;
        }
        Ok(())
    });
}

#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
struct Triple {
    place: f32,
    id: u32,
    rest: u32,
}

fn triple(i: usize) -> Triple {
    Triple { place: 0.5, id: i as u32, rest: 3 * i as u32 }
}

#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
struct Particle {
    place: [u32; 2],
    mass: f32,
    id: u32,
    rest: [u32; 2],
}

fn particle(i: usize) -> Particle {
    Particle { place: [i as u32, 1], mass: 0.5, id: i as u32, rest: [3, i as u32] }
}

#[test]
fn values_of_every_size_follow_their_keys() {
    run_on_one_rank(|world| {
        compare_with_sort_of_std(world, 4500, |key| key, |i| i as u8, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key, |i| i as i16, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key, |i| i as f32, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key, |i| [i as u32, 1], u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key, triple, u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key, |i| [i as u32, 1, 2, 3], u32::cmp)?;
        compare_with_sort_of_std(world, 4500, |key| key, particle, u32::cmp)
    });
}

#[test]
fn mistakes_in_sorts_are_errors() {
    run_on_one_rank(|world| {
        let (keys, _) = sequence(world, &[1_u32, 2, 3], Cut::Whole)?;
        let (values, _) = sequence(world, &[1_u32, 2], Cut::Whole)?;
        let error = world.on_rank().sort_pairs(&keys, &values).unwrap_err().to_string();
        assert!(error.contains("values has 2 cells") && error.contains("has 3"), "{error}");
        let both = world.local_array::<u32, 1>("both", &Layout::new([4]))?;
        let error = world.on_rank().sort_pairs(both.at(..3), both.at(1..)).unwrap_err().to_string();
        assert!(error.contains("\"both\"") && error.contains("cells in common"), "{error}");
        if world.gpu().is_host() {
            let writes =
                || world.debug().arrays().iter().flat_map(|array| &array.chunks).map(|chunk| chunk.writes).sum::<u64>();
            let before = writes();
            let error = world.on_rank().sort(vec![both.at(..3), both.at(2..)]).unwrap_err().to_string();
            assert!(error.contains("\"both\"") && error.contains("twice"), "{error}");
            assert_eq!(writes(), before);
            world.on_rank().sort(both.all())?;
            assert_eq!(writes(), before + 1);
        }
        Ok(())
    });
}

#[test]
fn keys_and_values_in_one_array() {
    run_on_one_rank(|world| {
        let both = world.local_array::<u32, 1>("both", &Layout::new([7]))?;
        both.all().write(&[5, 6, 7, 99, 3, 1, 2])?;
        world.on_rank().sort_pairs(both.at(4..), both.at(..3))?;
        assert_eq!(both.all().read()?, [6, 7, 5, 99, 1, 2, 3]);
        world.on_rank().sort_pairs(both.at(..3), both.at(4..))?;
        assert_eq!(both.all().read()?, [5, 6, 7, 99, 3, 1, 2]);
        Ok(())
    });
}
