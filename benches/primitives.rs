//! Data-parallel primitives of one rank: reductions, scans, compaction, sorts and reduction by key.
//!
//! Compared with a copy of the same number of bytes on the adapter, plain loops on vectors, and the
//! sorts of `std` and rayon; with `--peers` and kernels, also with lampshade.

mod common;
mod reference;

use std::cell::RefCell;
use std::hint::black_box;
use std::ops::AddAssign;

use rayon::slice::ParallelSliceMut;
use zippy::{Element, Error, Layout, LocalArray, Operator, Result};
use zippy_primitives::Primitives;
use zippy_testing::random::index_hash;

use common::{Case, ChunkAccess, Contender, Run, Target, contender, on_ranks, prepared};
use reference::lampshade::Lampshade;

const MI: usize = 1 << 20;

pub(crate) fn main() -> Result<()> {
    let about = "Reduce, inclusive and exclusive scan of u32 and f32, compaction of half of the cells, sort of u32 and of \
                 pairs of u32, and reduction by key (u32, runs of 16 on average), of 1, 16 and 64 Mi cells (by kernels of \
                 a software adapter 1 and 16) on one rank. Each is compared with a copy on the adapter that moves the \
                 least number of bytes of the operation, and with a plain loop on vectors or the sorts of std and rayon. \
                 With cargo xtask bench --peers, inclusive scans and sorts of u32 by kernels are also compared with \
                 lampshade.";
    on_ranks("primitives", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        // A sort of 64 Mi cells by kernels on a software adapter takes minutes.
        let software = run.world.gpu().adapter().device_type == wgpu::DeviceType::Cpu;
        let sizes: &[usize] = if run.access == ChunkAccess::Kernels && software { &[1, 16] } else { &[1, 16, 64] };
        let peer = if run.access == ChunkAccess::Kernels { Lampshade::start(run.world) } else { Ok(None) };
        let peer = peer.unwrap_or_else(|why| {
            println!("lampshade is left out: {why}");
            None
        });
        let peer = peer.map(RefCell::new);
        for &size in sizes {
            let bench = Bench { run, size, cells: size * MI, peer: peer.as_ref() };
            bench.scans("u32", |i| index_hash(i) >> 8, u32::wrapping_add)?;
            // Sums of small integers are exact in any order.
            bench.scans("f32", |i| (index_hash(i) % 3) as f32 - 1.0, |a, b| a + b)?;
            bench.compaction()?;
            bench.sort()?;
            bench.sort_pairs()?;
            bench.reduce_by_key()?;
        }
        Ok(())
    })
}

struct Bench<'a> {
    run: &'a Run<'a>,
    size: usize,
    cells: usize,
    peer: Option<&'a RefCell<Lampshade>>,
}

impl Bench<'_> {
    fn array<T: Element>(&self, name: &str, cells: usize) -> Result<LocalArray<T, 1>> {
        self.run.world.local_array(name, &Layout::new([cells as i64]))
    }

    fn array_with<T: Element>(&self, name: &str, cells: &[T]) -> Result<LocalArray<T, 1>> {
        let array = self.array(name, cells.len())?;
        array.all().write(cells)?;
        Ok(array)
    }

    fn selects(&self, case: &str) -> bool {
        self.run.options.selects(&self.run.named(&self.name(case)))
    }

    fn name(&self, case: &str) -> String {
        format!("{case}, {} Mi", self.size)
    }

    /// Times the contenders and a copy of `bytes` bytes on the adapter.
    fn compare<'s>(
        &'s self,
        case: &str,
        bytes: usize,
        target: Option<f64>,
        mut contenders: Vec<Contender<'s>>,
    ) -> Result<()> {
        let name = self.name(case);
        // A copy reads and writes each byte of its 4-byte cells.
        let [from, to] = ["from", "to"].map(|name| self.array::<u32>(name, bytes / 8));
        let (from, to) = (from?, to?);
        from.all().fill(1)?;
        let copy = contender("the adapter's copy", move || self.run.world.copy(from.all(), to.all()).map(drop));
        contenders.insert(1, copy);
        let target = target.filter(|_| self.run.access == ChunkAccess::Mapped).map(Target::Secs);
        let case = Case { name: &name, bytes: bytes as u64, cells: Some(self.cells as u64), target };
        self.run.measure(case, contenders)
    }

    fn lampshade(&self, operation: &'static str) -> Option<Contender<'_>> {
        let peer = self.peer?;
        if let Err(why) = peer.borrow_mut().run(operation, self.cells) {
            println!("lampshade is left out: {why}");
            return None;
        }
        let run = move || peer.borrow_mut().run(operation, self.cells).map_err(Error::program);
        Some(contender("lampshade", run))
    }

    fn scans<T: Element + PartialEq + AddAssign + Default>(
        &self,
        type_name: &str,
        value: impl Fn(usize) -> T,
        add: impl Fn(T, T) -> T + Copy,
    ) -> Result<()> {
        let [reduce, inclusive, exclusive] =
            ["reduce", "inclusive scan", "exclusive scan"].map(|case| format!("{case}, {type_name}"));
        if ![&reduce, &inclusive, &exclusive].into_iter().any(|case| self.selects(case)) {
            return Ok(());
        }
        let primitives = self.run.world.on_rank();
        let plain: Vec<T> = (0..self.cells).map(value).collect();
        let mut scanned = vec![T::default(); self.cells];
        let by_hand = |scanned: &mut [T], exclusive: bool| {
            let mut sum = T::default();
            for (cell, scanned) in plain.iter().zip(scanned) {
                let before = sum;
                sum = add(sum, *cell);
                *scanned = if exclusive { before } else { sum };
            }
            sum
        };
        let (input, output) = (self.array_with("input", &plain)?, self.array::<T>("output", self.cells)?);
        let bytes = size_of_val(plain.as_slice());
        let sum = by_hand(&mut scanned, false);
        assert!(primitives.combine(&input, &Operator::Add).reduce()? == Some(sum), "the sum is wrong");
        let library = contender("zippy", || primitives.combine(&input, &Operator::Add).reduce().map(drop));
        let loops = contender("a plain loop", || {
            black_box(plain.iter().fold(T::default(), |sum, cell| add(sum, *cell)));
            Ok(())
        });
        self.compare(&reduce, bytes, None, vec![library, loops])?;
        let target = (type_name == "u32" && self.size == 16).then_some(60e-3);
        for (case, is_exclusive) in [(&inclusive, false), (&exclusive, true)] {
            let scan = || {
                if is_exclusive {
                    primitives.combine(&input, &Operator::Add).exclusive_scan(&output, T::default())
                } else {
                    primitives.combine(&input, &Operator::Add).inclusive_scan(&output)
                }
            };
            scan()?;
            by_hand(&mut scanned, is_exclusive);
            assert!(output.all().read()? == scanned, "the scan is wrong");
            let library = contender("zippy", scan);
            let loops = contender("a plain loop", || {
                black_box(by_hand(black_box(&mut scanned), is_exclusive));
                Ok(())
            });
            let peer = if type_name == "u32" && !is_exclusive { self.lampshade("scan") } else { None };
            self.compare(case, 2 * bytes, target, [library, loops].into_iter().chain(peer).collect())?;
        }
        Ok(())
    }

    fn compaction(&self) -> Result<()> {
        let case = "compaction, u32";
        if !self.selects(case) {
            return Ok(());
        }
        let primitives = self.run.world.on_rank();
        let plain: Vec<u32> = (0..self.cells).map(|i| i as u32).collect();
        let selected: Vec<u32> = (0..self.cells).map(|i| index_hash(i) >> 31).collect();
        let (input, flags) = (self.array_with("input", &plain)?, self.array_with("flags", &selected)?);
        let output = self.array::<u32>("output", self.cells)?;
        let mut found = Vec::with_capacity(self.cells);
        let mut by_hand = || {
            found.clear();
            found.extend(plain.iter().zip(&selected).filter(|(_, flag)| **flag != 0).map(|(cell, _)| *cell));
            black_box(&found).len()
        };
        let count = by_hand();
        assert_eq!(primitives.compact(&input, &flags, &output)?, count as u64);
        let is_selected = |cell: &u32| index_hash(*cell as usize) >> 31 == 1;
        let compacted = output.at(..count as i64).read()?;
        assert!(compacted.is_sorted_by(|a, b| a < b) && compacted.iter().all(is_selected), "the compaction is wrong");
        let library = contender("zippy", || primitives.compact(&input, &flags, &output).map(drop));
        let loops = contender("a plain loop", || {
            by_hand();
            Ok(())
        });
        self.compare(case, 4 * (2 * self.cells + count), None, vec![library, loops])
    }

    fn sort(&self) -> Result<()> {
        let case = "sort, u32";
        if !self.selects(case) {
            return Ok(());
        }
        let primitives = self.run.world.on_rank();
        let plain: Vec<u32> = (0..self.cells).map(index_hash).collect();
        let (unsorted, keys) = (self.array_with("unsorted", &plain)?, self.array::<u32>("keys", self.cells)?);
        let reset = || self.run.world.copy(unsorted.all(), keys.all()).map(drop);
        let mut sorted = plain.clone();
        sorted.sort_unstable();
        reset()?;
        primitives.sort(&keys)?;
        assert!(keys.all().read()? == sorted, "the sort is wrong");
        let mut contenders = vec![prepared("zippy", reset, || primitives.sort(&keys))];
        let all: [Sorting<u32>; 3] = [
            ("std, unstable", |keys| keys.sort_unstable()),
            ("std, stable", |keys| keys.sort()),
            ("rayon, unstable", |keys| keys.par_sort_unstable()),
        ];
        contenders.extend(all.map(|(name, sort)| by_hand(name, &plain, sort)));
        contenders.extend(self.lampshade("sort"));
        let target = (self.size == 16).then_some(self.cells as f64 / 80e6);
        self.compare(case, 8 * self.cells, target, contenders)
    }

    fn sort_pairs(&self) -> Result<()> {
        let case = "sort, pairs of u32";
        if !self.selects(case) {
            return Ok(());
        }
        let primitives = self.run.world.on_rank();
        // Equal keys reveal a sort that is not stable.
        let plain: Vec<(u32, u32)> = (0..self.cells).map(|i| (index_hash(i) / 4, i as u32)).collect();
        let [first, second] = [|pair: &(u32, u32)| pair.0, |pair: &(u32, u32)| pair.1]
            .map(|half| self.array_with("unsorted", &plain.iter().map(half).collect::<Vec<_>>()));
        let (unsorted_keys, unsorted_values) = (first?, second?);
        let (keys, values) = (self.array::<u32>("keys", self.cells)?, self.array::<u32>("values", self.cells)?);
        let reset = || {
            self.run.world.copy(unsorted_keys.all(), keys.all())?;
            self.run.world.copy(unsorted_values.all(), values.all()).map(drop)
        };
        let mut sorted = plain.clone();
        sorted.sort();
        reset()?;
        primitives.sort_pairs(&keys, &values)?;
        let found = keys.all().read()?.into_iter().zip(values.all().read()?);
        assert!(found.eq(sorted.iter().copied()), "the sort is wrong");
        drop(sorted);
        let mut contenders = vec![prepared("zippy", reset, || primitives.sort_pairs(&keys, &values))];
        let all: [Sorting<(u32, u32)>; 3] = [
            ("std, unstable", |pairs| pairs.sort_unstable_by_key(|pair| pair.0)),
            ("std, stable", |pairs| pairs.sort_by_key(|pair| pair.0)),
            ("rayon, unstable", |pairs| pairs.par_sort_unstable_by_key(|pair| pair.0)),
        ];
        contenders.extend(all.map(|(name, sort)| by_hand(name, &plain, sort)));
        self.compare(case, 16 * self.cells, None, contenders)
    }

    fn reduce_by_key(&self) -> Result<()> {
        let case = "reduction by key, u32";
        if !self.selects(case) {
            return Ok(());
        }
        let primitives = self.run.world.on_rank();
        let mut key = 0;
        let next_key = |i| {
            key += u32::from(index_hash(i) < 1 << 28);
            key
        };
        let keys: Vec<u32> = (0..self.cells).map(next_key).collect();
        let values: Vec<u32> = (0..self.cells).map(|i| index_hash(i + 1)).collect();
        let by_hand = |found: &mut Vec<(u32, u32)>| {
            found.clear();
            for (key, value) in keys.iter().zip(&values) {
                match found.last_mut() {
                    Some((last, sum)) if last == key => *sum = sum.wrapping_add(*value),
                    _ => found.push((*key, *value)),
                }
            }
        };
        let mut reduced = Vec::with_capacity(self.cells);
        by_hand(&mut reduced);
        let runs = reduced.len();
        let (keys, values) = (self.array_with("keys", &keys)?, self.array_with("values", &values)?);
        let [keys_found, values_found] = ["keys found", "values found"].map(|name| self.array::<u32>(name, runs));
        let outputs = (keys_found?, values_found?);
        let reduce = || primitives.combine(&values, &Operator::Add).by_key(&keys).reduce_runs(&outputs.0, &outputs.1);
        assert_eq!(reduce()?, runs as u64);
        let found = outputs.0.all().read()?.into_iter().zip(outputs.1.all().read()?);
        assert!(found.eq(reduced.iter().copied()), "the reduction by key is wrong");
        let library = contender("zippy", || reduce().map(drop));
        let loops = contender("a plain loop", || {
            by_hand(black_box(&mut reduced));
            Ok(())
        });
        self.compare(case, 8 * (self.cells + runs), None, vec![library, loops])
    }
}

type Sorting<T> = (&'static str, fn(&mut [T]));

fn by_hand<'a, T: Copy>(name: &'static str, unsorted: &'a [T], mut sort: impl FnMut(&mut [T]) + 'a) -> Contender<'a> {
    let cells = std::rc::Rc::new(std::cell::RefCell::new(unsorted.to_vec()));
    let setup_cells = cells.clone();
    let setup = move || {
        setup_cells.borrow_mut().copy_from_slice(unsorted);
        Ok(())
    };
    prepared(name, setup, move || {
        sort(&mut cells.borrow_mut());
        Ok(())
    })
}
