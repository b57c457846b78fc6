//! Arrays to files and back, beside plain writes and reads of as many bytes, and beside NumPy, h5py and zarr-python.

mod common;
mod reference;

mod files {
    pub mod field;
    pub mod formats;
    pub mod steps;
}

use std::cell::RefCell;
use std::path::{Path as File, PathBuf};

use serde_json::json;
use zippy::array::GlobalArray;
use zippy::{Error, Result};

use common::{Case, Contender, Figure, Path, Run, Spread, on_ranks, prepared};
use files::field::{self, SIDE};
use files::formats::{KINDS, Kind, layout};
use files::steps;
use reference::files::{self as plain, Others};

/// How many MiB are saved.
const MIB: &str = "ZIPPY_BENCH_FILES_MIB";

/// The most host memory that a rank should take beside the array.
const MEMORY_TARGET: f64 = (64 << 20) as f64;

pub fn main() -> Result<()> {
    let about = "Saving and loading 512x512x1024 f32 (1 GiB; ZIPPY_BENCH_FILES_MIB says another number of MiB) as npy, Zarr (raw \
                 and zstd), VTI and checkpoint, beside plain writes (by all ranks, by rank 0 alone, dd) and reads of as many \
                 bytes; memory; steps of a heat solver while a checkpoint is written. All writes wait for the disk, and all \
                 reads are from the system's cache. Files are in a folder under target/tmp, twelve times as large as the \
                 array at most. By mapping; with ZIPPY_HOST_MAP=0 by kernels, which an adapter without mapping needs. Under \
                 cargo xtask bench --peers NumPy, zarr-python and VTK read what was saved, and the runs of one rank have \
                 NumPy, h5py and zarr-python beside them.";
    let by_kernels = std::env::var("ZIPPY_HOST_MAP").is_ok_and(|set| set == "0");
    on_ranks("ranks_files", about, &[if by_kernels { Path::Kernels } else { Path::Mapped }], measure)
}

fn measure(run: &Run) -> Result<()> {
    let mib = std::env::var(MIB).map_or(Ok(1024), |set| set.parse::<u32>());
    let mib = mib.ok().filter(|mib| *mib > 0).ok_or_else(|| Error::program(format!("{MIB} is no number of MiB")))?;
    let shape = [SIDE, SIDE, i64::from(mib)];
    let field = run.world.array::<f32, 3>("field", &layout(shape))?;
    let share = field::fill(&field, true)?;
    let wanted = Others::wanted() && run.world.rank() == 0;
    let others = wanted.then(|| Others::start(shape).map_err(Error::program)).transpose();
    let others = run.world.agree("starting the peers' Python", others)?.map(RefCell::new);
    let place = Place::new(run, share.len() as u64 * 4)?;
    let bench = Bench { run, shape, field: &field, others: &others, place: &place };
    bench.once(&share)?;
    bench.saves(&KINDS, &share, "with noise")?;
    bench.loads(&KINDS, &share, "with noise")?;
    let bytes = bytemuck::cast_slice(&share);
    steps::measure(run, (&place.timed, samples(run)), &field, (&place.timed.join("plain"), place.offset, bytes))?;
    // Once more what zstd makes small.
    let zstd: Vec<Kind> = KINDS.into_iter().filter(|kind| kind.name == "Zarr, zstd").collect();
    let share = field::fill(&field, false)?;
    if ["save", "load"].iter().any(|what| !bench.wanted(what, &zstd, "without noise").is_empty()) {
        zstd[0].save(run.world, &place.once, &field)?;
        bench.sizes(&zstd[0], "without noise")?;
    }
    let bench = Bench { others: &None, ..bench };
    bench.saves(&zstd, &share, "without noise")?;
    bench.loads(&zstd, &share, "without noise")
}

/// Each takes seconds.
fn samples(run: &Run) -> usize {
    run.options.samples().min(5)
}

/// Where files are; rank 0 removes them when it ends.
struct Place {
    folder: PathBuf,
    /// What was saved once, to be loaded.
    once: PathBuf,
    /// What is saved while the time is taken: one thing at a time.
    timed: PathBuf,
    /// Where this rank's bytes begin in a plain file, and how many all ranks have.
    offset: u64,
    bytes: u64,
    is_first: bool,
}

impl Place {
    fn new(run: &Run, own: u64) -> Result<Self> {
        let (rank, size) = (run.world.rank(), run.world.size());
        // The number of the run is that of the process of rank 0.
        let mut told = vec![0_u64; size + 1];
        told[rank] = own;
        told[size] = if rank == 0 { u64::from(std::process::id()) } else { 0 };
        run.world.group().all_reduce(&mut told, |sum, more| *sum += more)?;
        let folder = File::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ranks_files-{}", told[size]));
        let (once, timed) = (folder.join("once"), folder.join("timed"));
        let (offset, bytes) = (told[..rank].iter().sum(), told[..size].iter().sum());
        let place = Self { folder, once, timed, offset, bytes, is_first: rank == 0 };
        let make = || [&place.once, &place.timed].into_iter().try_for_each(std::fs::create_dir_all);
        run.world.agree("making folders", if rank == 0 { make() } else { Ok(()) }.map_err(plain::failed))?;
        Ok(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_first {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

#[derive(Clone, Copy)]
struct Bench<'a> {
    run: &'a Run<'a>,
    shape: [i64; 3],
    field: &'a GlobalArray<f32, 3>,
    others: &'a Option<RefCell<Others>>,
    place: &'a Place,
}

impl<'a> Bench<'a> {
    /// Those that were asked for.
    fn wanted(&self, what: &str, kinds: &[Kind], about: &str) -> Vec<Kind> {
        let wants = |kind: &&Kind| self.run.options.wants(&self.run.named(&name(what, kind, about)));
        kinds.iter().filter(wants).copied().collect()
    }

    /// What rank 0 does while the others wait. Collective.
    fn by_first<R, E: std::fmt::Display>(&self, what: impl FnOnce() -> std::result::Result<R, E>) -> Result<Option<R>> {
        let done = if self.run.world.rank() == 0 { what().map(Some) } else { Ok(None) };
        self.run.world.agree("what rank 0 does", done.map_err(|error| Error::program(error.to_string())))
    }

    /// Memory of saving and loading, and whether the values come back, here and in others' programs.
    fn once(&self, share: &[f32]) -> Result<()> {
        let before = self.run.resident_now()?;
        // Last what holds a copy of the cells, of which the process may keep some memory.
        let (copying, others): (Vec<Kind>, Vec<Kind>) = KINDS.into_iter().partition(Kind::copies);
        for kinds in [others, copying] {
            self.all_once(&kinds, share, before)?;
        }
        Ok(())
    }

    fn all_once(&self, kinds: &[Kind], share: &[f32], before: Option<u64>) -> Result<()> {
        let (run, world, place) = (self.run, self.run.world, self.place);
        for kind in kinds {
            let save = run.memory_beside(before, || kind.save(world, &place.once, self.field))?;
            self.memory(&format!("memory, save, {}", kind.name), save.resident, 0, !kind.copies());
            self.sizes(kind, "with noise")?;
        }
        // The memory of one that is loaded serves the next one.
        for kind in kinds {
            if !kind.makes_array() {
                self.field.fill(0.0)?;
            }
            let mut loaded = None;
            let load = run.memory_beside(before, || {
                loaded = kind.load(world, &place.once, self.field)?;
                Ok(())
            })?;
            let of_array = if kind.makes_array() { place.bytes } else { 0 };
            if !kind.copies() {
                self.memory(&format!("memory, load, {}", kind.name), load.resident, of_array, true);
            }
            let same = field::has(loaded.as_ref().unwrap_or(self.field), share)?;
            let wrong = || Error::program(format!("{}: other values are loaded than were saved", kind.name));
            world.agree("comparing what was loaded", if same { Ok(()) } else { Err(wrong()) })?;
            drop(loaded);
            if let (Some(others), Some(by)) = (self.others, kind.read_by_peers) {
                self.by_first(|| others.borrow_mut().ask("check", by, &kind.path(&place.once)))?;
                println!("{} is read with the same values by {}", kind.name, others.borrow().about);
                run.add(json!({ "case": format!("{}, read by peers", kind.name), "same_values": true }));
            } else if Others::wanted() && kind.read_by_peers.is_some() {
                self.by_first(|| Ok::<_, String>(()))?;
            }
        }
        Ok(())
    }

    fn memory(&self, case: &str, resident: Option<u64>, of_array: u64, has_target: bool) {
        let Some(resident) = resident.filter(|_| self.run.world.rank() == 0) else { return };
        let rank = resident.saturating_sub(of_array) as f64 / self.run.world.size() as f64;
        let verdict = match has_target {
            true if rank <= MEMORY_TARGET => "   target 64 MiB: met",
            true => "   target 64 MiB: MISSED",
            false => "   a copy of the cells among it",
        };
        println!("{case}: {:.1} MiB a rank beside the array{verdict}", rank / f64::from(1 << 20));
        let target = has_target.then_some(MEMORY_TARGET);
        self.run.add(json!({ "case": case, "bytes_per_rank_beside_array": rank, "target": target }));
    }

    /// How large what was saved is.
    fn sizes(&self, kind: &Kind, about: &str) -> Result<()> {
        if let Some(length) = self.by_first(|| plain::length(&kind.path(&self.place.once)))? {
            let ratio = length as f64 / self.place.bytes as f64;
            let case = name("size", kind, about);
            println!("{case}: {ratio:.3} of the array");
            self.run.add(json!({ "case": case, "bytes": length, "to_array": ratio }));
        }
        Ok(())
    }

    /// Saves, beside plain writes.
    fn saves(&self, kinds: &[Kind], share: &[f32], about: &str) -> Result<()> {
        let kinds = &*self.wanted("save", kinds, about);
        if kinds.is_empty() {
            return Ok(());
        }
        let Self { run, field, place, .. } = *self;
        let (world, bytes) = (run.world, bytemuck::cast_slice::<f32, u8>(share));
        // What was saved before goes first.
        let clear = || -> Result<()> {
            let clear = || plain::remove(&place.timed).and_then(|()| std::fs::create_dir_all(&place.timed));
            self.by_first(clear).map(drop)
        };
        let (path, source) = (place.timed.join("plain"), place.once.join("plain"));
        self.by_first(|| plain::write_alone(&source, place.bytes, bytes))?;
        let mut contenders: Vec<Contender> = Vec::new();
        for &kind in kinds {
            contenders.push(prepared(kind.name, clear, move || kind.save(world, &place.timed, field)));
        }
        let make = || clear().and_then(|()| self.by_first(|| std::fs::File::create(&path)).map(drop));
        let by_all = || world.agree("writing", plain::write(&path, place.offset, bytes).map_err(plain::failed));
        contenders.push(prepared("plain write, all ranks", make, by_all));
        let alone = || self.by_first(|| plain::write_alone(&path, place.bytes, bytes)).map(drop);
        contenders.push(prepared("plain write, rank 0 alone", clear, alone));
        if cfg!(unix) {
            let dd = || self.by_first(|| plain::dd(&source, &path)).map(drop);
            contenders.push(prepared("dd, with fsync", clear, dd));
        }
        let plain = contenders.len() - kinds.len();
        self.peers("save", kinds, &place.timed, &clear, &mut contenders);
        self.compare("save", (kinds, plain), about, contenders)
    }

    /// Loads of what was saved once, beside plain reads.
    fn loads(&self, kinds: &[Kind], share: &[f32], about: &str) -> Result<()> {
        let kinds = &*self.wanted("load", kinds, about);
        if kinds.is_empty() {
            return Ok(());
        }
        let Self { run, field, place, .. } = *self;
        let world = run.world;
        let path = place.once.join("plain");
        self.by_first(|| plain::write_alone(&path, place.bytes, bytemuck::cast_slice(share)))?;
        for (by, _) in kinds.iter().flat_map(|kind| kind.peers) {
            if let Some(others) = self.others.as_ref().filter(|_| world.size() == 1) {
                self.by_first(|| others.borrow_mut().ask("save", by, &place.once.join(peer_file(by))))?;
            }
        }
        // What has been loaded before goes first.
        let (loaded, new) = (RefCell::new(None), RefCell::new(Vec::new()));
        let kept = RefCell::new(vec![1_u8; share.len() * 4]);
        let clear = || {
            drop(loaded.take());
            drop(new.take());
            Ok(())
        };
        let mut contenders: Vec<Contender> = Vec::new();
        for &kind in kinds {
            let loaded = &loaded;
            contenders.push(prepared(kind.name, clear, move || {
                *loaded.borrow_mut() = kind.load(world, &place.once, field)?;
                Ok(())
            }));
        }
        let read =
            |into: &mut [u8]| world.agree("reading", plain::read(&path, place.offset, into).map_err(plain::failed));
        let into_new = || {
            *new.borrow_mut() = vec![0; share.len() * 4];
            read(&mut new.borrow_mut())
        };
        contenders.push(prepared("plain read, new memory", clear, into_new));
        contenders.push(prepared("plain read, memory kept", clear, || read(&mut kept.borrow_mut())));
        self.peers("load", kinds, &place.once, &clear, &mut contenders);
        self.compare("load", (kinds, 2), about, contenders)
    }

    /// Adds what others do in the runs of one rank.
    fn peers<'c>(
        &'c self,
        what: &'static str,
        kinds: &[Kind],
        folder: &'c File,
        clear: &'c dyn Fn() -> Result<()>,
        contenders: &mut Vec<Contender<'c>>,
    ) {
        let Some(others) = self.others.as_ref().filter(|_| self.run.world.size() == 1) else { return };
        for &(by, name) in kinds.iter().flat_map(|kind| kind.peers) {
            let path = folder.join(peer_file(by));
            let work = move || others.borrow_mut().ask(what, by, &path).map_err(Error::program);
            contenders.push(prepared(name, clear, work));
        }
    }

    /// Times all in turn, and reports each kind beside what is plain, the quickest first, and those who do the same.
    fn compare(
        &self,
        what: &str,
        (kinds, plain): (&[Kind], usize),
        about: &str,
        mut contenders: Vec<Contender>,
    ) -> Result<()> {
        let samples = samples(self.run);
        let secs = self.run.alternate(samples, &mut contenders)?;
        let mut limits: Vec<usize> = (kinds.len()..kinds.len() + plain).collect();
        limits.sort_by(|&a, &b| Spread::of(&secs[a]).median.total_cmp(&Spread::of(&secs[b]).median));
        for (index, kind) in kinds.iter().enumerate() {
            let same = |at: &usize| kind.peers.iter().any(|(_, name)| *name == contenders[*at].name);
            let beside = limits.iter().copied().chain((kinds.len() + plain..contenders.len()).filter(same));
            let figures: Vec<Figure> = std::iter::once(index)
                .chain(beside)
                .map(|at| Figure::new(contenders[at].name, &secs[at], &secs[index]))
                .collect();
            let unnamed = name(what, kind, about);
            let case = Case {
                name: &unnamed,
                bytes: self.place.bytes / self.run.world.size() as u64,
                cells: Some(self.shape.iter().product::<i64>() as u64),
                target: kind.target.filter(|_| what == "save").map(common::Target::Ratio),
            };
            self.run.report(&self.run.named(&unnamed), &case, samples, &figures);
        }
        Ok(())
    }
}

fn name(what: &str, kind: &Kind, about: &str) -> String {
    format!("{what}, {}, {about}", kind.name)
}

/// What a file of the peers' program is called.
fn peer_file(by: &str) -> String {
    let ending = match by {
        "numpy" => "npy",
        "h5py" => "h5",
        _ => "zarr",
    };
    format!("{by}-peer.{ending}")
}
