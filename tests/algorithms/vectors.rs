//! Primitives over distributed vectors: the same as on one rank, whatever the cuts and owners.

use zippy::algorithms::sort::SortKey;
use zippy::array::GlobalArray;
use zippy::{Element, Layout, Operator, Ownership, Result, Split, World};

use crate::scan::Definition;
use crate::sequences::mixed;
use crate::support;

/// How a vector is cut and owned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Spread {
    /// As the library likes.
    Auto,
    /// Odd lengths, empty chunks, a rank without any, owners in any order.
    Odd,
    /// Whole blocks, dealt to the ranks in turn.
    Dealt,
}

/// A vector of these values.
pub fn vector<T: Element>(world: &World, name: &str, values: &[T], spread: Spread) -> Result<GlobalArray<T, 1>> {
    let (n, ranks) = (values.len() as i64, world.size());
    let array = match spread {
        Spread::Auto => world.array::<T, 1>(name, &Layout::new([n]).split([Split::Auto]))?,
        Spread::Odd => {
            let lengths = vec![n / 5, 0, n / 3, n / 100, 0, n - n / 5 - n / 3 - n / 100];
            // Rank 0 has none, where there are others.
            let owner = |chunk: usize| if ranks == 1 { 0 } else { 1 + (7 - chunk) % (ranks - 1) };
            let owners = Ownership::table((0..lengths.len()).map(owner).collect(), ranks)?;
            let layout = Layout::new([n]).split([Split::Sizes(lengths)]).ghost([1]);
            world.array_owned::<T, 1>(name, &layout, owners)?
        }
        Spread::Dealt => {
            let lengths: Vec<i64> = (0..((n + 2047) / 2048).max(1)).map(|i| 2048.min(n - 2048 * i)).collect();
            let owners = Ownership::table((0..lengths.len()).map(|chunk| chunk % ranks).collect(), ranks)?;
            world.array_owned::<T, 1>(name, &Layout::new([n]).split([Split::Sizes(lengths)]), owners)?
        }
    };
    array.fill_with(|[i]| values[i as usize])?;
    Ok(array)
}

/// All cells, on every rank.
pub fn all<T: Element>(world: &World, array: &GlobalArray<T, 1>) -> Result<Vec<T>> {
    let ticket = world.get(array.at(..))?;
    world.fence()?.redeem(ticket)
}

fn bits<T: Element>(values: &[T]) -> &[u8] {
    bytemuck::cast_slice(values)
}

fn scans<T: Element>(
    world: &World,
    values: &[T],
    first: T,
    operator: &Operator,
    definition: fn(T, T) -> T,
    spreads: &[(Spread, Spread)],
) -> Result<()> {
    let n = values.len();
    let flags: Vec<u32> = (0..n).map(|i| u32::from(mixed(i + 7).is_multiple_of(900))).collect();
    let keys: Vec<i32> = (0..n).map(|i| (i / 1500) as i32 / 2).collect();
    let by_flag: Vec<bool> = flags.iter().map(|&flag| flag != 0).collect();
    let by_key: Vec<bool> = (0..n).map(|i| i == 0 || keys[i] != keys[i - 1]).collect();
    let none = vec![false; n];
    let on = world.vectors();
    for &(spread, other) in spreads {
        let what = format!("{} of {n} {}, {spread:?} and {other:?}", operator.name(), T::INFO.name);
        let x = vector(world, "x", values, spread)?;
        let y = vector(world, "y", &vec![T::zeroed(); n], other)?;
        let flags = vector(world, "flags", &flags, other)?;
        let keys = vector(world, "keys", &keys, spread)?;
        for heads in [&none, &by_flag, &by_key] {
            let (cells, whole) = Definition { values, heads, operator: definition }.scan();
            let inclusive: Vec<T> = cells.iter().map(|(_, all)| all.unwrap().0).collect();
            let exclusive: Vec<T> = (cells.iter().zip(heads))
                .map(|((last, _), head)| last.filter(|_| !head).map_or(first, |(last, _)| definition(first, last)))
                .collect();
            let z = vector(world, "z", values, spread)?;
            if std::ptr::eq(heads, &none) {
                let found = on.reduce(&x, operator)?;
                assert!(
                    found.map(|all| bits(&[all]).to_vec()) == whole.map(|(all, _)| bits(&[all]).to_vec()),
                    "{what}"
                );
                on.inclusive_scan(&x, &y, operator)?;
                on.exclusive_scan(&z, &z, first, operator)?;
            } else if std::ptr::eq(heads, &by_flag) {
                on.inclusive_scan_by_flag(&flags, &x, &y, operator)?;
                on.exclusive_scan_by_flag(&flags, &z, &z, first, operator)?;
            } else {
                on.inclusive_scan_by_key(&keys, &x, &y, operator)?;
                on.exclusive_scan_by_key(&keys, &z, &z, first, operator)?;
            }
            assert!(bits(&all(world, &y)?) == bits(&inclusive), "inclusive {what}");
            assert!(bits(&all(world, &z)?) == bits(&exclusive), "exclusive {what}");
        }
    }
    Ok(())
}

const PAIRS: [(Spread, Spread); 4] = [
    (Spread::Auto, Spread::Auto),
    (Spread::Odd, Spread::Odd),
    (Spread::Dealt, Spread::Dealt),
    (Spread::Odd, Spread::Dealt),
];

#[test]
fn scans_of_integers() {
    support::ranks(support::RANKS, |world| {
        for (n, pairs) in [(0, 0..4), (1, 1..2), (7, 0..2), (2048, 3..4), (9000, 1..4)] {
            let values: Vec<u32> = (0..n).map(mixed).collect();
            scans(world, &values, 5, &Operator::Add, u32::wrapping_add, &PAIRS[pairs])?;
        }
        Ok(())
    });
}

#[test]
fn scans_of_floats_do_not_depend_on_cuts() {
    support::ranks(support::RANKS, |world| {
        for (n, pairs) in [(100, 1..2), (9000, 0..4)] {
            let values: Vec<f32> = (0..n).map(|i| mixed(i) as f32 / 7.0 - 1e8).collect();
            scans(world, &values, 0.1, &Operator::Add, |a, b| a + b, &PAIRS[pairs])?;
        }
        Ok(())
    });
}

#[test]
fn scans_with_operators_that_do_not_commute() {
    support::ranks(support::RANKS, |world| {
        let after = Operator::custom(
            "after",
            "fn combine(f: vec2<u32>, g: vec2<u32>) -> vec2<u32> { return vec2(f.x * g.x, f.y * g.x + g.y); }",
        );
        let values: Vec<[u32; 2]> = (0..9000).map(|i| [mixed(i) | 1, i as u32]).collect();
        let definition =
            |f: [u32; 2], g: [u32; 2]| [f[0].wrapping_mul(g[0]), f[1].wrapping_mul(g[0]).wrapping_add(g[1])];
        scans(world, &values, [3, 4], &after, definition, &PAIRS[1..3])
    });
}

#[test]
fn outputs_that_overlap_inputs() {
    support::ranks(&[1, 2], |world| {
        for operator in [Operator::Add, Operator::custom("sum", "fn combine(a: u32, b: u32) -> u32 { return a + b; }")]
        {
            let x = world.array::<u32, 1>("x", &Layout::new([12]).split([Split::Even(3)]))?;
            x.fill_with(|[i]| i as u32 + 1)?;
            world.vectors().inclusive_scan(x.at(0..8), x.at(4..12), &operator)?;
            assert_eq!(all(world, &x)?, [1, 2, 3, 4, 1, 3, 6, 10, 15, 21, 28, 36], "{operator}");
        }
        let x = vector(world, "x", &[3_u32, 1, 2, 5], Spread::Auto)?;
        let error = world.vectors().sort_pairs(&x, &x).unwrap_err().to_string();
        assert!(error.contains("may have cells in common"), "{error}");
        assert_eq!(all(world, &x)?, [3, 1, 2, 5], "the world is as good as before");
        Ok(())
    });
}

#[test]
fn mistakes_are_the_same_on_all_ranks() {
    support::ranks(&[1, 3], |world| {
        let x = vector(world, "x", &[1_u32, 2, 3], Spread::Auto)?;
        let y = vector(world, "y", &[1_u32, 2], Spread::Auto)?;
        let error = world.vectors().inclusive_scan(&x, &y, &Operator::Add).unwrap_err().to_string();
        assert!(error.contains("the output has 2 cells") && error.contains("has 3"), "{error}");
        let wrong = Operator::custom("wrong", "fn combine(a: u32, b: u32) -> f32 { return 1.0; }");
        assert!(world.vectors().reduce(&x, &wrong).is_err());
        assert_eq!(world.vectors().reduce(&x, &Operator::Add)?, Some(6), "the world is as good as before");
        Ok(())
    });
}

/// Keys that splitters may stumble over.
const KINDS: [fn(usize, usize) -> u32; 6] = [
    |i, _| mixed(i),
    |i, _| mixed(i) % 2 * 0xffff_ff00,
    |_, _| 7,
    |i, _| i as u32 * 3,
    |i, n| (n - i) as u32,
    |i, _| if i % 3 == 0 { 1000 } else { mixed(i) % 2000 },
];

fn sorts<K: SortKey>(
    world: &World,
    n: usize,
    key: impl Fn(u32) -> K,
    order: impl Fn(&K, &K) -> std::cmp::Ordering,
) -> Result<()> {
    for (number, kind) in KINDS.into_iter().enumerate() {
        let keys: Vec<K> = (0..n).map(|i| key(kind(i, n))).collect();
        let mut expected: Vec<(K, [u32; 2])> = keys.iter().copied().zip((0..n as u32).map(|i| [i, 5])).collect();
        expected.sort_by(|(a, _), (b, _)| order(a, b));
        let (sorted, beside): (Vec<K>, Vec<[u32; 2]>) = expected.into_iter().unzip();
        let values: Vec<[u32; 2]> = (0..n as u32).map(|i| [i, 5]).collect();
        // Each kind of keys meets two pairs of spreads.
        for (spread, other) in [PAIRS[number % 4], PAIRS[(number + 1 + number / 4) % 4]] {
            let what = format!("{n} {} of kind {number}, {spread:?} and {other:?}", K::INFO.name);
            let x = vector(world, "x", &keys, spread)?;
            world.vectors().sort(&x)?;
            assert!(bits(&all(world, &x)?) == bits(&sorted), "{what}");
            let x = vector(world, "y", &keys, spread)?;
            let y = vector(world, "values", &values, other)?;
            world.vectors().sort_pairs(&x, &y)?;
            assert!(bits(&all(world, &x)?) == bits(&sorted), "keys of {what}");
            assert!(bits(&all(world, &y)?) == bits(&beside), "values of {what}");
        }
    }
    Ok(())
}

#[test]
fn sorts_of_every_spread() {
    support::ranks(support::RANKS, |world| {
        [0, 2, 7, 5000].into_iter().try_for_each(|n| sorts(world, n, |key| key, u32::cmp))
    });
}

#[test]
fn sorts_by_every_type_of_key() {
    support::ranks(&[3], |world| {
        sorts(world, 3000, |key| key as i32, i32::cmp)?;
        let special = [0.0, -0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45];
        sorts(world, 3000, |key| special[key as usize % 8], f32::total_cmp)?;
        sorts(world, 3000, f32::from_bits, f32::total_cmp)?;
        sorts(world, 3000, |key| [key % 5, mixed(key as usize)], <[u32; 2]>::cmp)
    });
}

#[test]
fn sections_are_sorted_alone() {
    support::ranks(&[1, 4], |world| {
        let values: Vec<u32> = (0..3000).map(mixed).collect();
        let x = vector(world, "x", &values, Spread::Odd)?;
        world.vectors().sort(x.at(100..2500))?;
        let mut expected = values;
        expected[100..2500].sort_unstable();
        assert_eq!(all(world, &x)?, expected);
        Ok(())
    });
}

/// The pairs of spreads that the other primitives are tested with.
const FEW: [(Spread, Spread); 3] =
    [(Spread::Auto, Spread::Auto), (Spread::Odd, Spread::Dealt), (Spread::Dealt, Spread::Odd)];

#[test]
fn gather_and_scatter_by_global_index() {
    support::ranks(&[1, 3, 8], |world| {
        for n in [1_usize, 2, 3000] {
            let order: Vec<u32> = (0..n as u32).map(|i| mixed(i as usize) % n as u32).collect();
            let reversed: Vec<u32> = (0..n as u32).rev().collect();
            let values: Vec<[u32; 2]> = (0..n).map(|i| [mixed(i), i as u32]).collect();
            for (spread, other) in FEW {
                let x = vector(world, "x", &values, spread)?;
                let y = vector(world, "y", &vec![[0; 2]; n], other)?;
                let indices = vector(world, "indices", &order, other)?;
                world.vectors().gather(&x, &indices, &y)?;
                assert!(all(world, &y)?.into_iter().eq(order.iter().map(|&i| values[i as usize])), "{n}, {spread:?}");
                let indices = vector(world, "reversed", &reversed, spread)?;
                world.vectors().scatter(&x, &indices, &y)?;
                assert!(all(world, &y)?.into_iter().eq(values.iter().rev().copied()), "{n}, {spread:?}");
            }
        }
        let x = vector(world, "x", &[1_u32, 2, 3], Spread::Odd)?;
        let indices = vector(world, "indices", &[0_u32, 3, 1], Spread::Auto)?;
        for error in [world.vectors().gather(&x, &indices, &x), world.vectors().scatter(&x, &indices, &x)] {
            let error = error.unwrap_err().to_string();
            assert!(error.contains("index 3 is beyond the 3 cells"), "{error}");
        }
        assert_eq!(all(world, &x)?, [1, 2, 3], "the world is as good as before");
        Ok(())
    });
}

#[test]
fn selections() {
    support::ranks(&[1, 3, 5], |world| {
        for n in [0_usize, 1, 5000] {
            let values: Vec<u32> = (0..n).map(|i| mixed(i / 40) % 3).collect();
            let sums: Vec<u32> = (0..n).map(mixed).collect();
            let flags: Vec<u32> = (0..n).map(|i| mixed(i + 5) % 4).collect();
            let (yes, no): (Vec<u32>, Vec<u32>) = (0..n as u32).partition(|&i| flags[i as usize] != 0);
            let of = |some: &[u32]| some.iter().map(|&i| sums[i as usize]).collect::<Vec<u32>>();
            let mut by_key: Vec<(u32, u32)> = Vec::new();
            for (key, value) in values.iter().zip(&sums) {
                match by_key.last_mut() {
                    Some((last, sum)) if last == key => *sum = sum.wrapping_add(*value),
                    _ => by_key.push((*key, *value)),
                }
            }
            let (keys_found, sums_found): (Vec<u32>, Vec<u32>) = by_key.into_iter().unzip();
            for (spread, other) in FEW {
                let what = format!("{n}, {spread:?}, {other:?}");
                let x = vector(world, "x", &sums, spread)?;
                let keys = vector(world, "keys", &values, spread)?;
                let flags = vector(world, "flags", &flags, other)?;
                let compact = world.vectors().compact("compact", &x, &flags)?;
                assert_eq!(all(world, &compact)?, of(&yes), "{what}");
                let (partition, first) = world.vectors().partition("partition", &x, &flags)?;
                assert_eq!(
                    (all(world, &partition)?, first as usize),
                    ([of(&yes), of(&no)].concat(), yes.len()),
                    "{what}"
                );
                let unique = world.vectors().unique("unique", &keys)?;
                assert_eq!(all(world, &unique)?, keys_found, "{what}");
                let (unique, reduced) =
                    world.vectors().reduce_by_key(["runs", "reduced"], &keys, &x, &Operator::Add)?;
                assert_eq!(
                    (all(world, &unique)?, all(world, &reduced)?),
                    (keys_found.clone(), sums_found.clone()),
                    "{what}"
                );
                let even = world.vectors().rebalanced("even", &unique)?;
                assert_eq!(all(world, &even)?, keys_found, "{what}");
                let cells: Vec<i64> = even.chunks().map(|chunk| chunk.region().cells() as i64).collect();
                let share = keys_found.len() as i64 / world.size() as i64;
                assert!((share..=share + 1).contains(&cells.iter().sum()), "{what}: {cells:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn bounds_histograms_and_ends() {
    support::ranks(&[1, 2, 5], |world| {
        for n in [0_usize, 3, 5000] {
            let mut keys: Vec<u32> = (0..n).map(|i| mixed(i) % 50).collect();
            let counted: Vec<u64> = (0..50).map(|bin| keys.iter().filter(|&&key| key == bin).count() as u64).collect();
            let needles: Vec<u32> = (0..333).map(|i| mixed(i + 1) % 60).collect();
            for (spread, other) in FEW {
                let x = vector(world, "x", &keys, spread)?;
                assert_eq!(world.vectors().histogram(&x, 50)?, counted);
                assert_eq!(world.vectors().first(&x)?, keys.first().copied());
                assert_eq!(world.vectors().last(&x)?, keys.last().copied());
                let like = world.vectors().cut_like("like", &x, &vector(world, "other", &keys, other)?)?;
                assert_eq!(all(world, &like)?, keys);
                for by in [0, 1, -700, 9000] {
                    let y = vector(world, "y", &keys, other)?;
                    world.vectors().shift(&x, &y, by, 77)?;
                    let at =
                        |i: usize| usize::try_from(i as i64 - by).ok().and_then(|i| keys.get(i)).copied().unwrap_or(77);
                    assert!(all(world, &y)?.into_iter().eq((0..n).map(at)), "{n} by {by}, {spread:?}");
                }
            }
            keys.sort_unstable();
            for (spread, other) in FEW {
                let (x, asked) = (vector(world, "x", &keys, spread)?, vector(world, "asked", &needles, other)?);
                let bounds = vector(world, "bounds", &needles, spread)?;
                world.vectors().lower_bound(&x, &asked, &bounds)?;
                let lower = needles.iter().map(|needle| keys.partition_point(|key| key < needle) as u32);
                assert!(all(world, &bounds)?.into_iter().eq(lower), "{n}, {spread:?}");
                world.vectors().upper_bound(&x, &asked, &bounds)?;
                let upper = needles.iter().map(|needle| keys.partition_point(|key| key <= needle) as u32);
                assert!(all(world, &bounds)?.into_iter().eq(upper), "{n}, {spread:?}");
            }
        }
        let counting = world.vectors().counting("counting", 1000, 5, 3)?;
        assert!(all(world, &counting)?.into_iter().eq((0..1000).map(|i| 5 + 3 * i)));
        let error = world.vectors().histogram(&counting, 100).unwrap_err().to_string();
        assert!(error.contains("contains 3002") && error.contains("100 bins"), "{error}");
        Ok(())
    });
}
