//! [`StartedSave`]: a save from its beginning to its end, on every rank.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use zippy::collective::CollectiveWorld;
use zippy::transport::{Payload, copied, values};
use zippy::{Error, Result, World};

use super::contents::{CellLayout, Contents, NamedArray};
use super::draft::Draft;
use super::element::SavedType;
use super::manifest::{Manifest, SavedArray, SavedBox, SavedGrowable, SavedRun};
use super::names::Generation;
use super::rank_exchange::{broadcast_value, gather_numbers};
use super::run::RunShare;
use super::tidy::{Retention, tidy};
use zippy_files::FileError;
use zippy_files::checksum::{ChecksumWriter, Checksums};

pub(super) struct StartedSave {
    /// Text that names the save in messages.
    pub call_name: String,
    pub draft: Draft,
    retention: Retention,
    block_bytes: u64,
    /// On rank 0.
    final_content: Option<FinalContent>,
    /// On rank 0.
    run: Option<RunShare>,
}

/// State and manifest, which are written after all cells.
struct FinalContent {
    state: Option<Vec<u8>>,
    /// Complete except for checksums.
    manifest: Manifest,
}

impl StartedSave {
    /// Checks that all ranks save the same content, and creates the directory. Collective; `verb`
    /// is the called method.
    pub(super) fn new(
        world: &World,
        (verb, step): (&str, u64),
        (parent, retention): (&Path, Retention),
        contents: &Contents<'_>,
    ) -> Result<Self> {
        let call_name = format!("{verb}({}, step {step})", parent.display());
        let checked = match retention.count {
            0 => Err(Error::program("a save keeps at least 1 generation: the one that it makes")),
            _ => contents.check(),
        };
        world.agree(&call_name, checked)?;
        let lengths = compare_contents(world, contents)?;
        let is_root = world.rank() == 0;
        let created = is_root.then(|| -> std::result::Result<_, FileError> {
            let run = retention.run(parent)?;
            let draft = Draft::create(run.clone(), step)?;
            let final_content = FinalContent::new((draft.generation(), run.name()), world.size(), contents, &lengths);
            let final_content = final_content.map_err(|message| FileError::request(parent, message))?;
            let unknown = || FileError::request(parent, "has a name, or lies in a directory, that is no Unicode");
            let name = draft.directory().to_str().ok_or_else(unknown)?.to_string();
            Ok((draft, (name, final_content.manifest.block_bytes), (final_content, run)))
        });
        let (created, shared, local) = match world.agree(&call_name, created.transpose().map_err(Error::from))? {
            Some((draft, shared, local)) => (Some(draft), Some(shared), Some(local)),
            None => (None, None, None),
        };
        let (final_content, run) = local.unzip();
        let (name, block_bytes): (String, u64) = broadcast_value(world, shared.as_ref())?;
        let joined = created.map_or_else(|| Draft::join(Path::new(&name), world.rank(), step), Ok);
        let draft = world.agree(&call_name, joined.map_err(Error::from))?;
        Ok(Self { call_name, draft, retention, block_bytes, final_content, run })
    }

    pub(super) fn writer(&self) -> std::result::Result<ChecksumWriter, FileError> {
        self.draft.writer(self.block_bytes)
    }

    /// Completes the generation; `written` is the result of this rank's writes. Collective.
    pub(super) fn finish(mut self, world: &World, written: Result<Checksums>) -> Result<()> {
        let sums = world.agree(&self.call_name, written)?;
        self.draft.all_written();
        let words = [&[sums.bytes as u32, (sums.bytes >> 32) as u32], &*sums.checksums].concat();
        let all = world.failing(self.call_name.clone(), || world.group().gather(0, copied(&words)))?;
        let (call_name, retention, run) = (self.call_name.clone(), self.retention.clone(), self.run.clone());
        let generation = self.draft.generation();
        let commit = match all {
            Some(all) => {
                let files = all.iter().map(|words| Ok(parse_checksums(&values(words)?)));
                files.collect::<Result<_>>().and_then(|files| self.commit(files))
            }
            None => Ok(()),
        };
        world.agree(&call_name, commit)?;
        // Other ranks need not wait for the removal.
        if let Some(run) = run {
            tidy(&run, &retention, generation);
        }
        Ok(())
    }

    /// Writes state and manifest, and gives the generation its final name. On rank 0.
    fn commit(self, files: Vec<Checksums>) -> Result<()> {
        let Self { draft, block_bytes, final_content: Some(FinalContent { state, mut manifest }), .. } = self else {
            return Ok(());
        };
        let expected = &manifest.files;
        if let Some(rank) = (0..files.len()).find(|&rank| files[rank].bytes != expected[rank].bytes) {
            let (written, expected) = (files[rank].bytes, expected[rank].bytes);
            let message = format!("rank {rank} has written {written} bytes, and its cells have {expected}");
            return Err(FileError::request(draft.directory(), message).into());
        }
        manifest.files = files;
        manifest.state = state.map(|state| draft.write_state(&state, block_bytes)).transpose()?;
        Ok(draft.commit(&manifest)?)
    }
}

fn parse_checksums(words: &[u32]) -> Checksums {
    Checksums { bytes: u64::from(words[0]) | u64::from(words[1]) << 32, checksums: words[2..].to_vec() }
}

/// Lengths of growable arrays on each rank, after a check that all ranks save the same content.
fn compare_contents(world: &World, contents: &Contents<'_>) -> Result<Vec<Vec<u64>>> {
    let state = contents.state_bytes();
    let mut hasher = DefaultHasher::new();
    state.hash(&mut hasher);
    let mut numbers = vec![contents.fingerprint(), hasher.finish()];
    numbers.extend(contents.entries.iter().filter_map(|entry| match entry.saved.cells() {
        CellLayout::Growable(cells) => Some(cells),
        CellLayout::Array(_) => None,
    }));
    let all = gather_numbers(world, &numbers)?;
    if let Some(rank) = (0..all.len()).find(|&rank| all[rank][0] != all[0][0]) {
        let message = format!(
            "ranks 0 and {rank} save different arrays, or in another order; each names all of them, with growable arrays that \
             are empty"
        );
        return Err(Error::program(message));
    }
    if let Some(rank) = (0..all.len()).find(|&rank| all[rank][1] != all[0][1]) {
        let message = format!(
            "ranks 0 and {rank} save different states; a checkpoint has one, and what differs between ranks belongs into \
             arrays"
        );
        return Err(Error::program(message));
    }
    Ok(all.into_iter().map(|numbers| numbers[2..].to_vec()).collect())
}

impl FinalContent {
    fn new(
        (generation, run): (Generation, String),
        ranks: usize,
        contents: &Contents<'_>,
        lengths: &[Vec<u64>],
    ) -> Result<Self, String> {
        let state = contents.state_bytes().map(<[u8]>::to_vec);
        let manifest = Manifest::new((generation, run), ranks, state.as_ref().map(|state| state.len() as u64));
        let mut final_content = Self { state, manifest };
        for entry in &contents.entries {
            final_content.add(entry, lengths);
        }
        final_content.manifest.choose_block_size()?;
        Ok(final_content)
    }

    /// Adds an array: each rank appends its cells to those of the earlier arrays.
    fn add(&mut self, NamedArray { name, saved }: &NamedArray<'_>, lengths: &[Vec<u64>]) {
        let (name, element) = (name.to_string(), SavedType::of(saved.element()));
        let Manifest { files, arrays, growables, .. } = &mut self.manifest;
        let mut allocate = |rank: usize, cells: u64| {
            let offset = files[rank].bytes;
            files[rank].bytes += cells * element.bytes;
            offset
        };
        match saved.cells() {
            CellLayout::Growable(_) => {
                let number = growables.len();
                let run = |(rank, lengths): (usize, &Vec<u64>)| {
                    let cells = lengths[number];
                    SavedRun { offset: allocate(rank, cells), cells }
                };
                let parts = lengths.iter().enumerate().map(run).collect();
                growables.push(SavedGrowable { name, element, parts });
            }
            CellLayout::Array(placement) => {
                let (chunks, owners) = (placement.chunks(), placement.ownership());
                let of_rank = |rank| owners.of_rank(rank).map(move |chunk| (rank, chunks.region(chunk)));
                let regions = (0..lengths.len()).flat_map(of_rank).filter(|(_, region)| !region.is_empty());
                let parts = regions
                    .map(|(rank, region)| SavedBox::new(rank, allocate(rank, region.cells()), &region))
                    .collect();
                let shape = chunks.shape();
                let shape = (0..shape.axes()).map(|axis| shape[axis]).collect();
                arrays.push(SavedArray { name, element, shape, parts });
            }
        }
    }
}

/// Writes this rank's cells. Local.
pub(super) fn write(started: &StartedSave, contents: &Contents<'_>) -> Result<Checksums> {
    let mut writer = started.writer()?;
    let mut each = |piece: Payload| Ok(writer.write((*piece).as_ref())?);
    contents.entries.iter().try_for_each(|entry| entry.saved.read(&mut each))?;
    Ok(writer.finish()?)
}
