//! Output files of pictures. The extension of the name sets the format.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use zippy_files::{check_output, shown};
use zippy_io::IoError;

/// Output of one picture or of a movie.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// One picture.
    Still(Format, PathBuf),
    /// One file for each frame. The name has `%d` or `%04d` for the frame number.
    Numbered(Format, Pattern),
    /// An animated PNG file.
    Animated(PathBuf),
}

/// File format of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PNG with integer components.
    Png,
    /// NumPy array of floats, premultiplied by alpha.
    Npy,
}

/// Path with a placeholder for the frame number in the file name.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// Path with the placeholder.
    path: PathBuf,
    before: OsString,
    digits: usize,
    after: OsString,
}

/// Parses a file name: `a.png`, `a.npy`, `a.apng`, `a/frame_%04d.png`.
///
/// # Errors
/// A message for the command line.
pub fn parse_output(name: impl AsRef<Path>) -> Result<Output, String> {
    let path = name.as_ref();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
    let kind = match extension.as_str() {
        "png" => Format::Png,
        "npy" => Format::Npy,
        "apng" => return Ok(Output::Animated(path.into())),
        _ => return Err("pictures are .png or .npy files, movies .apng or numbered frames as in frame_%04d.png".into()),
    };
    Ok(match Pattern::parse(path)? {
        Some(pattern) => Output::Numbered(kind, pattern),
        None => Output::Still(kind, path.into()),
    })
}

impl Pattern {
    fn parse(path: &Path) -> Result<Option<Self>, String> {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let Some((before, rest)) = split_at_byte(name, b'%') else { return Ok(None) };
        let form = "after % write d, or the number of digits and d, as in frame_%04d.png";
        let (digits, after) = split_at_byte(rest, b'd').ok_or(form)?;
        let digits = match std::str::from_utf8(digits).map_err(|_| form)? {
            "" => 1,
            digits => digits.parse().map_err(|_| form)?,
        };
        if digits > 20 || after.contains(&b'%') {
            return Err(form.into());
        }
        Ok(Some(Self { path: path.into(), before: to_os_string(before)?, digits, after: to_os_string(after)? }))
    }

    /// Path of a frame.
    pub fn path(&self, frame: u32) -> PathBuf {
        let Self { path, before, digits, after } = self;
        let mut name = before.clone();
        name.push(format!("{frame:0digits$}"));
        name.push(after);
        path.with_file_name(name)
    }
}

/// Splits a name at the first `separator`.
fn split_at_byte(name: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let index = name.iter().position(|&byte| byte == separator)?;
    Some((&name[..index], &name[index + 1..]))
}

#[cfg(unix)]
fn to_os_string(bytes: &[u8]) -> Result<OsString, String> {
    Ok(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()))
}

#[cfg(not(unix))]
fn to_os_string(bytes: &[u8]) -> Result<OsString, String> {
    let text = String::from_utf8(bytes.to_vec()).map_err(|_| "the name of numbered frames must be UTF-8")?;
    Ok(text.into())
}

impl Output {
    /// Absolute path as text, unescaped.
    pub fn name(&self) -> String {
        self.path().display().to_string()
    }

    /// Absolute path, escaped for a terminal.
    pub fn display_name(&self) -> String {
        shown(&self.path())
    }

    fn path(&self) -> PathBuf {
        let path = match self {
            Self::Still(_, path) | Self::Animated(path) => path,
            Self::Numbered(_, pattern) => &pattern.path,
        };
        std::path::absolute(path).unwrap_or_else(|_| path.clone())
    }

    /// Checks before the rendering that the file can be written.
    ///
    /// # Errors
    /// The path names a directory or another object that is not a file, its directory does not
    /// exist, or the directory is not writable.
    pub fn check(&self) -> Result<(), IoError> {
        match self {
            Self::Still(_, path) | Self::Animated(path) => check_output(path)?,
            Self::Numbered(_, pattern) => check_output(&pattern.path(0))?,
        }
        Ok(())
    }
}
