//! Movies as animated PNG: lossless, and supported by browsers.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use zippy_files::PendingFile;

use super::picture::{Style, encoder_error, size};
use crate::IoError;
use crate::image::Image;

/// Offset of the type of the `acTL` chunk: after the signature, the header and the chunk's length.
const FRAME_COUNT_OFFSET: u64 = 8 + 25 + 4;

type Size = (u32, u32);

/// Writer of an endless movie, frame by frame; it keeps no frames in memory. The file gets its name
/// after all frames ([`Self::finish`]), or earlier with fewer frames ([`Self::stop`]); a movie
/// dropped before is removed. Local.
///
/// ```
/// use zippy_io::image::Image;
/// use zippy_io::{apng, png::Style};
///
/// let path = std::env::temp_dir().join(format!("zippy-doc-{}.apng", std::process::id()));
/// let mut movie = apng::Movie::create(&path, 2, 25.0, Style::default())?;
/// movie.write(&Image::new(4, 3))?;
/// movie.write(&Image { width: 4, height: 3, pixels: vec![[1.0; 4]; 12] })?;
/// movie.finish()?;
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), zippy_io::IoError>(())
/// ```
pub struct Movie {
    path: PathBuf,
    style: Style,
    /// Seconds per frame: numerator and denominator.
    delay: (u16, u16),
    frames: u32,
    written: u32,
    file: PendingFile,
    /// Created with the first frame, which defines the size.
    writer: Option<(Size, png::Writer<BufWriter<File>>)>,
}

impl Movie {
    /// Starts a movie of `frames` frames at `per_second` frames per second.
    ///
    /// # Errors
    /// No frames; a rate outside 0.1 to 1000 per second; the file cannot be created.
    pub fn create(path: impl AsRef<Path>, frames: u32, per_second: f64, style: Style) -> Result<Self, IoError> {
        let path = path.as_ref();
        if frames == 0 || frames > i32::MAX as u32 {
            return Err(IoError::request(path, format!("a movie of {frames} frames; it needs 1 to {}", i32::MAX)));
        }
        let delay = delay(per_second).ok_or_else(|| {
            IoError::request(path, format!("{per_second} frames per second; 0.1 to 1000 can be stored"))
        })?;
        let file = PendingFile::create(path)?;
        Ok(Self { path: path.to_path_buf(), style, delay, frames, written: 0, file, writer: None })
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// More frames than announced, a frame of another size than the first, or a write error.
    pub fn write(&mut self, image: &Image) -> Result<(), IoError> {
        if self.written == self.frames {
            let message = format!("frame {} of a movie of {} frames", self.written + 1, self.frames);
            return Err(IoError::request(&self.path, message));
        }
        let found = size(&self.path, image)?;
        if self.writer.is_none() {
            self.writer = Some((found, self.begin(image)?));
        }
        if let Some((wanted, writer)) = &mut self.writer {
            if *wanted != found {
                let message = format!("frame {} has {found:?} pixels, the first has {wanted:?}", self.written + 1);
                return Err(IoError::request(&self.path, message));
            }
            let written = writer.write_image_data(&self.style.bytes(image));
            written.map_err(|error| encoder_error(&self.path, error))?;
        }
        self.written += 1;
        Ok(())
    }

    fn begin(&self, image: &Image) -> Result<png::Writer<BufWriter<File>>, IoError> {
        let mut encoder = self.style.encoder(&self.path, self.file.writer()?, image)?;
        let (numerator, denominator) = self.delay;
        encoder
            .set_animated(self.frames, 0)
            .and_then(|()| encoder.set_frame_delay(numerator, denominator))
            .and_then(|()| encoder.write_header())
            .map_err(|error| encoder_error(&self.path, error))
    }

    /// Completes the file and syncs it to the disk.
    ///
    /// # Errors
    /// Fewer frames than announced, or a write error; no file is left then.
    pub fn finish(self) -> Result<(), IoError> {
        if self.written < self.frames {
            let message = format!("the movie ends after {} of {} frames", self.written, self.frames);
            return Err(IoError::request(&self.path, message));
        }
        Ok(self.end()?.commit()?)
    }

    /// Completes the file with the frames written so far, without waiting for the disk.
    ///
    /// # Errors
    /// No frames, or a write error; no file is left then.
    pub fn stop(self) -> Result<(), IoError> {
        Ok(self.end()?.put()?)
    }

    fn end(self) -> Result<PendingFile, IoError> {
        let Some((_, writer)) = self.writer else {
            return Err(IoError::request(&self.path, "the movie ends before its first frame"));
        };
        writer.finish().map_err(|error| encoder_error(&self.path, error))?;
        if self.written < self.frames {
            let count = [*b"acTL", self.written.to_be_bytes(), 0_u32.to_be_bytes()].concat();
            let mut check = flate2::Crc::new();
            check.update(&count);
            self.file.rewrite(FRAME_COUNT_OFFSET, &[&count[..], &check.sum().to_be_bytes()].concat())?;
        }
        Ok(self.file)
    }
}

/// Duration of a frame in seconds: exact for whole rates, else rounded to 1/6000 s, or to 1/60,000
/// s above 60 frames per second.
fn delay(per_second: f64) -> Option<(u16, u16)> {
    if !(0.1..=1000.0).contains(&per_second) {
        None
    } else if per_second.fract() == 0.0 {
        Some((1, per_second as u16))
    } else if per_second > 60.0 {
        Some(((60_000.0 / per_second).round() as u16, 60_000))
    } else {
        Some(((6000.0 / per_second).round() as u16, 6000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::png::{Behind, Depth};

    fn frame(number: usize) -> Image {
        let pixel = |i: usize| [number as f32 / 10.0, i as f32 / 20.0, 0.0, 1.0];
        Image { width: 5, height: 3, pixels: (0..15).map(pixel).collect() }
    }

    #[test]
    fn frames_come_back_with_their_delay() {
        let path = std::env::temp_dir().join(format!("zippy-apng-{}.apng", std::process::id()));
        let styles = [
            Style::default(),
            Style { depth: Depth::Sixteen, behind: Behind::Nothing },
            Style { depth: Depth::Eight, behind: Behind::Nothing },
        ];
        for style in styles {
            let mut movie = Movie::create(&path, 3, 12.5, style).unwrap();
            for number in 0..3 {
                movie.write(&frame(number)).unwrap();
                assert!(!path.exists());
            }
            assert!(movie.write(&frame(3)).unwrap_err().to_string().contains("frame 4 of a movie of 3"));
            movie.finish().unwrap();
            let file = std::io::BufReader::new(File::open(&path).unwrap());
            let mut reader = png::Decoder::new(file).read_info().unwrap();
            let control = reader.info().animation_control.unwrap();
            assert_eq!((control.num_frames, control.num_plays), (3, 0));
            for number in 0..3 {
                let expected = style.bytes(&frame(number));
                let mut bytes = vec![0; expected.len()];
                reader.next_frame(&mut bytes).unwrap();
                assert_eq!(bytes, expected, "frame {number}");
                let control = reader.info().frame_control.unwrap();
                assert_eq!((control.delay_num, control.delay_den), (480, 6000));
            }
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn movie_dropped_before_its_end_leaves_no_file() {
        let directory = std::env::temp_dir().join(format!("zippy-apng-half-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let path = directory.join("a.apng");
        let create = |frames| Movie::create(&path, frames, 10.0, Style::default());
        assert!(create(2).unwrap().finish().unwrap_err().to_string().contains("after 0 of 2 frames"));
        let mut movie = create(2).unwrap();
        movie.write(&frame(0)).unwrap();
        let error = movie.write(&Image::new(3, 5)).unwrap_err();
        assert!(error.to_string().contains("frame 2 has (3, 5) pixels"), "{error}");
        assert!(movie.finish().unwrap_err().to_string().contains("after 1 of 2 frames"));
        let mut dropped = create(2).unwrap();
        dropped.write(&frame(0)).unwrap();
        drop(dropped);
        assert!(create(0).is_err());
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn stopped_movie_has_the_frames_written_so_far() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.apng");
        for count in [0, 1, 3, 4] {
            let mut movie = Movie::create(&path, 4, 10.0, Style::default()).unwrap();
            (0..count).for_each(|number| movie.write(&frame(number)).unwrap());
            if count == 0 {
                assert!(movie.stop().unwrap_err().to_string().contains("before its first frame"));
                continue;
            }
            movie.stop().unwrap();
            let mut reader =
                png::Decoder::new(std::io::BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
            let control = reader.info().animation_control.unwrap();
            assert_eq!((control.num_frames, control.num_plays), (count as u32, 0));
            for number in 0..count {
                let expected = Style::default().bytes(&frame(number));
                let mut bytes = vec![0; expected.len()];
                reader.next_frame(&mut bytes).unwrap();
                assert_eq!(bytes, expected, "frame {number} of {count}");
            }
            assert!(reader.finish().is_ok());
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn rates_become_fractions() {
        assert_eq!([1.0, 25.0, 1000.0].map(delay), [Some((1, 1)), Some((1, 25)), Some((1, 1000))]);
        // 30000 / 1001 frames per second: 1001 / 30000 s is 200.2 six thousandths.
        assert_eq!([0.1, 29.97].map(delay), [Some((60_000, 6000)), Some((200, 6000))]);
        assert_eq!(delay(119.5), Some((502, 60_000)));
        assert_eq!([0.0, -1.0, f64::NAN, 1000.5].map(delay), [None; 4]);
    }
}
