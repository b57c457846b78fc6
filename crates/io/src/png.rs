//! PNG pictures with 8 or 16 bits per component, with or without alpha.

use std::io::BufReader;
use std::path::Path;

use zippy_files::open_regular;

use super::picture::encoder_error;
pub use super::picture::{Behind, Depth, Style};
use crate::IoError;
use crate::image::Image;

/// 8-bit picture, row 0 at the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rgb8 {
    /// Pixels per row.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// Red, green and blue of each pixel, row by row.
    pub bytes: Vec<u8>,
}

/// Writes a picture atomically ([`write_whole`](zippy_files::write_whole)). Local.
///
/// ```
/// use zippy_io::image::Image;
/// use zippy_io::png::{self, Behind, Depth, Style};
///
/// let path = std::env::temp_dir().join(format!("zippy-doc-{}.png", std::process::id()));
/// let picture = Image { width: 2, height: 1, pixels: vec![[0.25, 0.0, 0.5, 0.5], [0.0; 4]] };
/// png::write(&path, &picture, Style { depth: Depth::Sixteen, behind: Behind::Nothing })?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), zippy_io::IoError>(())
/// ```
///
/// # Errors
/// The picture is empty or its number of pixels does not fit its size; the file cannot be written.
pub fn write(path: impl AsRef<Path>, image: &Image, style: Style) -> Result<(), IoError> {
    let path = path.as_ref();
    let mut out = Vec::new();
    let encoder = style.encoder(path, &mut out, image)?;
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&style.bytes(image))?;
        writer.finish()
    });
    written.map_err(|error| encoder_error(path, error))?;
    Ok(zippy_files::write_whole(path, &out)?)
}

/// Reads an 8-bit RGB or RGBA picture and drops alpha. `size` is the required width and height, if
/// any. Local.
///
/// # Errors
/// The file cannot be read, or is no 8-bit RGB or RGBA PNG of at most 16384 pixels per side; the
/// picture has another size, which is checked before decoding.
pub fn read(path: impl AsRef<Path>, size: Option<(usize, usize)>) -> Result<Rgb8, IoError> {
    let path = path.as_ref();
    let (file, _) = open_regular(path)?;
    let broken = |error: png::DecodingError| IoError::malformed(path, 0, format!("cannot decode the PNG: {error}"));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().map_err(broken)?;
    let info = reader.info();
    let (width, height, depth, colour) = (info.width, info.height, info.bit_depth, info.color_type);
    if let Some((columns, rows)) = size
        && (width as usize, height as usize) != (columns, rows)
    {
        return Err(IoError::request(path, format!("has {width} x {height} pixels; {columns} x {rows} are needed")));
    }
    let channels = match (depth, colour) {
        (png::BitDepth::Eight, png::ColorType::Rgb) => 3,
        (png::BitDepth::Eight, png::ColorType::Rgba) => 4,
        _ => {
            return Err(IoError::unsupported(
                path,
                0,
                format!("{colour:?} of {depth:?} bits; 8-bit RGB or RGBA is read"),
            ));
        }
    };
    if width > 16384 || height > 16384 {
        return Err(IoError::unsupported(path, 0, format!("{width} x {height} pixels; at most 16384 a side are read")));
    }
    let mut bytes = vec![0; width as usize * height as usize * channels];
    reader.next_frame(&mut bytes).map_err(broken)?;
    if channels == 4 {
        bytes = bytes.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    }
    Ok(Rgb8 { width, height, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_pictures_are_read_back() {
        let path = std::env::temp_dir().join(format!("zippy-png-{}.png", std::process::id()));
        let level = |i: usize| (i * 37 % 256) as u8;
        let pixel = |i: usize| [0, 1, 2].map(|c| f32::from(level(3 * i + c)) / 255.0);
        let pixels = (0..21).map(|i| [pixel(i)[0], pixel(i)[1], pixel(i)[2], 1.0]).collect();
        let image = Image { width: 7, height: 3, pixels };
        write(&path, &image, Style::default()).unwrap();
        let expected = Rgb8 { width: 7, height: 3, bytes: (0..63).map(level).collect() };
        assert_eq!(read(&path, None).unwrap(), expected);
        write(&path, &image, Style { behind: Behind::Nothing, ..Style::default() }).unwrap();
        assert_eq!(read(&path, None).unwrap(), expected);
        assert_eq!(read(&path, Some((7, 3))).unwrap(), expected);
        let whole = std::fs::read(&path).unwrap();
        // The truncated file still has the header.
        std::fs::write(&path, &whole[..45]).unwrap();
        let other = read(&path, Some((3, 7))).unwrap_err().to_string();
        assert!(other.contains("has 7 x 3 pixels; 3 x 7 are needed"), "{other}");
        for cut in [0, 4, 20, 40, whole.len() - 13] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let error = read(&path, None).unwrap_err().to_string();
            assert!(error.contains("cannot decode"), "cut at {cut}: {error}");
        }
        write(&path, &image, Style { depth: Depth::Sixteen, ..Style::default() }).unwrap();
        assert!(read(&path, None).unwrap_err().to_string().contains("8-bit RGB or RGBA is read"));
        std::fs::remove_file(&path).unwrap();
        assert!(read(&path, None).unwrap_err().to_string().contains("cannot open"));
        let wrong = write(&path, &Image { height: 4, ..image }, Style::default()).unwrap_err();
        assert!(wrong.to_string().contains("7 x 4 pixels"), "{wrong}");
        assert!(write(&path, &Image::new(0, 0), Style::default()).is_err() && !path.exists());
    }
}
