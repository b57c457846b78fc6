//! Where pictures go: the kind of file is told by its name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use zippy_io::{IoError, check_output, shown};

/// A file or numbered files.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// One picture.
    Still(Format, PathBuf),
    /// Every frame in a file of its own; the name has a `%d` or `%04d` for its number.
    Numbered(Format, Pattern),
    /// All frames in one file.
    Animated(PathBuf),
}

/// What is in a picture's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Whole numbers for people.
    Png,
    /// The floats of the picture, premultiplied.
    Npy,
}

/// A path with a place for a number in the name of the file.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// As it was given.
    given: PathBuf,
    before: OsString,
    digits: usize,
    after: OsString,
}

/// Reads a file name: `a.png`, `a.npy`, `a.apng`, `a/frame_%04d.png`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn output(name: impl AsRef<Path>) -> Result<Output, String> {
    let path = name.as_ref();
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
    let kind = match extension.as_str() {
        "png" => Format::Png,
        "npy" => Format::Npy,
        "apng" => return Ok(Output::Animated(path.into())),
        _ => return Err("pictures are .png or .npy files, movies .apng or numbered frames as in frame_%04d.png".into()),
    };
    Ok(match Pattern::read(path)? {
        Some(pattern) => Output::Numbered(kind, pattern),
        None => Output::Still(kind, path.into()),
    })
}

impl Pattern {
    fn read(path: &Path) -> Result<Option<Self>, String> {
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let Some((before, rest)) = split(name, b'%') else { return Ok(None) };
        let form = "after % comes d, or the number of digits and d, as in frame_%04d.png";
        let (digits, after) = split(rest, b'd').ok_or(form)?;
        let digits = match std::str::from_utf8(digits).map_err(|_| form)? {
            "" => 1,
            digits => digits.parse().map_err(|_| form)?,
        };
        if digits > 20 || after.contains(&b'%') {
            return Err(form.into());
        }
        Ok(Some(Self { given: path.into(), before: part(before)?, digits, after: part(after)? }))
    }

    /// The name of a frame.
    pub fn path(&self, number: u32) -> PathBuf {
        let Self { given, before, digits, after } = self;
        let mut name = before.clone();
        name.push(format!("{number:0digits$}"));
        name.push(after);
        given.with_file_name(name)
    }
}

/// What is before the first `at`, and after it.
fn split(name: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = name.iter().position(|&byte| byte == at)?;
    Some((&name[..place], &name[place + 1..]))
}

/// A part of a name.
#[cfg(unix)]
fn part(bytes: &[u8]) -> Result<OsString, String> {
    Ok(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()))
}

/// A part of a name.
#[cfg(not(unix))]
fn part(bytes: &[u8]) -> Result<OsString, String> {
    let text = String::from_utf8(bytes.to_vec()).map_err(|_| "the name of numbered frames must be UTF-8")?;
    Ok(text.into())
}

impl Output {
    /// For other programs, as it is.
    pub fn name(&self) -> String {
        self.path().display().to_string()
    }

    /// For a terminal.
    pub fn shown(&self) -> String {
        shown(&self.path())
    }

    fn path(&self) -> PathBuf {
        let path = match self {
            Self::Still(_, path) | Self::Animated(path) => path,
            Self::Numbered(_, pattern) => &pattern.given,
        };
        std::path::absolute(path).unwrap_or_else(|_| path.clone())
    }

    /// Checks before the work that the file can be written.
    ///
    /// # Errors
    /// It names a directory or another thing that is no file, lies in no directory, or nothing can
    /// be written there.
    pub fn check(&self) -> Result<(), IoError> {
        match self {
            Self::Still(_, path) | Self::Animated(path) => check_output(path),
            Self::Numbered(_, pattern) => check_output(&pattern.path(0)),
        }
    }
}
