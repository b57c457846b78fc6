//! Consistency checks of an untrusted manifest.

use std::collections::BTreeSet;

use zippy::extents::Index;
use zippy::region::{Region, RegionTree};

use super::element::SavedType;
use super::manifest::{Manifest, SavedArray, SavedGrowable};
use super::sizes::{MOST_BLOCK_BYTES, MOST_STATE};
use zippy_files::checksum::Checksums;
use zippy_files::quoted;

const MOST_CELL_BYTES: u64 = 1 << 20;

/// Byte range of a rank's file that belongs to an array.
struct FileRange {
    file: usize,
    offset: u64,
    bytes: u64,
}

pub(super) fn check(manifest: &Manifest) -> Result<(), String> {
    if !(1..=MOST_BLOCK_BYTES).contains(&manifest.block_bytes) {
        return Err(format!("blocks of {} bytes; they have 1 to {MOST_BLOCK_BYTES}", manifest.block_bytes));
    }
    let sums = |sums: &Checksums| sums.blocks(manifest.block_bytes) == sums.checksums.len() as u64;
    if let Some(wrong) = manifest.files.iter().chain(&manifest.state).find(|file| !sums(file)) {
        return Err(format!("{} checksums of a file of {} bytes", wrong.checksums.len(), wrong.bytes));
    }
    if let Some(state) = manifest.state.as_ref().filter(|state| state.bytes > MOST_STATE) {
        return Err(format!("a state of {} bytes; it has at most {MOST_STATE}", state.bytes));
    }
    let mut ranges = Vec::new();
    for array in &manifest.arrays {
        let checked = check_array(array, &mut ranges);
        checked.map_err(|message| format!("array {}: {message}", quoted(&array.name)))?;
    }
    for growable in &manifest.growables {
        let checked = check_growable(growable, manifest.files.len(), &mut ranges);
        checked.map_err(|message| format!("growable array {}: {message}", quoted(&growable.name)))?;
    }
    check_names(manifest)?;
    check_ranges(&manifest.files, ranges)
}

fn check_names(manifest: &Manifest) -> Result<(), String> {
    let arrays = manifest.arrays.iter().map(|array| &array.name);
    let mut names = BTreeSet::new();
    match arrays.chain(manifest.growables.iter().map(|growable| &growable.name)).find(|name| !names.insert(*name)) {
        None => Ok(()),
        Some(duplicate) => Err(format!("two arrays are called {}", quoted(duplicate))),
    }
}

fn check_type(element: &SavedType) -> Result<(), String> {
    match element.bytes {
        1..=MOST_CELL_BYTES => Ok(()),
        bytes => Err(format!("cells of {bytes} bytes")),
    }
}

fn bytes_of(cells: u64, element: &SavedType) -> Result<u64, String> {
    cells.checked_mul(element.bytes).ok_or_else(|| format!("{cells} cells of {} bytes", element.bytes))
}

/// Checks that the boxes cover the array without overlap.
fn check_array(array: &SavedArray, ranges: &mut Vec<FileRange>) -> Result<(), String> {
    check_type(&array.element)?;
    let whole = Region::new(&vec![0; array.shape.len()], &array.shape).map_err(|error| error.to_string())?;
    let (mut boxes, mut cells) = (Vec::with_capacity(array.parts.len()), 0_u64);
    for part in &array.parts {
        let region = part.region()?;
        if region.axes() != whole.axes() || region.is_empty() || !whole.covers(&region) {
            return Err(format!("the part {region} is no part of {whole}"));
        }
        cells = cells.saturating_add(region.cells());
        ranges.push(FileRange {
            file: part.file,
            offset: part.offset,
            bytes: bytes_of(region.cells(), &array.element)?,
        });
        boxes.push(region);
    }
    if let Some((a, b)) = RegionTree::new(&boxes).overlapping_pair() {
        return Err(format!("the parts {} and {} overlap", boxes[a], boxes[b]));
    }
    if cells == whole.cells() {
        Ok(())
    } else {
        Err(format!("its parts have {cells} of the {} cells of {}", whole.cells(), Index::new(&array.shape)))
    }
}

fn check_growable(growable: &SavedGrowable, ranks: usize, ranges: &mut Vec<FileRange>) -> Result<(), String> {
    check_type(&growable.element)?;
    if growable.parts.len() != ranks {
        return Err(format!("{} parts of {ranks} ranks", growable.parts.len()));
    }
    for (file, run) in growable.parts.iter().enumerate() {
        ranges.push(FileRange { file, offset: run.offset, bytes: bytes_of(run.cells, &growable.element)? });
    }
    let sum = growable.parts.iter().try_fold(0_u64, |sum, run| sum.checked_add(run.cells));
    sum.filter(|&sum| i64::try_from(sum).is_ok()).map(drop).ok_or_else(|| "its cells cannot be counted".to_string())
}

/// Checks that the ranges cover each file without gaps, which bounds the arrays by the sizes of the
/// files.
fn check_ranges(files: &[Checksums], mut ranges: Vec<FileRange>) -> Result<(), String> {
    ranges.retain(|range| range.bytes > 0);
    ranges.sort_unstable_by_key(|range| (range.file, range.offset));
    let mut ends = vec![0_u64; files.len()];
    for range in ranges {
        let end = ends
            .get_mut(range.file)
            .ok_or_else(|| format!("{} files, and none of rank {}", files.len(), range.file))?;
        if range.offset != *end {
            return Err(format!(
                "in the file of rank {} a part begins at byte {}, not {end}",
                range.file, range.offset
            ));
        }
        *end = end.saturating_add(range.bytes);
    }
    match ends.iter().zip(files).position(|(end, file)| *end != file.bytes) {
        None => Ok(()),
        Some(rank) => Err(format!(
            "the parts in the file of rank {rank} end at byte {}, the file at {}",
            ends[rank], files[rank].bytes
        )),
    }
}
