//! [`SeriesEntry`]: entries of an index (.pvd) of files at several times.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use quick_xml::escape::escape;
use zippy_files::quoted;

use super::vti::document_start;
use crate::IoError;
use crate::head::{Head, named_path};
use crate::vti::document::Document;
use crate::vti::elements::next_element;
use crate::vti::xml::Xml;

/// Limit for XML elements in an index.
const MOST_BYTES: u64 = 64 << 20;

/// File of a time series.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TimeStep {
    /// Time of the file.
    pub time: f64,
    /// Path of the file, ready to open.
    pub file: PathBuf,
}

/// Entry of an index of files at several times, as written in the index.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesEntry {
    /// Time of the file.
    pub time: f64,
    /// Name of the file, relative to the directory of the index.
    pub file: String,
    /// Index of the file among those of one time.
    pub part: String,
    /// Name of a group of files; usually empty.
    pub group: String,
}

impl SeriesEntry {
    /// Reads the entries of an index, sorted by time.
    ///
    /// # Errors
    /// The file cannot be read, or is no index of files.
    pub fn read(path: &Path) -> Result<Vec<Self>, IoError> {
        let head = Head::read(path)?;
        let mut xml = Xml::bounded(&head, MOST_BYTES)?;
        let (mut open, mut entries, mut known) = (Vec::<String>::new(), Vec::new(), false);
        while let Some((element, empty)) = next_element(&mut xml, path, &mut open)? {
            let inside: Vec<&str> = open.iter().map(String::as_str).collect();
            match (&inside[..], &*element.name) {
                ([], "VTKFile") => Document::default().file(path, &element, "Collection")?,
                ([], name) => {
                    let message = format!("the element {}; a VTKFile is read", quoted(name));
                    return Err(IoError::unsupported(path, element.at, message));
                }
                (["VTKFile"], "Collection") => known = true,
                (["VTKFile", "Collection"], "DataSet") => {
                    let time = element.floats(path, "timestep", 1)?.map_or(0.0, |time| time.value[0]);
                    let text = |name| element.get(name).unwrap_or("").to_string();
                    if !time.is_finite() {
                        return Err(IoError::malformed(
                            path,
                            element.at,
                            format!("a timestep of {time}; it must be finite"),
                        ));
                    }
                    let file = element.need(path, "file")?.to_string();
                    entries.push(Self { time, file, part: text("part"), group: text("group") });
                }
                _ => {}
            }
            if !empty {
                open.push(element.name);
            }
        }
        xml.all_closed(&open)?;
        if !known {
            return Err(IoError::malformed(path, xml.at(), "the document has no VTKFile with a Collection"));
        }
        entries.sort_by(|one: &Self, other| one.time.total_cmp(&other.time));
        Ok(entries)
    }

    /// Text of an index with these entries.
    pub fn text(entries: &[Self]) -> String {
        let mut out = document_start("Collection") + "  <Collection>\n";
        for Self { time, file, part, group } in entries {
            let [file, part, group] = [file, part, group].map(|text| escape(text.as_str()));
            let _ =
                writeln!(out, "    <DataSet timestep=\"{time}\" group=\"{group}\" part=\"{part}\" file=\"{file}\"/>");
        }
        out + "  </Collection>\n</VTKFile>\n"
    }
}

/// Files and times of a time series (.pvd), sorted by time. Local.
///
/// # Errors
/// The file cannot be read, or is no index of files.
pub fn time_steps(path: impl AsRef<Path>) -> Result<Vec<TimeStep>, IoError> {
    let path = path.as_ref();
    let step = |entry: SeriesEntry| TimeStep { time: entry.time, file: named_path(path, &entry.file) };
    Ok(SeriesEntry::read(path)?.into_iter().map(step).collect())
}
