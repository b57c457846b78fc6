//! Volume files created by tests, and their expected content in every format.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use zippy::region::Region;
use zippy_io::IoError;
use zippy_io::volume::{FileScalar, VolumeFile};

use super::nrrd::{expected, index, region};

/// Temporary directory, removed when dropped.
pub(crate) struct Folder(pub PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("zippy-volumes-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn bytes<T: bytemuck::Pod>(data: &[T], big: bool) -> Vec<u8> {
    let mut bytes = bytemuck::cast_slice::<T, u8>(data).to_vec();
    if big != cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    bytes
}

pub(crate) fn zlib(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Numbers of a box of voxels, from those of the whole volume; components are adjacent.
pub(crate) fn cut<T: Copy>(sizes: &[usize], components: usize, data: &[T], start: &[usize], end: &[usize]) -> Vec<T> {
    let wide = |values: &[usize]| {
        let mut values = values.to_vec();
        values[0] *= components;
        values
    };
    expected(&wide(sizes), data, &wide(start), &wide(end))
}

/// Compares a file with the expected numbers: whole, by boxes of an uneven cut in one pass, and box
/// by box.
pub(crate) fn holds<T: FileScalar + PartialEq + Debug>(
    file: &VolumeFile,
    sizes: &[usize],
    components: usize,
    data: &[T],
) {
    let what = file.path().display();
    assert_eq!((file.kind(), file.shape(), file.components()), (T::KIND, index(sizes), components), "{what}");
    let zero = vec![0; sizes.len()];
    let whole = file.read_region::<T>(&region(&zero, sizes)).unwrap();
    let same = |one: &[T], other: &[T]| bytemuck::cast_slice::<T, u8>(one) == bytemuck::cast_slice::<T, u8>(other);
    assert!(same(&whole, data), "{what}: {whole:?} is not {data:?}");
    let mut boxes = vec![(Vec::new(), Vec::new())];
    for &size in sizes {
        let parts: Vec<(usize, usize)> =
            [0, size / 3, size / 3, (size * 3).div_ceil(4), size].windows(2).map(|ends| (ends[0], ends[1])).collect();
        let longer = |(start, end): &(Vec<usize>, Vec<usize>)| {
            let all = parts.iter().map(|part| ([&start[..], &[part.0]].concat(), [&end[..], &[part.1]].concat()));
            all.collect::<Vec<_>>()
        };
        boxes = boxes.iter().flat_map(longer).collect();
    }
    let regions: Vec<Region> = boxes.iter().map(|(start, end)| region(start, end)).collect();
    let mut seen = vec![0; boxes.len()];
    let read = file.read_regions::<T, IoError>(&regions, |number, numbers| {
        seen[number] += 1;
        let (start, end) = &boxes[number];
        assert!(same(&numbers, &cut(sizes, components, data, start, end)), "{what}: {start:?} to {end:?}");
        Ok(())
    });
    read.unwrap();
    assert!(seen.iter().all(|&times| times == 1), "{what}: {seen:?}");
    for (number, (start, end)) in boxes.iter().enumerate().step_by(7) {
        let alone = file.read_region::<T>(&regions[number]).unwrap();
        assert!(same(&alone, &cut(sizes, components, data, start, end)), "{what}: {start:?} to {end:?} alone");
    }
}

/// Error of opening, or of reading everything.
pub(crate) fn failure(opened: Result<VolumeFile, IoError>) -> Option<String> {
    let read = opened.and_then(|file| file.read_region_f32(&Region::whole(file.shape())));
    read.err().map(|error| error.to_string())
}
