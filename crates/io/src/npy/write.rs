//! Pictures as NumPy arrays.

use std::path::Path;

use crate::IoError;
use crate::image::Image;
use crate::picture::size;

/// Writes the numbers of a picture without conversion: an f32 array of shape (height, width, 4),
/// premultiplied red, green, blue and alpha, row 0 at the top, last axis fastest. `numpy.load`
/// reads the file, which is written atomically ([`write_whole`](zippy_files::write_whole)). Local.
///
/// # Errors
/// The picture is empty or its number of pixels does not fit its size; the file cannot be written.
pub fn write_image(path: impl AsRef<Path>, image: &Image) -> Result<(), IoError> {
    let path = path.as_ref();
    let (width, height) = size(path, image)?;
    let mut out = header("'<f4'", &[height.into(), width.into(), 4]);
    out.reserve(image.pixels.len() * 16);
    out.extend(image.pixels.as_flattened().iter().flat_map(|component| component.to_le_bytes()));
    Ok(zippy_files::write_whole(path, &out)?)
}

/// Header of an array in C order: magic, version, length, and a Python dictionary. The data begin
/// at a multiple of 64. The version is 1, but 2 if the length needs more than 16 bits, and 3 for
/// non-ASCII text.
///
/// `kind` is a type in Python notation, such as `'<f4'` with its quotes; the last axis of `shape`
/// is the fastest.
pub fn header(kind: &str, shape: &[u64]) -> Vec<u8> {
    let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
    let mut text = format!("{{'descr': {kind}, 'fortran_order': False, 'shape': ({},), }}", shape.join(", "));
    let version = if !text.is_ascii() { 3 } else { 1 + u8::from(text.len() > usize::from(u16::MAX) - 128) };
    let dictionary_start = if version == 1 { 10 } else { 12 };
    let length = (dictionary_start + text.len() + 1).next_multiple_of(64) - dictionary_start;
    text.extend(std::iter::repeat_n(' ', length - text.len() - 1));
    text.push('\n');
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    out.extend(&(length as u32).to_le_bytes()[..dictionary_start - 8]);
    out.extend(text.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_equals_the_header_of_numpy() {
        let path = std::env::temp_dir().join(format!("zippy-npy-{}.npy", std::process::id()));
        let pixels: Vec<[f32; 4]> = (0..6).map(|i| [i as f32, 0.1 * i as f32, -0.0, f32::MIN_POSITIVE / 2.0]).collect();
        write_image(&path, &Image { width: 3, height: 2, pixels: pixels.clone() }).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        // Header of numpy.save for this shape, except for a comma and the number of blanks.
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 4,), }";
        assert_eq!(&bytes[..10], b"\x93NUMPY\x01\x00\x76\x00");
        let head = std::str::from_utf8(&bytes[10..128]).unwrap();
        assert_eq!(head, format!("{text:<117}\n"));
        let read: Vec<f32> = bytes[128..].chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        assert!(read.iter().zip(pixels.as_flattened()).all(|(a, b)| a.to_bits() == b.to_bits()));
        assert_eq!(read.len(), 24);
        assert!(write_image(&path, &Image::new(0, 2)).is_err() && !path.exists());
    }
}
