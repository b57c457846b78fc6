//! Saving and loading of arrays, compared with plain writes and reads of the same number of bytes
//! and with NumPy, h5py and zarr-python.

mod common;
mod reference;

mod files {
    pub(crate) mod field;
    pub(crate) mod formats;
    pub(crate) mod steps;
}

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use serde_json::json;
use zippy::array::GlobalArray;
use zippy::{Error, Result};

use common::{Case, ChunkAccess, Contender, Figure, Run, Spread, on_ranks, prepared};
use files::field::{self, SIDE};
use files::formats::{FileKind, KINDS, layout};
use files::steps;
use reference::files::{self as plain, FilePeers};

/// Size of the array in MiB.
const MIB: &str = "ZIPPY_BENCH_FILES_MIB";

/// Upper limit for the host memory of a rank in addition to the array, in bytes.
const MEMORY_TARGET: f64 = (64 << 20) as f64;

pub(crate) fn main() -> Result<()> {
    let about = "Saving and loading 512x512x1024 f32 (1 GiB; ZIPPY_BENCH_FILES_MIB sets another size in MiB) as npy, Zarr \
                 (raw and zstd), VTI and checkpoint, compared with plain writes (by all ranks, by rank 0 alone, by dd) \
                 and plain reads of the same number of bytes; memory; steps of a heat solver while a checkpoint is \
                 written. All writes wait for the disk; all reads come from the system's cache. The files are in a \
                 folder under target/tmp and take at most twelve times the size of the array. Chunks are accessed by \
                 mapping, or with ZIPPY_HOST_MAP=0 by kernels (required on an adapter without mapping). With cargo xtask \
                 bench --peers, NumPy, zarr-python and VTK read the saved files, and runs with one rank are also \
                 compared with NumPy, h5py and zarr-python.";
    let by_kernels = std::env::var("ZIPPY_HOST_MAP").is_ok_and(|set| set == "0");
    on_ranks("ranks_files", about, &[if by_kernels { ChunkAccess::Kernels } else { ChunkAccess::Mapped }], measure)
}

fn measure(run: &Run<'_>) -> Result<()> {
    let mib = std::env::var(MIB).map_or(Ok(1024), |set| set.parse::<u32>());
    let mib = mib.ok().filter(|mib| *mib > 0).ok_or_else(|| Error::program(format!("{MIB} is not a number of MiB")))?;
    let shape = [SIDE, SIDE, i64::from(mib)];
    let field = run.world.array::<f32, 3>("field", &layout(shape))?;
    let share = field::fill(&field, true)?;
    let starts_peers = FilePeers::wanted() && run.world.rank() == 0;
    let peers = starts_peers.then(|| FilePeers::start(shape).map_err(Error::program)).transpose();
    let peers = run.world.agree("starting the peers' Python", peers)?.map(RefCell::new);
    let paths = FilePaths::new(run, share.len() as u64 * 4)?;
    let bench = Bench { run, shape, field: &field, peers: &peers, paths: &paths };
    bench.once(&share)?;
    bench.saves(&KINDS, &share, "with noise")?;
    bench.loads(&KINDS, &share, "with noise")?;
    let bytes = bytemuck::cast_slice(&share);
    let plain_write = steps::PlainWrite { path: &paths.timed.join("plain"), offset: paths.offset, bytes };
    steps::measure(run, samples(run), &paths.timed, &field, &plain_write)?;
    // A field without noise compresses well.
    let zstd: Vec<FileKind> = KINDS.into_iter().filter(|kind| kind.name == "Zarr, zstd").collect();
    let share = field::fill(&field, false)?;
    if ["save", "load"].iter().any(|operation| !bench.selected(operation, &zstd, "without noise").is_empty()) {
        zstd[0].save(run.world, &paths.once, &field)?;
        bench.sizes(&zstd[0], "without noise")?;
    }
    let bench = Bench { peers: &None, ..bench };
    bench.saves(&zstd, &share, "without noise")?;
    bench.loads(&zstd, &share, "without noise")
}

/// Number of samples: at most five, because each takes seconds.
fn samples(run: &Run<'_>) -> usize {
    run.options.samples().min(5)
}

/// Paths of the benchmark's files. Rank 0 removes the folder on drop.
struct FilePaths {
    folder: PathBuf,
    /// Folder of the files that are saved once and then loaded.
    once: PathBuf,
    /// Folder of the file of a timed save.
    timed: PathBuf,
    /// Offset of this rank's bytes in a plain file.
    offset: u64,
    /// Bytes of all ranks.
    bytes: u64,
    is_first: bool,
}

impl FilePaths {
    fn new(run: &Run<'_>, own: u64) -> Result<Self> {
        let (rank, size) = (run.world.rank(), run.world.size());
        // Bytes of each rank, and the process id of rank 0 as the number of the run.
        let mut gathered = vec![0_u64; size + 1];
        gathered[rank] = own;
        gathered[size] = if rank == 0 { u64::from(std::process::id()) } else { 0 };
        run.world.group().all_reduce(&mut gathered, |sum, more| *sum += more)?;
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ranks_files-{}", gathered[size]));
        let (once, timed) = (folder.join("once"), folder.join("timed"));
        let (offset, bytes) = (gathered[..rank].iter().sum(), gathered[..size].iter().sum());
        let paths = Self { folder, once, timed, offset, bytes, is_first: rank == 0 };
        let create = || [&paths.once, &paths.timed].into_iter().try_for_each(std::fs::create_dir_all);
        run.world.agree("making folders", if rank == 0 { create() } else { Ok(()) }.map_err(plain::failed))?;
        Ok(paths)
    }
}

impl Drop for FilePaths {
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
    peers: &'a Option<RefCell<FilePeers>>,
    paths: &'a FilePaths,
}

impl<'a> Bench<'a> {
    fn selected(&self, operation: &str, kinds: &[FileKind], content: &str) -> Vec<FileKind> {
        let is_selected = |kind: &&FileKind| self.run.options.selects(&self.run.named(&name(operation, kind, content)));
        kinds.iter().filter(is_selected).copied().collect()
    }

    /// Runs `operation` on rank 0; `None` on the other ranks. Collective.
    fn on_rank_0<R, E: std::fmt::Display>(
        &self,
        operation: impl FnOnce() -> std::result::Result<R, E>,
    ) -> Result<Option<R>> {
        let result = if self.run.world.rank() == 0 { operation().map(Some) } else { Ok(None) };
        self.run.world.agree("the operation on rank 0", result.map_err(|error| Error::program(error.to_string())))
    }

    /// Saves and loads each kind once: measures memory, and checks the loaded values.
    fn once(&self, share: &[f32]) -> Result<()> {
        let before = self.run.resident_now()?;
        // Saves that copy the cells run last, because the process may keep memory of the copy.
        let (copying, not_copying): (Vec<FileKind>, Vec<FileKind>) = KINDS.into_iter().partition(FileKind::copies);
        for kinds in [not_copying, copying] {
            self.kinds_once(&kinds, share, before)?;
        }
        Ok(())
    }

    fn kinds_once(&self, kinds: &[FileKind], share: &[f32], before: Option<u64>) -> Result<()> {
        let (run, world, paths) = (self.run, self.run.world, self.paths);
        for kind in kinds {
            let save = run.peak_memory_above(before, || kind.save(world, &paths.once, self.field))?;
            self.memory(&format!("memory, save, {}", kind.name), save.resident, 0, !kind.copies());
            self.sizes(kind, "with noise")?;
        }
        // A second loop, because a load reuses the memory of the previous load.
        for kind in kinds {
            if !kind.makes_array() {
                self.field.fill(0.0)?;
            }
            let mut loaded = None;
            let load = run.peak_memory_above(before, || {
                loaded = kind.load(world, &paths.once, self.field)?;
                Ok(())
            })?;
            let array_bytes = if kind.makes_array() { paths.bytes } else { 0 };
            if !kind.copies() {
                self.memory(&format!("memory, load, {}", kind.name), load.resident, array_bytes, true);
            }
            let same = field::has(loaded.as_ref().unwrap_or(self.field), share)?;
            let wrong = || Error::program(format!("{}: the loaded values differ from the saved values", kind.name));
            world.agree("comparing the loaded values", if same { Ok(()) } else { Err(wrong()) })?;
            drop(loaded);
            if let (Some(peers), Some(by)) = (self.peers, kind.read_by_peers) {
                self.on_rank_0(|| peers.borrow_mut().request("check", by, &kind.path(&paths.once)))?;
                println!("{}: the same values are read by {}", kind.name, peers.borrow().about);
                run.add(json!({ "case": format!("{}, read by peers", kind.name), "same_values": true }));
            } else if FilePeers::wanted() && kind.read_by_peers.is_some() {
                self.on_rank_0(|| Ok::<_, String>(()))?;
            }
        }
        Ok(())
    }

    /// Reports the resident memory of a rank without that of a loaded array.
    fn memory(&self, case: &str, resident: Option<u64>, array_bytes: u64, has_target: bool) {
        let Some(resident) = resident.filter(|_| self.run.world.rank() == 0) else { return };
        let rank = resident.saturating_sub(array_bytes) as f64 / self.run.world.size() as f64;
        let verdict = if !has_target {
            "   including a copy of the cells"
        } else if rank <= MEMORY_TARGET {
            "   target 64 MiB: met"
        } else {
            "   target 64 MiB: MISSED"
        };
        println!("{case}: {:.1} MiB a rank in addition to the array{verdict}", rank / f64::from(1 << 20));
        let target = has_target.then_some(MEMORY_TARGET);
        self.run.add(json!({ "case": case, "bytes_per_rank_beside_array": rank, "target": target }));
    }

    fn sizes(&self, kind: &FileKind, content: &str) -> Result<()> {
        if let Some(length) = self.on_rank_0(|| plain::length(&kind.path(&self.paths.once)))? {
            let ratio = length as f64 / self.paths.bytes as f64;
            let case = name("size", kind, content);
            println!("{case}: {ratio:.3} of the array");
            self.run.add(json!({ "case": case, "bytes": length, "to_array": ratio }));
        }
        Ok(())
    }

    fn saves(&self, kinds: &[FileKind], share: &[f32], content: &str) -> Result<()> {
        let kinds = &*self.selected("save", kinds, content);
        if kinds.is_empty() {
            return Ok(());
        }
        let Self { run, field, paths, .. } = *self;
        let (world, bytes) = (run.world, bytemuck::cast_slice::<f32, u8>(share));
        // Untimed: removes the previous files.
        let clear = || -> Result<()> {
            let clear = || plain::remove(&paths.timed).and_then(|()| std::fs::create_dir_all(&paths.timed));
            self.on_rank_0(clear).map(drop)
        };
        let (path, source) = (paths.timed.join("plain"), paths.once.join("plain"));
        self.on_rank_0(|| plain::write_alone(&source, paths.bytes, bytes))?;
        let mut contenders: Vec<Contender<'_>> = Vec::new();
        for &kind in kinds {
            contenders.push(prepared(kind.name, clear, move || kind.save(world, &paths.timed, field)));
        }
        let create = || clear().and_then(|()| self.on_rank_0(|| std::fs::File::create(&path)).map(drop));
        let by_all = || world.agree("writing", plain::write(&path, paths.offset, bytes).map_err(plain::failed));
        contenders.push(prepared("plain write, all ranks", create, by_all));
        let alone = || self.on_rank_0(|| plain::write_alone(&path, paths.bytes, bytes)).map(drop);
        contenders.push(prepared("plain write, rank 0 alone", clear, alone));
        if cfg!(unix) {
            let dd = || self.on_rank_0(|| plain::dd(&source, &path)).map(drop);
            contenders.push(prepared("dd, with fsync", clear, dd));
        }
        let plain = contenders.len() - kinds.len();
        self.add_peers("save", kinds, &paths.timed, &clear, &mut contenders);
        self.compare("save", KindsAndPlain { kinds, plain }, content, contenders)
    }

    fn loads(&self, kinds: &[FileKind], share: &[f32], content: &str) -> Result<()> {
        let kinds = &*self.selected("load", kinds, content);
        if kinds.is_empty() {
            return Ok(());
        }
        let Self { run, field, paths, .. } = *self;
        let world = run.world;
        let path = paths.once.join("plain");
        self.on_rank_0(|| plain::write_alone(&path, paths.bytes, bytemuck::cast_slice(share)))?;
        for (by, _) in kinds.iter().flat_map(|kind| kind.peers) {
            if let Some(peers) = self.peers.as_ref().filter(|_| world.size() == 1) {
                self.on_rank_0(|| peers.borrow_mut().request("save", by, &paths.once.join(peer_file(by))))?;
            }
        }
        // Untimed: drops the results of the previous load.
        let (loaded, new) = (RefCell::new(None), RefCell::new(Vec::new()));
        let kept = RefCell::new(vec![1_u8; share.len() * 4]);
        let clear = || {
            drop(loaded.take());
            drop(new.take());
            Ok(())
        };
        let mut contenders: Vec<Contender<'_>> = Vec::new();
        for &kind in kinds {
            let loaded = &loaded;
            contenders.push(prepared(kind.name, clear, move || {
                *loaded.borrow_mut() = kind.load(world, &paths.once, field)?;
                Ok(())
            }));
        }
        let read =
            |into: &mut [u8]| world.agree("reading", plain::read(&path, paths.offset, into).map_err(plain::failed));
        let into_new = || {
            *new.borrow_mut() = vec![0; share.len() * 4];
            read(&mut new.borrow_mut())
        };
        contenders.push(prepared("plain read, new memory", clear, into_new));
        contenders.push(prepared("plain read, memory kept", clear, || read(&mut kept.borrow_mut())));
        self.add_peers("load", kinds, &paths.once, &clear, &mut contenders);
        self.compare("load", KindsAndPlain { kinds, plain: 2 }, content, contenders)
    }

    fn add_peers<'c>(
        &'c self,
        operation: &'static str,
        kinds: &[FileKind],
        folder: &'c Path,
        clear: &'c dyn Fn() -> Result<()>,
        contenders: &mut Vec<Contender<'c>>,
    ) {
        let Some(peers) = self.peers.as_ref().filter(|_| self.run.world.size() == 1) else { return };
        for &(by, name) in kinds.iter().flat_map(|kind| kind.peers) {
            let path = folder.join(peer_file(by));
            let work = move || peers.borrow_mut().request(operation, by, &path).map_err(Error::program);
            contenders.push(prepared(name, clear, work));
        }
    }

    /// Reports each file kind with the plain contenders, the fastest first, and with the peers of
    /// the same kind.
    fn compare(
        &self,
        operation: &str,
        KindsAndPlain { kinds, plain }: KindsAndPlain<'_>,
        content: &str,
        mut contenders: Vec<Contender<'_>>,
    ) -> Result<()> {
        let samples = samples(self.run);
        let secs = self.run.alternate(samples, &mut contenders)?;
        let mut limits: Vec<usize> = (kinds.len()..kinds.len() + plain).collect();
        limits.sort_by(|&a, &b| Spread::of(&secs[a]).median.total_cmp(&Spread::of(&secs[b]).median));
        for (index, kind) in kinds.iter().enumerate() {
            let same = |at: &usize| kind.peers.iter().any(|(_, name)| *name == contenders[*at].name);
            let compared = limits.iter().copied().chain((kinds.len() + plain..contenders.len()).filter(same));
            let figures: Vec<Figure> = std::iter::once(index)
                .chain(compared)
                .map(|at| Figure::new(contenders[at].name, &secs[at], &secs[index]))
                .collect();
            let unnamed = name(operation, kind, content);
            let case = Case {
                name: &unnamed,
                bytes: self.paths.bytes / self.run.world.size() as u64,
                cells: Some(self.shape.iter().product::<i64>() as u64),
                target: kind.target.filter(|_| operation == "save").map(common::Target::Ratio),
            };
            self.run.report(&self.run.named(&unnamed), &case, samples, &figures);
        }
        Ok(())
    }
}

/// The contenders are the file kinds, `plain` plain contenders, then the peers.
struct KindsAndPlain<'a> {
    kinds: &'a [FileKind],
    plain: usize,
}

fn name(operation: &str, kind: &FileKind, content: &str) -> String {
    format!("{operation}, {}, {content}", kind.name)
}

fn peer_file(by: &str) -> String {
    let ending = match by {
        "numpy" => "npy",
        "h5py" => "h5",
        _ => "zarr",
    };
    format!("{by}-peer.{ending}")
}
