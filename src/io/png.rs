//! PNG pictures, 8 bits for each of red, green and blue.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::error::IoError;

/// The pixels of an 8-bit picture, row 0 at the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rgb8 {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Red, green and blue of each pixel, row by row.
    pub bytes: Vec<u8>,
}

/// Writes a picture, whole under a temporary name first, then renamed. Local to the calling rank.
///
/// # Errors
/// The number of bytes does not fit the size; the file cannot be written.
pub fn write(path: impl AsRef<Path>, picture: &Rgb8) -> Result<(), IoError> {
    let path = path.as_ref();
    let wanted = u64::from(picture.width) * u64::from(picture.height) * 3;
    if picture.bytes.len() as u64 != wanted || wanted == 0 {
        let (width, height, given) = (picture.width, picture.height, picture.bytes.len());
        let message = format!("a picture of {width} x {height} pixels needs {wanted} bytes (not none), not {given}");
        return Err(IoError::request(path, message));
    }
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, picture.width, picture.height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let written = encoder.write_header().and_then(|mut writer| {
        writer.write_image_data(&picture.bytes)?;
        writer.finish()
    });
    written.map_err(|error| IoError::request(path, format!("cannot encode the picture: {error}")))?;
    super::write_whole(path, &out)
}

/// Reads an 8-bit RGB or RGBA picture; alpha is dropped. Local to the calling rank.
///
/// # Errors
/// The file cannot be read or is no PNG of 8 bits RGB or RGBA of at most 16384 pixels a side.
pub fn read(path: impl AsRef<Path>) -> Result<Rgb8, IoError> {
    let path = path.as_ref();
    let file = File::open(path).map_err(|error| IoError::system(path, "open", &error))?;
    let broken = |error: png::DecodingError| IoError::malformed(path, 0, format!("cannot decode the PNG: {error}"));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().map_err(broken)?;
    let info = reader.info();
    let (width, height, depth, colour) = (info.width, info.height, info.bit_depth, info.color_type);
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
    fn pictures_come_back() {
        let path = std::env::temp_dir().join(format!("zippy-png-{}.png", std::process::id()));
        let bytes = (0..7 * 3 * 3).map(|i| (i * 37 % 256) as u8).collect();
        let picture = Rgb8 { width: 7, height: 3, bytes };
        write(&path, &picture).unwrap();
        assert_eq!(read(&path).unwrap(), picture);
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 4, 20, 40, whole.len() - 13] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains("cannot decode"), "cut at {cut}: {error}");
        }
        std::fs::remove_file(&path).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("cannot open"));
        assert!(write(&path, &Rgb8 { height: 4, ..picture }).is_err());
    }
}
