//! [`TimeSeries`]: an index (.pvd) of files at several times.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use quick_xml::escape::escape;
use zippy::error::CallSite;
use zippy::{Error, Result, World};
use zippy_files::quoted;

use super::vti::beginning;
use crate::IoError;
use crate::head::{Head, named_path};
use crate::vti::document::Document;
use crate::vti::elements::next_element;
use crate::vti::xml::Xml;

/// Maximum bytes of elements in an index.
const MOST_BYTES: u64 = 64 << 20;

/// A file of a time series.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TimeStep {
    /// Time of the file.
    pub time: f64,
    /// Path of the file, ready to open.
    pub file: PathBuf,
}

/// Index of files at several times in ParaView's format (.pvd), which ParaView shows as an
/// animation. The files can be `.vti`, `.pvti`, `.vtp`, `.pvtp`, `.vtu` and `.pvtu`.
///
/// ```
/// use zippy::Layout;
/// use zippy_io::array::{self, TimeSeries};
///
/// let folder = std::env::temp_dir().join(format!("zippy-doc-series-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// zippy::run_with(zippy::Config::threads(2), |world| {
///     let array = world.array::<f32, 2>("heat", &Layout::new([5, 4]))?;
///     let mut series = TimeSeries::open(world, folder.join("heat.pvd"))?;
///     for step in 0..3 {
///         let file = folder.join(format!("heat_{step}.vti"));
///         array::save(world, &file, &array)?;
///         series.append(world, 0.5 * f64::from(step), &file)?;
///     }
///     Ok(())
/// })?;
/// assert_eq!(array::time_steps(folder.join("heat.pvd"))?.len(), 3);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), zippy::Error>(())
/// ```
#[derive(Debug)]
pub struct TimeSeries {
    path: PathBuf,
    /// Entries of the index by time, on rank 0; empty elsewhere.
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    time: f64,
    file: String,
    part: String,
    group: String,
}

impl TimeSeries {
    /// Opens the series at `path`, which ends with `.pvd`: an existing one, to which a restarted
    /// program appends, or a new one. Nothing is written. Collective; all ranks must see the same
    /// file system.
    ///
    /// # Errors
    /// The same on every rank: another extension; an existing file cannot be read or is no index of
    /// files.
    #[track_caller]
    pub fn open(world: &World, path: impl AsRef<Path>) -> Result<Self> {
        let _call = CallSite::enter();
        let path = path.as_ref().to_path_buf();
        let entries = || -> std::result::Result<Vec<Entry>, IoError> {
            if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("pvd")) {
                return Err(IoError::request(&path, "is not the name of a time series; it must end with .pvd"));
            }
            let is_there =
                world.rank() == 0 && path.try_exists().map_err(|error| IoError::system(&path, "open", &error))?;
            if is_there { read(&path) } else { Ok(Vec::new()) }
        };
        let entries = world.agree(&format!("TimeSeries::open({})", path.display()), entries().map_err(Error::from))?;
        Ok(Self { path, entries })
    }

    /// Removes the entries at `time` and later, for a program that restarts at that time. The files
    /// stay; the next `append` writes the index. Local.
    pub fn keep_before(&mut self, time: f64) {
        self.entries.retain(|entry| entry.time < time);
    }

    /// Appends a complete file at a time, and rewrites the index atomically. Entries are sorted by
    /// time; an entry of the same time is replaced, as needed after a restart from a checkpoint. On
    /// return the new index is on the disk. Collective.
    ///
    /// # Errors
    /// The same on every rank: a time that is not a number; a missing file, or a name that XML
    /// cannot hold; an operating system error. The existing index stays.
    #[track_caller]
    pub fn append(&mut self, world: &World, time: f64, file: impl AsRef<Path>) -> Result<()> {
        let _call = CallSite::enter();
        let file = file.as_ref();
        let what = format!("append({} at {time} to {})", file.display(), self.path.display());
        let write = || -> std::result::Result<Option<Vec<Entry>>, IoError> {
            if !time.is_finite() {
                return Err(IoError::request(&self.path, format!("cannot have a file at the time {time}")));
            }
            if world.rank() > 0 {
                return Ok(None);
            }
            let entry = Entry { time, file: relative(&self.path, file)?, part: "0".into(), group: String::new() };
            let mut entries = self.entries.clone();
            let before = entries.partition_point(|entry| entry.time < time);
            let after = entries.partition_point(|entry| entry.time <= time);
            entries.splice(before..after, [entry]);
            zippy_files::write_whole(&self.path, text(&entries).as_bytes())?;
            Ok(Some(entries))
        };
        if let Some(entries) = world.agree(&what, write().map_err(Error::from))? {
            self.entries = entries;
        }
        Ok(())
    }
}

/// Files and times of a time series (.pvd), in the order of time. Local.
///
/// # Errors
/// The file cannot be read, or is no index of files.
pub fn time_steps(path: impl AsRef<Path>) -> std::result::Result<Vec<TimeStep>, IoError> {
    let path = path.as_ref();
    let step = |entry: Entry| TimeStep { time: entry.time, file: named_path(path, &entry.file) };
    Ok(read(path)?.into_iter().map(step).collect())
}

/// File name in the index: relative to the index's directory if the file is below it.
fn relative(index: &Path, file: &Path) -> std::result::Result<String, IoError> {
    let system = |error| IoError::system(file, "find", &error);
    let path = file.canonicalize().map_err(system)?;
    let directory = match index.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => parent.canonicalize(),
        None => Path::new(".").canonicalize(),
    };
    let directory = directory.map_err(|error| IoError::system(index, "write", &error))?;
    let name = path.strip_prefix(&directory).unwrap_or(&path);
    let bad = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    let name = name.to_str().filter(|name| !name.contains(bad));
    let wrong =
        || IoError::request(file, "has a name that XML cannot hold: Unicode without control characters is needed");
    name.map(str::to_string).ok_or_else(wrong)
}

fn text(entries: &[Entry]) -> String {
    let mut out = beginning("Collection") + "  <Collection>\n";
    for Entry { time, file, part, group } in entries {
        let [file, part, group] = [file, part, group].map(|text| escape(text.as_str()));
        // Writing to memory cannot fail.
        let _ = writeln!(out, "    <DataSet timestep=\"{time}\" group=\"{group}\" part=\"{part}\" file=\"{file}\"/>");
    }
    out + "  </Collection>\n</VTKFile>\n"
}

fn read(path: &Path) -> std::result::Result<Vec<Entry>, IoError> {
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
                entries.push(Entry { time, file, part: text("part"), group: text("group") });
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
    entries.sort_by(|one: &Entry, other| one.time.total_cmp(&other.time));
    Ok(entries)
}
