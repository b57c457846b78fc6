//! Tests that compare scans and reductions with their definition.

use std::fmt::Debug;

use bytemuck::Pod;
use zippy::{Element, Layout, Operator, Result, World};
use zippy_primitives::Primitives;

use crate::algorithms::sequences::{CUTS, Cut, LENGTHS, pseudo_random_number, read, run_on_one_rank, sequence};

/// Combined value of cells, and true if a segment begins among them; `None` without cells.
pub(crate) type Item<T> = Option<(T, bool)>;

/// Exclusive and inclusive scan result of each cell.
pub(crate) type Scanned<T> = Vec<(Item<T>, Item<T>)>;

/// Definition of a scan, by the order in which cells are combined: the 16 cells of a run from the
/// left, the 128 runs of a block by a binary tree, and the blocks from the left.
pub(crate) struct Definition<'a, T> {
    pub values: &'a [T],
    pub heads: &'a [bool],
    pub operator: fn(T, T) -> T,
}

impl<T: Copy> Definition<'_, T> {
    fn join(&self, a: Item<T>, b: Item<T>) -> Item<T> {
        match (a, b) {
            (None, b) => b,
            (a, None) => a,
            (_, Some((value, true))) => Some((value, true)),
            (Some((a, head)), Some((b, false))) => Some(((self.operator)(a, b), head)),
        }
    }

    fn fold(&self, cells: std::ops::Range<usize>) -> Item<T> {
        let cells = cells.start.min(self.values.len())..cells.end.min(self.values.len());
        cells.fold(None, |all, i| self.join(all, Some((self.values[i], self.heads[i]))))
    }

    fn tree(&self, first: usize, runs: usize) -> Item<T> {
        match runs {
            1 => self.fold(16 * first..16 * first + 16),
            _ => self.join(self.tree(first, runs / 2), self.tree(first + runs / 2, runs / 2)),
        }
    }

    /// Returns the combined value of all cells before a run.
    fn before(&self, run: usize, blocks: &[Item<T>]) -> Item<T> {
        let (mut first, mut runs) = (run / 128 * 128, 128);
        let mut all = blocks[run / 128];
        let mut within = None;
        while runs > 1 {
            runs /= 2;
            if run >= first + runs {
                within = self.join(within, self.tree(first, runs));
                first += runs;
            }
        }
        all = self.join(all, within);
        all
    }

    /// Returns the scan results of all cells, and the combination of all cells.
    pub(crate) fn scan(&self) -> (Scanned<T>, Item<T>) {
        let mut blocks: Vec<Item<T>> = vec![None];
        for block in 0..self.values.len().div_ceil(2048) {
            blocks.push(self.join(blocks[block], self.tree(128 * block, 128)));
        }
        let mut cells = Vec::with_capacity(self.values.len());
        for run in 0..self.values.len().div_ceil(16) {
            let base = self.before(run, &blocks);
            let at = |end: usize| self.join(base, self.fold(16 * run..end));
            cells.extend((16 * run..self.values.len().min(16 * run + 16)).map(|i| (at(i), at(i + 1))));
        }
        (cells, *blocks.last().unwrap())
    }
}

/// Returns the bytes of values, so that equal NaNs compare equal.
fn bits<T: Pod>(values: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(values).to_vec()
}

/// Compares all scans of the values with their definition: whole and in several sections, in place
/// and out of place.
pub(crate) fn compare<T: Element + Debug>(
    world: &World,
    values: &[T],
    first: T,
    operator: &Operator,
    definition: fn(T, T) -> T,
) -> Result<()> {
    let n = values.len();
    let flags: Vec<u32> = (0..n).map(|i| u32::from(pseudo_random_number(i + 7).is_multiple_of(23)) * 5).collect();
    let keys: Vec<[u32; 2]> = (0..n).map(|i| [0, (i / 37) as u32 / 2 % 3]).collect();
    let none = vec![false; n];
    let by_flag: Vec<bool> = flags.iter().map(|&flag| flag != 0).collect();
    let by_key: Vec<bool> = (0..n).map(|i| i == 0 || keys[i] != keys[i - 1]).collect();
    for cut in if n > 10_000 { &CUTS[..] } else { &CUTS[..2] } {
        let on = world.on_rank();
        let (input, _) = sequence(world, values, *cut)?;
        let (flags, _) = sequence(world, &flags, if *cut == Cut::Whole { Cut::Odd } else { *cut })?;
        let (keys, _) = sequence(world, &keys, *cut)?;
        for heads in [&none, &by_flag, &by_key] {
            let (cells, all) = Definition { values, heads, operator: definition }.scan();
            let inclusive: Vec<T> = cells.iter().map(|(_, all)| all.unwrap().0).collect();
            let exclusive: Vec<T> = (cells.iter().zip(heads))
                .map(|((last, _), head)| last.filter(|_| !head).map_or(first, |(last, _)| definition(first, last)))
                .collect();
            let (output, sections) = sequence(world, &vec![T::zeroed(); n], *cut)?;
            let (again, again_sections) = sequence(world, values, *cut)?;
            let label = format!("{} of {n} {}, {cut:?}", operator.name(), T::INFO.name);
            if std::ptr::eq(heads, &none) {
                assert_eq!(
                    on.combine(&input, operator).reduce()?.map(|all| bits(&[all])),
                    all.map(|(all, _)| bits(&[all])),
                    "{label}"
                );
                on.combine(&input, operator).inclusive_scan(&output)?;
                on.combine(&again, operator).exclusive_scan(&again, first)?;
            } else if std::ptr::eq(heads, &by_flag) {
                on.combine(&input, operator).by_flag(&flags).inclusive_scan(&output)?;
                on.combine(&again, operator).by_flag(&flags).exclusive_scan(&again, first)?;
            } else {
                on.combine(&input, operator).by_key(&keys).inclusive_scan(&output)?;
                on.combine(&again, operator).by_key(&keys).exclusive_scan(&again, first)?;
            }
            assert!(bits(&read(&sections)?) == bits(&inclusive), "inclusive {label}");
            assert!(bits(&read(&again_sections)?) == bits(&exclusive), "exclusive {label}");
        }
    }
    Ok(())
}

fn minimum_of<T: PartialOrd>(a: T, b: T) -> T {
    if a < b { a } else { b }
}

pub(crate) fn larger<T: PartialOrd>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[test]
fn integer_scan_of_every_length_equals_definition() {
    run_on_one_rank(|world| {
        for n in LENGTHS {
            let values: Vec<u32> = (0..n).map(pseudo_random_number).collect();
            compare(world, &values, 7, &Operator::Add, u32::wrapping_add)?;
        }
        let values: Vec<i32> = (0..5000).map(|i| pseudo_random_number(i) as i32).collect();
        compare(world, &values, -7, &Operator::Add, i32::wrapping_add)?;
        compare(world, &values, 1 << 29, &Operator::Min, minimum_of)?;
        compare(world, &values, -(1 << 29), &Operator::Max, larger)?;
        let pairs: Vec<[u32; 2]> = (0..5000).map(|i| [pseudo_random_number(i), i as u32]).collect();
        compare(world, &pairs, [1, 2], &Operator::Add, |a, b| [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])])
    });
}

#[test]
fn scan_of_8_16_and_64_bit_numbers_equals_definition() {
    run_on_one_rank(|world| {
        let values: Vec<u8> = (0..4999).map(|i| (pseudo_random_number(i) % 40) as u8).collect();
        compare(world, &values, 3, &Operator::Add, u8::saturating_add)?;
        let values: Vec<i16> = (0..4999).map(|i| (pseudo_random_number(i) >> 16) as i16).collect();
        compare(world, &values, 3, &Operator::Add, i16::saturating_add)?;
        compare(world, &values, 3, &Operator::Max, larger)?;
        let features = world.gpu().features();
        if features.contains(zippy::wgpu::Features::SHADER_INT64) {
            let values: Vec<i64> = (0..4999).map(|i| (i64::from(pseudo_random_number(i)) << 31) - (1 << 62)).collect();
            compare(world, &values, -3, &Operator::Add, i64::wrapping_add)?;
        }
        if features.contains(zippy::wgpu::Features::SHADER_F64) {
            let values: Vec<f64> = (0..4999).map(|i| f64::from(pseudo_random_number(i)) / 3.0).collect();
            compare(world, &values, 0.1, &Operator::Add, |a, b| a + b)?;
        }
        Ok(())
    });
}

#[test]
fn float_scan_combines_in_order_of_definition() {
    run_on_one_rank(|world| {
        for n in LENGTHS {
            let values: Vec<f32> = (0..n).map(|i| pseudo_random_number(i) as f32 / 7.0 - 1e8).collect();
            compare(world, &values, 0.3, &Operator::Add, |a, b| a + b)?;
        }
        // On GPUs, results for NaN and for zeros of both signs are undefined.
        let special = match world.gpu().adapter().device_type {
            zippy::wgpu::DeviceType::Cpu => [0.0, -0.0, f32::NAN],
            _ => [0.5, -0.5, f32::MAX],
        };
        let cycle = [special[0], special[1], 1.0, special[2], -1.0, special[0]];
        let values: Vec<f32> = (0..3000).map(|i| cycle[pseudo_random_number(i) as usize % 6]).collect();
        compare(world, &values, 2.0, &Operator::Min, minimum_of)?;
        let values: Vec<[f32; 4]> =
            (0..3000).map(|i| [0, 1, 2, 3].map(|k| pseudo_random_number(4 * i + k) as f32)).collect();
        compare(world, &values, [0.1; 4], &Operator::Add, |a, b| [0, 1, 2, 3].map(|k| a[k] + b[k]))
    });
}

#[derive(Clone, Copy, Debug, Element)]
#[repr(C)]
struct Affine {
    factor: u32,
    summand: u32,
    applied: u32,
}

#[test]
fn scan_with_output_over_input_equals_definition() {
    run_on_one_rank(|world| {
        let n = 70_000;
        let values: Vec<u32> = (0..n).map(pseudo_random_number).collect();
        let array = world.local_array::<u32, 1>("array", &Layout::new([n as i64 + 3]))?;
        for operator in [Operator::Add, Operator::custom("sum", "fn combine(a: u32, b: u32) -> u32 { return a + b; }")]
        {
            array.at(..n as i64).write(&values)?;
            world.on_rank().combine(array.at(..n as i64), &operator).inclusive_scan(array.at(3..))?;
            let sums = values.iter().scan(0_u32, |sum, value| {
                *sum = sum.wrapping_add(*value);
                Some(*sum)
            });
            assert!(array.at(3..).read()?.into_iter().eq(sums), "{operator}");
            // The output overwrites the flags.
            let flags: Vec<u32> = (0..n).map(|i| u32::from(i % 100 == 0)).collect();
            array.at(3..).write(&flags)?;
            let (input, _) = sequence(world, &values, Cut::Odd)?;
            world.on_rank().combine(&input, &operator).by_flag(array.at(3..)).inclusive_scan(array.at(3..))?;
            let mut sum = 0_u32;
            for (i, found) in array.at(3..).read()?.into_iter().enumerate() {
                sum = values[i].wrapping_add(if i % 100 == 0 { 0 } else { sum });
                assert_eq!(found, sum, "at {i}");
            }
        }
        Ok(())
    });
}

#[test]
fn scan_with_operator_that_does_not_commute_equals_definition() {
    run_on_one_rank(|world| {
        // Composition of affine maps.
        let after = Operator::custom(
            "after",
            "fn combine(f: Affine, g: Affine) -> Affine {
                return Affine(f.factor * g.factor, f.summand * g.factor + g.summand, f.applied + g.applied);
            }",
        );
        for n in [0, 1, 17, 2049, 9000] {
            let values: Vec<Affine> =
                (0..n).map(|i| Affine { factor: pseudo_random_number(i) | 1, summand: i as u32, applied: 1 }).collect();
            compare(world, &values, Affine { factor: 3, summand: 5, applied: 0 }, &after, |f, g| Affine {
                factor: f.factor.wrapping_mul(g.factor),
                summand: f.summand.wrapping_mul(g.factor).wrapping_add(g.summand),
                applied: f.applied + g.applied,
            })?;
        }
        // Names that the surrounding kernel might use.
        let shy = Operator::custom(
            "shy",
            "fn join(a: u32) -> u32 { return a; }\nfn combine(a: u32, b: u32) -> u32 { return join(a) ^ b; }",
        );
        compare(world, &(0..5000).map(pseudo_random_number).collect::<Vec<_>>(), 9, &shy, |a, b| a ^ b)
    });
}

#[test]
fn transformed_cells_are_scanned() {
    run_on_one_rank(|world| {
        for n in [0, 1, 2049, 5000] {
            let bytes: Vec<i8> = (0..n).map(|i| pseudo_random_number(i) as i8).collect();
            let squares: Vec<[u32; 2]> = bytes.iter().map(|&x| [(i32::from(x) * i32::from(x)) as u32, 1]).collect();
            let add = |a: [u32; 2], b: [u32; 2]| [a[0].wrapping_add(b[0]), a[1] + b[1]];
            let expression = "vec2<u32>(u32(x * x), // two lines\n 1u)";
            for cut in [Cut::Whole, Cut::Odd] {
                let (input, _) = sequence(world, &bytes, cut)?;
                let (output, sections) = sequence(world, &vec![[0_u32; 2]; n], Cut::Odd)?;
                let on = world.on_rank();
                let all = on.combine_mapped::<i8, [u32; 2]>(&input, expression, &Operator::Add).reduce()?;
                assert_eq!(all, squares.iter().copied().reduce(add));
                on.combine_mapped(&input, expression, &Operator::Add).inclusive_scan(&output)?;
                let sums = |before: [u32; 2]| {
                    squares.iter().scan(before, move |all, &one| {
                        *all = add(*all, one);
                        Some(*all)
                    })
                };
                assert!(read(&sections)?.into_iter().eq(sums([0, 0])));
                on.combine_mapped(&input, expression, &Operator::Add).exclusive_scan(&output, [5, 7])?;
                let before = std::iter::once([5, 7]).chain(sums([5, 7])).take(n);
                assert!(read(&sections)?.into_iter().eq(before), "{n}, {cut:?}");
            }
        }
        let (input, _) = sequence(world, &[1_u32, 2], Cut::Whole)?;
        let on = world.on_rank();
        let error =
            on.combine_mapped::<u32, f32>(&input, "f32(x) +\n y", &Operator::Add).reduce().unwrap_err().to_string();
        assert!(error.contains(":2:2") && error.contains("y"), "{error}");
        let error = on.combine_mapped::<u32, f32>(&input, "x + 1u", &Operator::Add).reduce().unwrap_err().to_string();
        assert!(error.contains("x + 1u"), "{error}");
        Ok(())
    });
}

#[test]
fn ten_million() {
    run_on_one_rank(|world| {
        let n = 10_000_000;
        let layout = Layout::new([n]);
        let (cells, sums) =
            (world.local_array::<u32, 1>("cells", &layout)?, world.local_array::<u32, 1>("sums", &layout)?);
        cells.all().fill_with(|[i]| pseudo_random_number(i as usize))?;
        world.on_rank().combine(&cells, &Operator::Add).inclusive_scan(&sums)?;
        let mut all = 0_u32;
        for (i, sum) in sums.all().read()?.into_iter().enumerate() {
            all = all.wrapping_add(pseudo_random_number(i));
            assert_eq!(sum, all, "at {i}");
        }
        assert_eq!(world.on_rank().combine(&cells, &Operator::Add).reduce()?, Some(all));
        Ok(())
    });
}

#[test]
fn mistakes_in_scan_are_errors() {
    run_on_one_rank(|world| {
        let (four, _) = sequence(world, &[1_u32, 2, 3, 4], Cut::Whole)?;
        let (five, _) = sequence(world, &[1_u32, 2, 3, 4, 5], Cut::Odd)?;
        let error = world.on_rank().combine(&four, &Operator::Add).inclusive_scan(&five).unwrap_err().to_string();
        assert!(error.contains("the output has 5 cells") && error.contains("has 4"), "{error}");
        let error = world.on_rank().combine(&four, &Operator::Add).by_flag(&five).inclusive_scan(&four).unwrap_err();
        assert!(error.to_string().contains("the sequence of segment heads has 5 cells"), "{error}");
        let wrong = Operator::custom("wrong", "fn combine(a: u32, b: u32) -> u32 {\n    return a +;\n}");
        let error = world.on_rank().combine(&four, &wrong).reduce().unwrap_err().to_string();
        assert!(error.contains("wrong") && error.contains('2'), "{error}");
        let (small, _) = sequence(world, &[1_u8, 2], Cut::Whole)?;
        let own = Operator::custom("own", "fn combine(a: u32, b: u32) -> u32 { return a * b; }");
        let error = world.on_rank().combine(&small, &own).reduce().unwrap_err().to_string();
        assert!(error.contains("make u32 or i32 of them"), "{error}");
        let cells = world.local_array::<u32, 1>("cells", &Layout::new([4]))?;
        let error = world.on_rank().combine(cells.at(2..7), &Operator::Add).reduce().unwrap_err().to_string();
        assert!(error.contains('7'), "{error}");
        assert!(world.on_rank().combine(&four, &Operator::Over).reduce().is_ok(), "u32 are colours, too");
        Ok(())
    });
}
