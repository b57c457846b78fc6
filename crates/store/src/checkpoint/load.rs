//! [`Checkpoint`]: an opened whole generation.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use serde::de::DeserializeOwned;
use zippy::array::{ChunkRef, GlobalArray, Growable};
use zippy::element::{Element, ElementInfo};
use zippy::error::CallSite;
use zippy::extents::Index;
use zippy::region::{Region, RegionTree};
use zippy::{Error, Layout, Result, World};

use super::element::SavedType;
use super::manifest::{Manifest, SavedArray, SavedGrowable};
use super::missing;
use super::names::{self, STATE};
use super::open::{Opened, PassedOver};
use super::sizes::PIECE_BYTES;
use zippy_files::checksum::ChecksumReader;
use zippy_files::{FileError, quoted};

/// Opened checkpoint. It was whole when opened; reads compare the checksums again.
///
/// Its arrays can be read on any number of ranks and with any cuts, with the same bits. Each rank
/// reads the saved boxes that overlap its chunks: with the cuts of the save its own cells, at most
/// the whole array. Host memory per rank, in addition to the arrays and the staging of chunk
/// writes: 16 MiB, and the state until the checkpoint is dropped.
pub struct Checkpoint {
    opened: Opened,
}

impl Checkpoint {
    pub(super) fn new(opened: Opened) -> Self {
        Self { opened }
    }

    fn manifest(&self) -> &Manifest {
        &self.opened.manifest
    }

    /// Step of the checkpoint.
    pub fn step(&self) -> u64 {
        self.manifest().step
    }

    /// Number of ranks of the save.
    pub fn ranks(&self) -> usize {
        self.manifest().files.len()
    }

    /// Directory of the checkpoint.
    pub fn directory(&self) -> &Path {
        &self.opened.directory
    }

    /// Damaged generations that [`latest`](super::Checkpoints::latest) has skipped, latest first.
    pub fn passed_over(&self) -> &[PassedOver] {
        &self.opened.passed_over
    }

    /// Names of the global arrays, in the order of the save.
    pub fn array_names(&self) -> impl Iterator<Item = &str> {
        self.manifest().arrays.iter().map(|array| &*array.name)
    }

    /// Names of the growable arrays, in the order of the save.
    pub fn growable_names(&self) -> impl Iterator<Item = &str> {
        self.manifest().growables.iter().map(|growable| &*growable.name)
    }

    /// Deserializes the program's state from memory. Local.
    ///
    /// # Errors
    /// The same on every rank: the checkpoint has no state, or a state of another type.
    #[track_caller]
    pub fn state<S: DeserializeOwned>(&self) -> Result<S> {
        let _call = CallSite::enter();
        let path = self.directory().join(STATE);
        let Some(bytes) = &self.opened.state else {
            return Err(FileError::request(self.directory(), "was saved without a state").into());
        };
        let wrong = |error| FileError::request(&path, format!("the state is none of the wanted type: {error}"));
        Ok(rmp_serde::from_slice(bytes).map_err(wrong)?)
    }

    /// Creates a global array from the saved array `name`; `layout` maps the saved shape to the
    /// array's layout. Ghost cells are zeros until [`World::ghosts`]. Collective.
    ///
    /// # Errors
    /// The same on every rank: no array of this name, type and number of axes; a layout of another
    /// shape; as [`World::array`]; files that have changed since the checkpoint was opened. If the
    /// name is unknown, the message lists all arrays and those with the wanted type and axes.
    #[track_caller]
    pub fn array<T: Element, const D: usize>(
        &self,
        world: &World,
        name: &str,
        layout: impl FnOnce([i64; D]) -> Layout,
    ) -> Result<GlobalArray<T, D>> {
        let _call = CallSite::enter();
        let call_name = self.call("array", name);
        let saved = world.agree(&call_name, self.find_array::<D>(name, &T::INFO))?;
        let shape: [i64; D] = std::array::from_fn(|axis| saved.shape[axis]);
        let layout = layout(shape);
        let checked = self.check_shape(saved, &layout.shape());
        world.agree(&call_name, checked)?;
        let array = world.array::<T, D>(name, &layout)?;
        world.agree(&call_name, self.read_local_chunks(saved, &array))?;
        Ok(array)
    }

    /// Reads the saved cells into an existing array of the same name, type and shape, whatever its
    /// cuts. Ghost cells keep their values. Collective.
    ///
    /// # Errors
    /// As [`array`](Self::array). If files have changed, a part of the array may have been
    /// overwritten.
    #[track_caller]
    pub fn fill<T: Element, const D: usize>(&self, world: &World, array: &GlobalArray<T, D>) -> Result<()> {
        self.fill_as(world, array.name(), array)
    }

    /// Reads the cells saved as `name` into an existing array of the same type and shape, whatever
    /// its name and cuts: the counterpart of [`Contents::array_as`](super::Contents::array_as).
    /// Ghost cells keep their values. Collective.
    ///
    /// # Errors
    /// As [`fill`](Self::fill).
    #[track_caller]
    pub fn fill_as<T: Element, const D: usize>(
        &self,
        world: &World,
        name: &str,
        array: &GlobalArray<T, D>,
    ) -> Result<()> {
        let _call = CallSite::enter();
        let (call_name, shape) = (self.call("fill", name), Index::new(&array.shape()));
        let found = self.find_array::<D>(name, &T::INFO);
        let found = found.and_then(|saved| self.check_shape(saved, &shape).map(|()| saved));
        let saved = world.agree(&call_name, found)?;
        world.agree(&call_name, self.read_local_chunks(saved, array))
    }

    /// Creates a growable array from the saved growable array `name`. Collective.
    ///
    /// With the number of ranks of the save, each rank gets its own cells. Otherwise the cells of
    /// all ranks, in the order of ranks, are divided evenly: of n cells, rank r of R gets those
    /// from n·r/R to n·(r+1)/R, both rounded down.
    ///
    /// # Errors
    /// The same on every rank: no growable array of this name and type; not enough device memory;
    /// files that have changed since the checkpoint was opened.
    #[track_caller]
    pub fn growable<T: Element>(&self, world: &World, name: &str) -> Result<Growable<T>> {
        let _call = CallSite::enter();
        let call_name = self.call("growable", name);
        let found = self.manifest().growables.iter().find(|growable| growable.name == name);
        let found = found.ok_or_else(|| self.unknown_array(missing::growable(self.manifest(), name, &T::INFO)));
        let saved = found.and_then(|saved| self.check_type(name, &saved.element, &T::INFO).map(|()| saved));
        let saved = world.agree(&call_name, saved)?;
        let cells = cells_of_rank(saved, world.rank(), world.size());
        world.agree(&call_name, self.read_run(world, saved, cells))
    }

    fn call(&self, verb: &str, name: &str) -> String {
        format!("{verb}({name:?} of step {})", self.step())
    }

    fn unknown_array(&self, message: String) -> Error {
        FileError::request(self.directory(), message).into()
    }

    fn check_type(&self, name: &str, saved: &SavedType, wanted: &ElementInfo) -> Result<()> {
        let wanted = SavedType::of(wanted);
        if saved.has_layout_of(&wanted) {
            return Ok(());
        }
        let message = format!("{name:?} has cells of {}, and cells of {wanted} are wanted", quoted(&saved.to_string()));
        Err(FileError::request(self.directory(), message).into())
    }

    fn find_array<const D: usize>(&self, name: &str, wanted: &ElementInfo) -> Result<&SavedArray> {
        let found = self.manifest().arrays.iter().find(|array| array.name == name);
        let saved = found.ok_or_else(|| self.unknown_array(missing::array(self.manifest(), name, (wanted, D))))?;
        self.check_type(name, &saved.element, wanted)?;
        let axes = saved.shape.len();
        if axes == D {
            return Ok(saved);
        }
        Err(FileError::request(self.directory(), format!("{name:?} has {axes} axes, and {D} are wanted")).into())
    }

    fn check_shape(&self, saved: &SavedArray, wanted: &Index) -> Result<()> {
        let shape = Index::new(&saved.shape);
        if shape == *wanted {
            return Ok(());
        }
        let message = format!("{} has {shape} cells, and {wanted} are wanted", quoted(&saved.name));
        Err(FileError::request(self.directory(), message).into())
    }

    fn reader(&self, file: usize) -> Result<ChecksumReader<'_>, FileError> {
        let path = self.directory().join(names::rank_file_name(file));
        ChecksumReader::open(path, &self.manifest().files[file], self.manifest().block_bytes)
    }

    /// Reads the cells of this rank's chunks; each portion of a saved box is read once.
    fn read_local_chunks<T: Element, const D: usize>(
        &self,
        saved: &SavedArray,
        array: &GlobalArray<T, D>,
    ) -> Result<()> {
        let boxes: Vec<Region> =
            saved.parts.iter().map(|part| part.region().map_err(Error::program)).collect::<Result<_>>()?;
        let tree = RegionTree::new(&boxes);
        let mut wanted: BTreeMap<usize, Vec<(ChunkRef<T, D>, Region)>> = BTreeMap::new();
        for chunk in array.chunks() {
            let _ = tree.visit(&chunk.region(), &mut |part, common| {
                wanted.entry(part).or_default().push((chunk.clone(), common));
                ControlFlow::Continue(())
            });
        }
        let mut open: Option<(usize, ChecksumReader<'_>)> = None;
        for (part, chunks) in wanted {
            let (file, offset) = (saved.parts[part].file, saved.parts[part].offset);
            let (_, reader) = match open.take() {
                Some(opened) if opened.0 == file => open.insert(opened),
                _ => open.insert((file, self.reader(file)?)),
            };
            read_part(reader, offset, &boxes[part], &chunks)?;
        }
        Ok(())
    }

    /// Reads the range `wanted` of a growable array's cells, counted over all ranks.
    fn read_run<T: Element>(&self, world: &World, saved: &SavedGrowable, wanted: Range<u64>) -> Result<Growable<T>> {
        let mut growable = world.growable::<T>(&saved.name)?;
        growable.reserve(wanted.end - wanted.start)?;
        let (most, bytes) = ((PIECE_BYTES / size_of::<T>() as u64).max(1), size_of::<T>() as u64);
        let mut first_cell = 0;
        for (file, run) in saved.parts.iter().enumerate() {
            let (mut at, end) = (wanted.start.max(first_cell), wanted.end.min(first_cell + run.cells));
            if at < end {
                let mut reader = self.reader(file)?;
                while at < end {
                    let mut cells = vec![T::zeroed(); most.min(end - at) as usize];
                    reader.read(run.offset + (at - first_cell) * bytes, bytemuck::cast_slice_mut(&mut cells))?;
                    growable.append(&cells)?;
                    at += cells.len() as u64;
                }
            }
            first_cell += run.cells;
        }
        Ok(growable)
    }
}

fn cells_of_rank(saved: &SavedGrowable, rank: usize, ranks: usize) -> Range<u64> {
    let first_cell = |rank: usize| saved.parts[..rank].iter().map(|run| run.cells).sum::<u64>();
    if saved.parts.len() == ranks {
        return first_cell(rank)..first_cell(rank + 1);
    }
    let all = u128::from(first_cell(saved.parts.len()));
    let bound = |rank: usize| (all * rank as u128 / ranks as u128) as u64;
    bound(rank)..bound(rank + 1)
}

fn read_part<T: Element, const D: usize>(
    reader: &mut ChecksumReader<'_>,
    offset: u64,
    part: &Region,
    chunks: &[(ChunkRef<T, D>, Region)],
) -> Result<()> {
    let bytes = size_of::<T>() as u64;
    let mut values = Vec::new();
    for piece in part.cut((PIECE_BYTES / bytes).max(1)) {
        if !chunks.iter().any(|(_, common)| common.intersects(&piece)) {
            continue;
        }
        values.resize(piece.cells() as usize, T::zeroed());
        reader.read(offset + bytes * part.offset(&piece.start), bytemuck::cast_slice_mut(&mut values))?;
        for (chunk, common) in chunks {
            match common.intersect(&piece) {
                None => {}
                Some(common) if common == piece => chunk.at_global(piece).write(&values)?,
                Some(common) => chunk.at_global(common).write(&extract(&values, &piece, &common))?,
            }
        }
    }
    Ok(())
}

fn extract<T: Element>(values: &[T], whole: &Region, part: &Region) -> Vec<T> {
    let mut rows = *part;
    rows.end[0] = rows.start[0] + 1;
    let row = (part.end[0] - part.start[0]) as usize;
    let mut taken = Vec::with_capacity(part.cells() as usize);
    for start in rows.points() {
        let first = whole.offset(&start) as usize;
        taken.extend_from_slice(&values[first..first + row]);
    }
    taken
}
