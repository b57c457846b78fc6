//! Data-parallel primitives over distributed vectors, compared with the same primitives on one
//! rank: seconds, CPU seconds of the whole job, and memory of a sort.

mod common;

use serde_json::json;
use wgpu::DeviceType;
use zippy::{Element, GlobalArray, Layout, LocalArray, Operator, Result, Split};
use zippy_primitives::Primitives;
use zippy_testing::random::index_hash;

use common::{Case, ChunkAccess, Contender, Run, Spread, contender, on_ranks, prepared};

const MI: usize = 1 << 20;
/// Upper limit for the CPU seconds of a sort by 4 ranks, relative to one rank.
const CPU_TARGET: f64 = 1.3;
/// Upper limit for the memory of a sort in addition to its keys, relative to the keys.
const MEMORY_TARGET: f64 = 1.0;

pub(crate) fn main() -> Result<()> {
    let about = "Sort of u32 and inclusive scans of u32 and f32 over a vector of 1 and 16 Mi cells with one chunk per rank \
                 (by kernels of a software adapter 1 Mi, and only if --only contains \"kernels\"): seconds and CPU \
                 seconds of all processes, compared with a copy on the adapter and with the same primitive of the same \
                 number of cells on one rank. Peak memory of a sort of 16 Mi cells.";
    on_ranks("ranks_primitives", about, &[ChunkAccess::Mapped, ChunkAccess::Kernels], |run| {
        let slow = run.access == ChunkAccess::Kernels && run.world.gpu().adapter().device_type == DeviceType::Cpu;
        // The largest size comes first: its memory is measured before the library caches buffers.
        let sizes: &[usize] = if slow { &[1] } else { &[16, 1] };
        for &size in sizes.iter().filter(|_| !slow || run.options.filter_contains("kernels")) {
            let bench = Bench { run, size, cells: size * MI };
            bench.sort(size == 16)?;
            bench.scan("u32", |i| index_hash(i) >> 8, u32::wrapping_add)?;
            // Sums of small integers are exact in any order.
            bench.scan("f32", |i| (index_hash(i) % 3) as f32 - 1.0, |a, b| a + b)?;
        }
        Ok(())
    })
}

struct Bench<'a> {
    run: &'a Run<'a>,
    size: usize,
    cells: usize,
}

impl Bench<'_> {
    fn name(&self, case: &str) -> String {
        format!("{case}, {} Mi", self.size)
    }

    fn vector<T: Element>(&self, name: &str) -> Result<GlobalArray<T, 1>> {
        self.run.world.array(name, &Layout::new([self.cells as i64]).split([Split::Auto]))
    }

    /// All cells are on rank 0.
    fn on_one_rank<T: Element>(&self, name: &str) -> Result<LocalArray<T, 1>> {
        self.run.world.local_array(name, &Layout::new([self.only_on_rank_0(self.cells) as i64]))
    }

    /// `cells` on rank 0, and 0 on all other ranks.
    fn only_on_rank_0(&self, cells: usize) -> usize {
        if self.run.world.rank() == 0 { cells } else { 0 }
    }

    /// Checks the cells of a vector on rank 0. Collective.
    fn check<T: Element + PartialEq>(&self, vector: &GlobalArray<T, 1>, expected: &[T]) -> Result<()> {
        let ticket = self.run.world.get(vector.at(..self.only_on_rank_0(self.cells) as i64))?;
        let found = self.run.world.fence()?.redeem(ticket)?;
        assert!(self.run.world.rank() != 0 || found == expected, "the result is wrong");
        Ok(())
    }

    /// Measures seconds and CPU seconds of the library and of one rank, and a copy of the vector.
    fn compare<T: Element>(&self, case: &str, library: Contender<'_>, alone: Contender<'_>) -> Result<()> {
        let (world, name) = (self.run.world, self.name(case));
        let [from, to] = ["from", "to"].map(|name| self.vector::<T>(name));
        let (from, to) = (from?, to?);
        from.fill_with(|_| T::zeroed())?;
        let copy = contender("the adapter's copy", || world.copy(from.at(..), to.at(..)).map(drop));
        let mut contenders = vec![library, copy, alone];
        let samples = self.run.options.samples().min(5);
        let mut cpu = Vec::new();
        for _ in 0..samples {
            let [library, _, alone] = &mut contenders[..] else { unreachable!("there are three contenders") };
            if let (Some(library), Some(alone)) = (self.run.cpu_secs(library)?, self.run.cpu_secs(alone)?) {
                // Processes that only wait for rank 0 do not count.
                cpu.push((library.job, alone.process));
            }
        }
        let bytes = (8 * self.cells / world.size()) as u64;
        self.run.measure(Case { name: &name, bytes, cells: Some(self.cells as u64), target: None }, contenders)?;
        if world.rank() == 0 && !cpu.is_empty() {
            self.report_cpu(&name, case.starts_with("sort") && world.size() == 4, &cpu);
        }
        Ok(())
    }

    fn report_cpu(&self, name: &str, has_target: bool, cpu: &[(f64, f64)]) {
        let spread = |value: fn(&(f64, f64)) -> f64| Spread::of(&cpu.iter().map(value).collect::<Vec<_>>());
        let (library, alone) = (spread(|cpu| cpu.0), spread(|cpu| cpu.1));
        let ratio = spread(|(library, alone)| library / alone);
        let target = has_target.then_some(CPU_TARGET);
        let Spread { median, low, high } = ratio;
        print!(
            "    CPU seconds: {:.4}, one rank {:.4}   ratio {median:.2} [{low:.2}, {high:.2}]",
            library.median, alone.median
        );
        println!("{}", verdict(median, target));
        self.run.add(json!({
            "case": format!("{}, CPU seconds of all processes", self.run.named(name)),
            "samples": cpu.len(),
            "cpu_secs": library.median,
            "one_rank_cpu_secs": alone.median,
            "cpu_to_one_rank": median,
            "cpu_to_one_rank_quartiles": [low, high],
            "target": target,
        }));
    }

    fn memory(&self, sort: impl FnOnce() -> Result<()>) -> Result<()> {
        let memory = self.run.peak_memory(sort)?;
        if self.run.world.rank() != 0 {
            return Ok(());
        }
        let name = self.run.named(&self.name("sort, u32, memory beside the keys"));
        let bytes = (4 * self.cells) as f64;
        let (device, resident) =
            (memory.device as f64 / bytes, memory.resident.map(|resident| resident as f64 / bytes));
        print!("{name}: device {device:.2} of the keys' bytes");
        if let Some(resident) = resident {
            print!(", processes {resident:.2}");
        }
        println!("{}", verdict(device.max(resident.unwrap_or(0.0)), Some(MEMORY_TARGET)));
        self.run.add(json!({
            "case": name,
            "device_to_keys": device,
            "resident_to_keys": resident,
            "target": MEMORY_TARGET,
        }));
        Ok(())
    }

    fn sort(&self, with_memory: bool) -> Result<()> {
        let case = "sort, u32";
        if !self.run.options.selects(&self.run.named(&self.name(case))) {
            return Ok(());
        }
        let world = self.run.world;
        let keys = self.vector::<u32>("keys")?;
        keys.fill_with(|[i]| index_hash(i as usize))?;
        let sort = || world.vectors().sort(&keys);
        if with_memory {
            self.memory(sort)?
        } else {
            sort()?
        }
        let plain: Vec<u32> = (0..self.only_on_rank_0(self.cells)).map(index_hash).collect();
        let mut sorted = plain.clone();
        sorted.sort_unstable();
        self.check(&keys, &sorted)?;
        drop(sorted);
        let unsorted = self.vector::<u32>("unsorted")?;
        unsorted.fill_with(|[i]| index_hash(i as usize))?;
        let reset = || world.copy(unsorted.at(..), keys.at(..)).map(drop);
        let alone = self.on_one_rank::<u32>("keys of one rank")?;
        let sort_alone = || match world.rank() {
            0 => world.on_rank().sort(&alone),
            _ => Ok(()),
        };
        let one_rank = prepared("one rank", || alone.all().write(&plain), sort_alone);
        self.compare::<u32>(case, prepared("zippy", reset, sort), one_rank)
    }

    fn scan<T: Element + PartialEq>(
        &self,
        type_name: &str,
        value: impl Fn(usize) -> T + Copy,
        add: impl Fn(T, T) -> T,
    ) -> Result<()> {
        let case = format!("inclusive scan, {type_name}");
        if !self.run.options.selects(&self.run.named(&self.name(&case))) {
            return Ok(());
        }
        let world = self.run.world;
        let (input, output) = (self.vector::<T>("input")?, self.vector::<T>("output")?);
        input.fill_with(|[i]| value(i as usize))?;
        let scan = || world.vectors().combine(&input, &Operator::Add).inclusive_scan(&output);
        let mut plain: Vec<T> = (0..self.only_on_rank_0(self.cells)).map(value).collect();
        let (from, to) = (self.on_one_rank::<T>("input of one rank")?, self.on_one_rank::<T>("output of one rank")?);
        from.all().write(&plain)?;
        let alone = || match world.rank() {
            0 => world.on_rank().combine(&from, &Operator::Add).inclusive_scan(&to),
            _ => Ok(()),
        };
        let mut sum = T::zeroed();
        for cell in &mut plain {
            sum = add(sum, *cell);
            *cell = sum;
        }
        scan()?;
        self.check(&output, &plain)?;
        alone()?;
        assert!(to.all().read()? == plain, "the scan is wrong");
        self.compare::<T>(&case, contender("zippy", scan), contender("one rank", alone))
    }
}

fn verdict(figure: f64, target: Option<f64>) -> String {
    let Some(target) = target else { return String::new() };
    // Compares the rounded figure that is printed.
    let met = (100.0 * figure).round() <= 100.0 * target;
    format!("   target {target:.1}: {}", if met { "met" } else { "MISSED" })
}
