//! Save of arrays as VTK parallel image data: an index file, and one file per chunk in a folder
//! next to it.
//!
//! A piece has the points of a chunk and the next layer of points along each axis, because extents
//! of VTK share points: each VTK cell is in the piece of its lowest corner. Point data keeps arrays
//! equal in `.vti` and `.pvti`; cell data would not.
//!
//! The names of pieces contain a number per save. The atomic replacement of the index decides which
//! pieces count; old pieces are removed after all ranks know of the new index.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};

use zippy::array::{ArrayCore, GlobalArray};
use zippy::collective::CollectiveWorld;
use zippy::element::Element;
use zippy::error::CallSite;
use zippy::extents::Index;
use zippy::region::Region;
use zippy::transport::{copied, values};
use zippy::{Error, Result, World};
use zippy_files::{FileError, SharedFile, sync_entry, write_unsynced};
use zippy_io::IoError;
use zippy_io::array::{MOST_PIECES, Outline, VtkImage, index_stem, piece_sources};

use super::blocks::BlockGrid;
use super::staging::{BlockSchedule, each_block};

struct PvtiPiece {
    /// Chunk index, part of the file name.
    chunk: usize,
    region: Region,
    blocks: BlockGrid,
    /// Number of this rank's blocks in earlier pieces.
    first_block: usize,
}

impl PvtiPiece {
    fn blocks_end(&self) -> usize {
        self.first_block + self.blocks.count() as usize
    }
}

/// Saves a box of an array; returns the bytes of all files. Collective.
#[track_caller]
pub(super) fn save_pieces<T: Element, const D: usize>(
    world: &World,
    path: &Path,
    (source, region): (&GlobalArray<T, D>, Region),
    image: &VtkImage,
    block_bytes: u64,
) -> Result<u64> {
    let _call = CallSite::enter();
    let pieces = pieces(world.size(), source.core(), &region, block_bytes / T::INFO.bytes as u64);
    let count: usize = pieces.iter().map(Vec::len).sum();
    let fits = if count <= MOST_PIECES {
        Ok(())
    } else {
        let message = format!("would have {count} pieces; at most {MOST_PIECES} are read. A .vti is one");
        Err(FileError::request(path, message).into())
    };
    world.agree("counting pieces", fits)?;
    let number = (world.rank() == 0).then(|| copied(&[RandomState::new().build_hasher().finish()]));
    let number = world.failing("numbering pieces", || values::<u64>(&world.group().broadcast(0, number)?))?[0];
    let names = PieceNames::new(path, number)?;
    let creates_folder = if world.rank() == 0 { names.make_folder() } else { Ok(false) };
    let creates_folder = world.agree("making a folder for pieces", creates_folder.map_err(Error::from))?;
    let mut writer = PieceWriter { names: &names, image, finished: Vec::new(), open: None, bytes: 0 };
    let written = writer.write(world, source, &region, &pieces);
    writer.open = None;
    let bytes = writer.bytes;
    let commit = PieceCommit { names: &names, finished: writer.finished, creates_folder };
    let index = || {
        let named = pieces.iter().flatten().map(|piece| {
            let region = piece.region.translate(&(Index::zeros(region.axes()) - region.start));
            (region, format!("{}/{}", names.stem, names.piece(piece.chunk)))
        });
        image.index(&Region::whole(region.extents()), named)
    };
    let mut sum = [bytes + commit.finish(world, written, index)?];
    world.failing("counting bytes", || world.group().all_reduce(&mut sum, |sum, more| *sum += more))?;
    Ok(sum[0])
}

struct PieceCommit<'a> {
    names: &'a PieceNames<'a>,
    finished: Vec<PathBuf>,
    creates_folder: bool,
}

impl PieceCommit<'_> {
    /// Renames the index after all pieces are on the disk, and then removes the old pieces. Returns
    /// the bytes of the index on rank 0. Collective.
    fn finish(self, world: &World, written: Result<()>, index: impl FnOnce() -> String) -> Result<u64> {
        let written = written.and_then(|()| Ok(self.sync()?));
        let mut placed = false;
        let replaced = world.agree("writing pieces", written).and_then(|()| {
            let replaced =
                if world.rank() == 0 { self.names.replace_index(&index(), &mut placed) } else { Ok((0, Vec::new())) };
            world.agree("writing the index of pieces", replaced.map_err(Error::from))
        });
        match replaced {
            Ok((bytes, old)) => {
                // A piece that cannot be removed does no harm: no index names it.
                old.iter().for_each(|path| drop(fs::remove_file(path)));
                Ok(bytes)
            }
            Err(error) => {
                self.remove_new_pieces(world, placed);
                Err(error)
            }
        }
    }

    /// Syncs a new folder; the pieces are already on the disk.
    fn sync(&self) -> std::result::Result<(), FileError> {
        if self.creates_folder { sync_entry(&self.names.folder, &self.names.folder) } else { Ok(()) }
    }

    /// Removes the new pieces if rank 0 reports that no index names them.
    fn remove_new_pieces(&self, world: &World, placed: bool) {
        // An error here means that the ranks do not agree about the failure.
        if world.agree("removing pieces", Ok(())).is_err() {
            return;
        }
        let index_exists = (world.rank() == 0).then(|| copied(&[u64::from(placed)]));
        let index_exists =
            world.failing("removing pieces", || values::<u64>(&world.group().broadcast(0, index_exists)?));
        if !index_exists.is_ok_and(|flag| flag[..] == [0]) {
            return;
        }
        self.finished.iter().for_each(|path| drop(fs::remove_file(path)));
        if world.agree("removing the folder of pieces", Ok(())).is_ok() && self.creates_folder {
            let _ = fs::remove_dir(&self.names.folder);
        }
    }
}

fn pieces(ranks: usize, core: &ArrayCore, region: &Region, most_cells: u64) -> Vec<Vec<PvtiPiece>> {
    let axes = region.axes();
    let box_of = |chunk: usize| {
        let cells = core.chunks().region(chunk).intersect(region)?;
        // The lower neighbours contain all points of a chunk in the last layer.
        let is_end = |axis: usize| cells.start[axis] + 1 == region.end[axis] && cells.start[axis] > region.start[axis];
        if (0..axes).any(is_end) {
            return None;
        }
        cells.grow(&Index::zeros(axes), &Index::splat(axes, 1)).intersect(region)
    };
    let all = (0..ranks).map(|rank| {
        let boxes = core.ownership().of_rank(rank).filter_map(|chunk| Some((chunk, box_of(chunk)?)));
        boxes.collect::<Vec<_>>()
    });
    let all: Vec<Vec<(usize, Region)>> = all.collect();
    let extents =
        Index::from_fn(axes, |axis| all.iter().flatten().map(|(_, piece)| piece.extents()[axis]).max().unwrap_or(1));
    let room = BlockGrid::contiguous(Region::whole(extents), most_cells).extents();
    let of_rank = |boxes: Vec<(usize, Region)>| {
        let mut first_block = 0;
        let piece = |(chunk, region): (usize, Region)| {
            let blocks =
                BlockGrid::with_extents(region, Index::from_fn(axes, |axis| room[axis].min(region.extents()[axis])));
            let piece = PvtiPiece { chunk, region, first_block, blocks };
            first_block += piece.blocks.count() as usize;
            piece
        };
        boxes.into_iter().map(piece).collect()
    };
    all.into_iter().map(of_rank).collect()
}

struct PieceNames<'a> {
    index: &'a Path,
    stem: &'a str,
    folder: PathBuf,
    /// Random number in the names of all pieces of a save.
    number: u64,
}

impl<'a> PieceNames<'a> {
    fn new(index: &'a Path, number: u64) -> std::result::Result<Self, IoError> {
        let stem = index_stem(index)?;
        Ok(Self { index, stem, folder: index.with_file_name(stem), number })
    }

    fn piece(&self, chunk: usize) -> String {
        format!("{}_{:016x}_{chunk}.vti", self.stem, self.number)
    }

    /// Creates the folder; false if it exists.
    fn make_folder(&self) -> std::result::Result<bool, FileError> {
        match fs::create_dir(&self.folder) {
            Err(_) if self.folder.is_dir() => Ok(false),
            Err(error) => Err(FileError::system(&self.folder, "make a folder", &error)),
            Ok(()) => Ok(true),
        }
    }

    /// Returns the bytes of the index and the pieces of the replaced index. Sets `placed` after the
    /// rename, even if a later step fails.
    fn replace_index(&self, text: &str, placed: &mut bool) -> std::result::Result<(u64, Vec<PathBuf>), FileError> {
        let old = piece_sources(self.index);
        // Only files of saves under the same name: an index can name any file.
        let path_of_piece = |source: String| {
            let name = source.strip_prefix(self.stem)?.strip_prefix('/')?;
            self.is_piece(name).then(|| self.folder.join(name))
        };
        let old = old.unwrap_or_default().into_iter().filter_map(path_of_piece).collect();
        let target = write_unsynced(self.index, text.as_bytes())?;
        *placed = true;
        sync_entry(self.index, &target)?;
        Ok((text.len() as u64, old))
    }

    fn is_piece(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.stem).and_then(|rest| rest.strip_prefix('_'));
        let numbers = rest.and_then(|rest| rest.strip_suffix(".vti")).and_then(|rest| rest.split_once('_'));
        numbers.is_some_and(|(save, chunk)| {
            let hex = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
            let is_chunk = !chunk.is_empty() && chunk.bytes().all(|byte| byte.is_ascii_digit());
            save.len() == 16 && save.bytes().all(hex) && is_chunk && save != format!("{:016x}", self.number)
        })
    }
}

struct PieceWriter<'a> {
    names: &'a PieceNames<'a>,
    image: &'a VtkImage,
    /// Pieces that have their final names; the last one may still have its temporary name.
    finished: Vec<PathBuf>,
    open: Option<(SharedFile, Outline)>,
    bytes: u64,
}

impl PieceWriter<'_> {
    fn write<T: Element, const D: usize>(
        &mut self,
        world: &World,
        source: &GlobalArray<T, D>,
        region: &Region,
        pieces: &[Vec<PvtiPiece>],
    ) -> Result<()> {
        let find = |rank: usize, round: usize| {
            let rank_pieces = &pieces[rank];
            &rank_pieces[rank_pieces.partition_point(|piece| piece.first_block <= round) - 1]
        };
        let block = |rank: usize, round: usize| {
            let piece = find(rank, round);
            piece.blocks.block((round - piece.first_block) as u64)
        };
        let widest = |axis: usize| pieces.iter().flatten().map(|piece| piece.blocks.extents()[axis]).max();
        let schedule = BlockSchedule {
            counts: pieces.iter().map(|all| all.last().map_or(0, PvtiPiece::blocks_end)).collect(),
            block: &block,
            room: Index::from_fn(D, |axis| widest(axis).unwrap_or(1)),
        };
        let (rank, mut round, mut scratch) = (world.rank(), 0, Vec::new());
        each_block(world, source, &schedule, &mut |block, cells| {
            let piece = find(rank, round);
            round += 1;
            let last = round == piece.blocks_end();
            self.block(piece, region, (block, last), (cells, T::INFO.bytes), &mut scratch)
        })
    }

    /// The first block creates the file, the last one completes it.
    fn block(
        &mut self,
        piece: &PvtiPiece,
        region: &Region,
        (block, last): (&Region, bool),
        cells: (&[u8], usize),
        scratch: &mut Vec<u8>,
    ) -> std::result::Result<(), FileError> {
        let path = self.names.folder.join(self.names.piece(piece.chunk));
        let (mut file, outline) = match self.open.take() {
            Some(open) => open,
            None => {
                let region = piece.region.translate(&(Index::zeros(region.axes()) - region.start));
                let outline = self.image.file(&region, false).map_err(|wrong| FileError::request(&path, wrong))?;
                let mut file = SharedFile::create(&path, outline.length)?;
                outline.fixed.iter().try_for_each(|(at, bytes)| file.write_at(*at, bytes))?;
                (file, outline)
            }
        };
        outline.block((&piece.region, block), cells, scratch, &mut |at, bytes| file.write_at(at, bytes))?;
        if !last {
            self.open = Some((file, outline));
            return Ok(());
        }
        file.finish()?;
        // `commit` can fail after the rename, so record the path first.
        self.finished.push(path);
        file.commit()?;
        self.bytes += outline.length;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zippy::{Config, run_with};

    use super::*;

    #[test]
    fn old_and_new_pieces_stay_when_a_rank_dies() {
        let directory = tempfile::tempdir().unwrap();
        let (path, folder) = (directory.path().join("a.pvti"), directory.path().join("a"));
        let index = |piece: &str| {
            format!(
                "<VTKFile type=\"PImageData\" version=\"1.0\"><PImageData WholeExtent=\"0 0 0 0 0 0\"><PPointData>\
                 <PDataArray type=\"Float32\" Name=\"a\"/></PPointData><Piece Extent=\"0 0 0 0 0 0\" Source=\"a/{piece}\"/>\
                 </PImageData></VTKFile>"
            )
        };
        let old = "a_0123456789abcdef_0.vti";
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(old), "old").unwrap();
        let save = |ranks: usize, dies: bool| {
            fs::write(&path, index(old)).unwrap();
            run_with(Config::threads(ranks), |world| {
                let names = PieceNames::new(&path, 1)?;
                let path_of_rank = folder.join(names.piece(world.rank()));
                fs::write(&path_of_rank, "new").unwrap();
                if dies && world.rank() == 1 {
                    world.agree("writing pieces", Ok(()))?;
                    return Err(Error::program("rank 1 dies"));
                }
                let commit = PieceCommit { names: &names, finished: vec![path_of_rank], creates_folder: false };
                commit.finish(world, Ok(()), || index(&names.piece(0))).map(drop)
            })
        };
        save(3, true).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), index("a_0000000000000001_0.vti"));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
        save(2, false).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
        assert!(!folder.join(old).exists());
    }
}
