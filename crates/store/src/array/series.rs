//! [`TimeSeries`]: an index (.pvd) of files at several times.

use std::path::{Path, PathBuf};

use zippy::error::CallSite;
use zippy::{Error, Result, World};
use zippy_io::IoError;
use zippy_io::array::SeriesEntry;

/// Index of files at several times in ParaView's format (.pvd), which ParaView shows as an
/// animation. The files can be `.vti`, `.pvti`, `.vtp`, `.pvtp`, `.vtu` and `.pvtu`.
///
/// ```
/// use zippy::Layout;
/// use zippy_store::array::{self, TimeSeries};
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
/// assert_eq!(zippy_io::array::time_steps(folder.join("heat.pvd"))?.len(), 3);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), zippy::Error>(())
/// ```
#[derive(Debug)]
pub struct TimeSeries {
    path: PathBuf,
    /// Entries by time, on rank 0; empty elsewhere.
    entries: Vec<SeriesEntry>,
}

impl TimeSeries {
    /// Opens the series at `path` (extension `.pvd`): an existing one, for a restarted program, or
    /// a new one. Nothing is written. Collective; all ranks must see the same file system.
    ///
    /// # Errors
    /// The same on every rank: another extension; an existing file cannot be read or is no index of
    /// files.
    #[track_caller]
    pub fn open(world: &World, path: impl AsRef<Path>) -> Result<Self> {
        let _call = CallSite::enter();
        let path = path.as_ref().to_path_buf();
        let entries = || -> std::result::Result<Vec<SeriesEntry>, IoError> {
            if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("pvd")) {
                return Err(IoError::request(&path, "is not the name of a time series; it must end with .pvd"));
            }
            let is_there =
                world.rank() == 0 && path.try_exists().map_err(|error| IoError::system(&path, "open", &error))?;
            if is_there { SeriesEntry::read(&path) } else { Ok(Vec::new()) }
        };
        let entries = world.agree(&format!("TimeSeries::open({})", path.display()), entries().map_err(Error::from))?;
        Ok(Self { path, entries })
    }

    /// Removes the entries at `time` and later, for a restart at that time. The files stay; the
    /// next `append` writes the index. Local.
    pub fn keep_before(&mut self, time: f64) {
        self.entries.retain(|entry| entry.time < time);
    }

    /// Adds a complete file to the index at `time`, or replaces the entry of the same time; on
    /// return the index is on the disk, replaced atomically. Collective.
    ///
    /// # Errors
    /// The same on every rank: a time that is not a number; a missing file, or a name that XML
    /// cannot hold; an operating system error. The existing index stays.
    #[track_caller]
    pub fn append(&mut self, world: &World, time: f64, file: impl AsRef<Path>) -> Result<()> {
        let _call = CallSite::enter();
        let file = file.as_ref();
        let call = format!("append({} at {time} to {})", file.display(), self.path.display());
        let write = || -> std::result::Result<Option<Vec<SeriesEntry>>, IoError> {
            if !time.is_finite() {
                return Err(IoError::request(&self.path, format!("cannot have a file at the time {time}")));
            }
            if world.rank() > 0 {
                return Ok(None);
            }
            let entry = SeriesEntry { time, file: relative(&self.path, file)?, part: "0".into(), group: String::new() };
            let mut entries = self.entries.clone();
            let before = entries.partition_point(|entry| entry.time < time);
            let after = entries.partition_point(|entry| entry.time <= time);
            entries.splice(before..after, [entry]);
            zippy_files::write_whole(&self.path, SeriesEntry::text(&entries).as_bytes())?;
            Ok(Some(entries))
        };
        if let Some(entries) = world.agree(&call, write().map_err(Error::from))? {
            self.entries = entries;
        }
        Ok(())
    }
}

/// File name in the index: relative to the index's directory for files below it.
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
