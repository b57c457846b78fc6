//! NRRD files created by tests, and their expected content.

use std::io::Write;
use std::path::PathBuf;

use zippy::extents::Index;
use zippy::region::Region;
use zippy_io::volume::FileScalar;

/// Temporary file, removed when dropped.
pub(crate) struct Temporary(pub PathBuf);

impl Temporary {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        use std::sync::atomic::{AtomicU64, Ordering};
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("zippy-nrrd-{}-{number}.nrrd", std::process::id()));
        std::fs::write(&path, bytes).unwrap();
        Self(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Values that encode their position and use all bytes of the type.
pub(crate) fn values<T>(count: usize, make: impl Fn(u64) -> T) -> Vec<T> {
    (0..count as u64).map(|i| make(i.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) ^ i)).collect()
}

/// A file with every kind of header line.
pub(crate) fn file<T: FileScalar>(
    name: &str,
    sizes: &[usize],
    data: &[T],
    big: bool,
    gz: bool,
    ending: &str,
) -> Vec<u8> {
    let mut bytes: Vec<u8> = bytemuck::cast_slice(data).to_vec();
    if big {
        bytes.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    let sizes_text = sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(" ");
    let lines = [
        "NRRD0004".to_string(),
        "# a comment: with a colon".to_string(),
        format!("type: {name}"),
        format!("dimension: {}", sizes.len()),
        "key:=value".to_string(),
        format!("sizes:  {sizes_text} "),
        format!("endian: {}", if big { "big" } else { "little" }),
        format!("Encoding: {}", if gz { "gzip" } else { "raw" }),
        format!("spacings: {}", ["0.5", "2", "nan"][..sizes.len()].join(" ")),
        String::new(),
        String::new(),
    ];
    let mut out = lines.join(ending).into_bytes();
    out.extend(if gz { gzip(&bytes) } else { bytes });
    out
}

pub(crate) fn expected<T: Copy>(sizes: &[usize], data: &[T], start: &[usize], end: &[usize]) -> Vec<T> {
    let at = |values: &[usize], axis: usize, other: usize| values.get(axis).copied().unwrap_or(other);
    let mut out = Vec::new();
    for z in at(start, 2, 0)..at(end, 2, 1) {
        for y in at(start, 1, 0)..at(end, 1, 1) {
            for x in at(start, 0, 0)..at(end, 0, 1) {
                out.push(data[x + at(sizes, 0, 1) * (y + at(sizes, 1, 1) * z)]);
            }
        }
    }
    out
}

pub(crate) fn region(start: &[usize], end: &[usize]) -> Region {
    Region::between(index(start), index(end))
}

pub(crate) fn index(values: &[usize]) -> Index {
    Index::from_fn(values.len(), |axis| values[axis] as i64)
}
