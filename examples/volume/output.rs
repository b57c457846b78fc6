//! Where pictures go: the kind of file is told by its name.

use std::path::{Path, PathBuf};

use zippy::error::IoError;

/// A file or numbered files.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// One picture.
    Still(Kind, PathBuf),
    /// Every frame in a file of its own; the name has a `%d` or `%04d` for its number.
    Numbered(Kind, Pattern),
    /// All frames in one file.
    Animated(PathBuf),
}

/// What is in a picture's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers for people.
    Png,
    /// The floats of the picture, premultiplied.
    Npy,
}

/// A path with a place for a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// As it was given.
    text: String,
    before: String,
    digits: usize,
    after: String,
}

/// Reads a file name: `a.png`, `a.npy`, `a.apng`, `a/frame_%04d.png`.
///
/// # Errors
/// What is wrong, for the command line.
pub fn output(text: &str) -> Result<Output, String> {
    let path = Path::new(text);
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("").to_ascii_lowercase();
    let kind = match extension.as_str() {
        "png" => Kind::Png,
        "npy" => Kind::Npy,
        "apng" => return Ok(Output::Animated(path.into())),
        _ => return Err("pictures are .png or .npy files, movies .apng or numbered frames as in frame_%04d.png".into()),
    };
    Ok(match Pattern::read(text)? {
        Some(pattern) => Output::Numbered(kind, pattern),
        None => Output::Still(kind, path.into()),
    })
}

impl Pattern {
    fn read(text: &str) -> Result<Option<Self>, String> {
        let Some((before, rest)) = text.split_once('%') else { return Ok(None) };
        let form = "after % comes d, or the number of digits and d, as in frame_%04d.png";
        let (digits, after) = rest.split_once('d').ok_or(form)?;
        let digits = if digits.is_empty() { 1 } else { digits.parse().map_err(|_| form)? };
        if digits > 20 || after.contains('%') {
            return Err(form.into());
        }
        Ok(Some(Self { text: text.into(), before: before.into(), digits, after: after.into() }))
    }

    /// The name of a frame.
    pub fn path(&self, number: u32) -> PathBuf {
        let Self { before, digits, after, .. } = self;
        format!("{before}{number:0digits$}{after}").into()
    }
}

impl Output {
    /// For people and for the report.
    pub fn name(&self) -> String {
        let path = match self {
            Self::Still(_, path) | Self::Animated(path) => path.clone(),
            Self::Numbered(_, pattern) => (&pattern.text).into(),
        };
        std::path::absolute(&path).unwrap_or(path).display().to_string()
    }

    /// Finds a mistake in the name before the work is done.
    ///
    /// # Errors
    /// It names a directory or another thing that is no file, or lies in no directory.
    pub fn check(&self) -> Result<(), IoError> {
        let path = match self {
            Self::Still(_, path) | Self::Animated(path) => path.clone(),
            Self::Numbered(_, pattern) => pattern.path(0),
        };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if path.is_dir() {
            return Err(IoError::request(&path, "is a directory, not a picture"));
        }
        if path.exists() && !path.is_file() {
            return Err(IoError::request(&path, "is no regular file, as a picture has to be"));
        }
        if directory.is_dir() {
            Ok(())
        } else {
            Err(IoError::request(&path, "its directory does not exist; make it first"))
        }
    }
}
