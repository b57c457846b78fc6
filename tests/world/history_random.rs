//! Checked runs of random programs that omit random ghost updates, compared with a model of the
//! write times of all cells.

use std::collections::{BTreeMap, BTreeSet};

use zippy::transport::copied;
use zippy::{Config, Exchange, GlobalArray, Kernel, KernelSource, Layout, Operator, Result, Split, World, run_with};

use crate::support::cells::mix;
use crate::support::launcher;

const STEP: &str = "
@group(0) @binding(0) var<storage, read> u: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = out_position(id);
    if !out_inside(p) { return; }
    let across = u_load(p - vec2(1, 0)) + u_load(p + vec2(1, 0));
    out_store(p, 0.25 * (across + u_load(p - vec2(0, 1)) + u_load(p + vec2(0, 1))));
}";

const SET: &str = "
@group(0) @binding(0) var<storage, read_write> u: array<f32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let p = u_position(id);
    if u_inside(p) { u_store(p, 3.0); }
}";

/// Chunks of the narrow column have no interior.
const WIDTHS: [i64; 3] = [1, 7, 4];
const SHAPE: [i64; 2] = [12, 10];

/// Method of writing the cells of a box or of a whole array.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WriteMethod {
    Copy,
    StartedCopy,
    CopyWithGhosts,
    Composite,
    Put,
    Fill,
    FillWith,
    Expression,
    Parts,
    Kernel,
    Chunks,
}

const WRITE_METHODS: [WriteMethod; 11] = [
    WriteMethod::Copy,
    WriteMethod::StartedCopy,
    WriteMethod::CopyWithGhosts,
    WriteMethod::Composite,
    WriteMethod::Put,
    WriteMethod::Fill,
    WriteMethod::FillWith,
    WriteMethod::Expression,
    WriteMethod::Parts,
    WriteMethod::Kernel,
    WriteMethod::Chunks,
];

/// Pseudorandom numbers, the same on every rank.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 += 1;
        mix(self.0 * 0x9e37_79b9) % n
    }
}

/// Array with the write times of its cells and the fill time of its ghost cells.
struct ModelledArray {
    array: GlobalArray<f32, 2>,
    written: BTreeMap<[i64; 2], u64>,
    filled: u64,
    is_stale: bool,
}

impl ModelledArray {
    fn new(world: &World, name: &str) -> Result<Self> {
        let layout = Layout::new(SHAPE).split([Split::Sizes(WIDTHS.into()), Split::Even(2)]).ghost([1, 1]);
        let array = world.array(name, &layout.periodic([true, false]))?;
        Ok(Self { array, written: BTreeMap::new(), filled: 0, is_stale: false })
    }

    fn write(&mut self, now: u64, [start, end]: [[i64; 2]; 2]) {
        let cells = (start[0]..end[0]).flat_map(|x| (start[1]..end[1]).map(move |y| [x, y]));
        self.written.extend(cells.map(|cell| (cell, now)));
    }

    /// Records a read of all ghost cells at the sides of chunks.
    fn read(&mut self, ghosts: &BTreeSet<[i64; 2]>) {
        self.is_stale |= ghosts.iter().any(|cell| self.written.get(cell).is_some_and(|&at| at > self.filled));
    }
}

/// Cells that are copied by ghost cells of some chunk.
fn cells_with_ghost_copies() -> BTreeSet<[i64; 2]> {
    let columns: [[i64; 2]; 3] = [[0, 1], [1, 8], [8, 12]];
    let rows: [[i64; 2]; 2] = [[0, 5], [5, 10]];
    let mut out = BTreeSet::new();
    for ([left, right], [low, high]) in columns.iter().flat_map(|&column| rows.map(|row| (column, row))) {
        let sides = [(left - 1).rem_euclid(12), right % 12];
        out.extend(sides.into_iter().flat_map(|x| (low..high).map(move |y| [x, y])));
        let ends = [low - 1, high].into_iter().filter(|y| (0..10).contains(y));
        out.extend(ends.flat_map(|y| (left..right).map(move |x| [x, y])));
    }
    out
}

fn write_cells(
    world: &World,
    way: WriteMethod,
    u: &GlobalArray<f32, 2>,
    from: &GlobalArray<f32, 2>,
    set: &Kernel,
    of: &[std::ops::Range<i64>; 2],
) -> Result<()> {
    let there = || u.at(of.clone());
    match way {
        WriteMethod::Copy => world.copy(from.at(of.clone()), there()).map(drop),
        WriteMethod::StartedCopy => world.start_copy(from.at(of.clone()), there())?.wait().map(drop),
        WriteMethod::CopyWithGhosts => {
            world.exchange(Exchange::new().copy(from.at(of.clone()), there()).ghosts(u)).map(drop)
        }
        WriteMethod::Composite => world.composite(from.at(of.clone()), there(), Operator::Add).map(drop),
        WriteMethod::Put => {
            if world.rank() + 1 == world.size() {
                let cells = of.iter().map(|axis| axis.end - axis.start).product::<i64>();
                world.put(&vec![4.0; cells as usize], there())?;
            }
            world.fence().map(drop)
        }
        WriteMethod::Fill => there().fill(5.0),
        WriteMethod::FillWith => there().fill_with(|[x, y]| (x + 20 * y) as f32),
        WriteMethod::Expression => world.elementwise("x + 1.0").call().write("x", there()),
        WriteMethod::Parts => there().local_parts()?.iter().try_for_each(|part| part.fill(6.0)),
        WriteMethod::Kernel => u.chunks().try_for_each(|chunk| set.call().update("u", chunk.all()).run()),
        WriteMethod::Chunks => u.chunks().try_for_each(|chunk| chunk.all().fill(7.0)),
    }
}

/// Runs a random program. Returns the name of each of its two arrays, and true if stale ghost cells
/// were read.
fn run_random_program(world: &World, seed: u64, [step, set]: [&Kernel; 2]) -> Result<[(String, bool); 2]> {
    let mut draw = RandomNumbers(1000 * seed);
    let names = ["u", "v"].map(|name| format!("{name} {seed}"));
    let [mut u, mut v] = [ModelledArray::new(world, &names[0])?, ModelledArray::new(world, &names[1])?];
    let from =
        world.array::<f32, 2>(&format!("from {seed}"), &Layout::new(SHAPE).split([Split::Even(2), Split::Whole]))?;
    from.fill(1.0)?;
    u.array.fill_with(|[x, y]| (x * y) as f32)?;
    let (everything, ghosts) = ([[0, 0], SHAPE], cells_with_ghost_copies());
    u.write(1, everything);
    let mut now = 2;
    let fill = |watched: &mut ModelledArray, now: &mut u64| -> Result<()> {
        world.ghosts(&watched.array)?;
        (watched.filled, *now) = (*now, *now + 1);
        Ok(())
    };
    for round in 0..4 {
        if draw.below(5) > 0 {
            fill(&mut u, &mut now)?;
        }
        if draw.below(4) > 0 {
            let way = WRITE_METHODS[draw.below(WRITE_METHODS.len() as u64) as usize];
            let start = [draw.below(12) as i64, draw.below(10) as i64];
            let end: [i64; 2] =
                std::array::from_fn(|axis| start[axis] + 1 + draw.below((SHAPE[axis] - start[axis]) as u64) as i64);
            let of = [start[0]..end[0], start[1]..end[1]];
            write_cells(world, way, &u.array, &from, set, &of)?;
            if way == WriteMethod::CopyWithGhosts {
                u.filled = now;
                now += 1;
            }
            u.write(
                now,
                if matches!(way, WriteMethod::Kernel | WriteMethod::Chunks) { everything } else { [start, end] },
            );
            now += 1;
            // Other ranks learn of a local write at the next synchronization.
            if way == WriteMethod::Parts && world.size() > 1 || draw.below(4) == 0 {
                world.barrier()?;
            }
            if draw.below(2) == 0 {
                fill(&mut u, &mut now)?;
            }
        }
        let overlapped = draw.below(3) == 0;
        if overlapped {
            let update = world.start_ghosts(&u.array)?;
            u.filled = now;
            for (u, v) in zippy::zip_chunks((&u.array, &v.array))? {
                step.call().read("u", u.all()).write("out", v.all()).over(v.interior()).run()?;
            }
            update.wait()?;
            for (u, v) in zippy::zip_chunks((&u.array, &v.array))? {
                step.call().read("u", u.all()).write("out", v.all()).over(v.boundary()).run()?;
            }
        } else {
            for (u, v) in zippy::zip_chunks((&u.array, &v.array))? {
                step.call().read("u", u.all()).write("out", v.all()).run()?;
            }
        }
        u.read(&ghosts);
        v.write(now + 1, everything);
        now += 2;
        if round % 2 == 1 || draw.below(2) == 0 {
            world.barrier()?;
        }
        std::mem::swap(&mut u, &mut v);
    }
    world.barrier()?;
    Ok([&u, &v].map(|watched| (watched.array.name().to_string(), watched.is_stale)))
}

/// The number of findings of a world is limited.
const PROGRAMS_PER_WORLD: u64 = 15;

/// Runs random programs. Returns the numbers of arrays without and with reads of stale ghost cells.
fn run_programs(world: &World, first: u64) -> Result<[usize; 2]> {
    let kernel = |name: &str, text: &str| world.kernel(KernelSource::text(name, text));
    let (step, set) = (kernel("step", STEP)?, kernel("set", SET)?);
    let mut observed = [0, 0];
    for seed in first..first + PROGRAMS_PER_WORLD {
        let expected = run_random_program(world, seed, [&step, &set])?;
        let found: Vec<String> = world.debug().findings().iter().map(|finding| finding.array.clone()).collect();
        let found = world.group().all_gather_v(copied(found.join("\n").as_bytes()))?;
        let found: Vec<String> =
            found.iter().map(|one| String::from_utf8_lossy((**one).as_ref()).into_owned()).collect();
        let found: BTreeSet<&str> = found.iter().flat_map(|one| one.lines()).collect();
        for (name, is_stale) in expected {
            let last = world.debug().findings().into_iter().rfind(|finding| finding.array == name);
            assert_eq!(found.contains(&*name), is_stale, "{name} on {} ranks: {last:?}", world.size());
            observed[usize::from(is_stale)] += 1;
        }
    }
    Ok(observed)
}

#[test]
fn random_programs_have_findings_of_model() {
    for ranks in launcher::counts(&[1, 2, 3]) {
        let mut observed = [0, 0];
        for first in (0..8).map(|number| number * PROGRAMS_PER_WORLD) {
            match run_with(Config::threads(ranks).check(true), |world| run_programs(world, first)) {
                Ok(of_ranks) => (0..2).for_each(|kind| observed[kind] += of_ranks[0][kind]),
                Err(error) => panic!("on {ranks} ranks: {error}"),
            }
        }
        assert!(observed.iter().all(|&arrays| arrays > 30), "both kinds: {observed:?}");
    }
}
