//! Files that are either whole or not there.

use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, TempPath};

use crate::IoError;

/// More links to links than this lead nowhere.
const MOST_LINKS: usize = 40;

/// Writes `bytes` to `path` so that nobody ever sees half a file: into a temporary file in the same directory first, which
/// then takes the name. An existing file is replaced and hands on its mode, and its owner where the system allows it; of a
/// symbolic link, what it leads to is replaced. A process that is killed meanwhile leaves its temporary file, but where the
/// file system has files without names (Linux, on local ones): there only in the moment in which it replaces another one.
///
/// # Errors
/// What the operating system said; there is something of that name, but no regular file. The temporary file is removed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), IoError> {
    let pending = Pending::create(path)?;
    (&pending.temporary.file).write_all(bytes).map_err(|error| IoError::system(path, "write", &error))?;
    pending.commit()
}

/// A file that is written bit by bit and appears under its name when it is whole. Dropped before, it leaves nothing behind.
#[derive(Debug)]
pub(super) struct Pending {
    path: PathBuf,
    /// Where `path` leads to.
    target: PathBuf,
    temporary: Temporary,
}

impl Pending {
    /// # Errors
    /// What the operating system said; the path names no file, or one that is not regular.
    pub fn create(path: &Path) -> Result<Self, IoError> {
        let (target, replaced) = target(path)?;
        let make = || {
            let temporary = Temporary::create(directory(&target))?;
            if let Some(replaced) = &replaced {
                inherit(&temporary.file, replaced)?;
            }
            Ok(temporary)
        };
        let temporary = make().map_err(|error| IoError::system(path, "write", &error))?;
        Ok(Self { path: path.to_path_buf(), target, temporary })
    }

    /// A handle to write through; what it buffers must be flushed before [`Self::commit`].
    ///
    /// # Errors
    /// What the operating system said.
    pub fn writer(&self) -> Result<BufWriter<File>, IoError> {
        let file = self.temporary.file.try_clone();
        file.map(BufWriter::new).map_err(|error| IoError::system(&self.path, "write", &error))
    }

    /// Writes over what has been written, from byte `at` on.
    ///
    /// # Errors
    /// What the operating system said.
    pub fn rewrite(&self, at: u64, bytes: &[u8]) -> Result<(), IoError> {
        let mut file = &self.temporary.file;
        let written = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(bytes));
        written.map_err(|error| IoError::system(&self.path, "write", &error))
    }

    /// Puts the file into its place when all of it is on the disk; an existing one is replaced.
    ///
    /// # Errors
    /// What the operating system said; the temporary file is removed.
    pub fn commit(self) -> Result<(), IoError> {
        self.temporary.file.sync_all().map_err(|error| IoError::system(&self.path, "write", &error))?;
        self.put()
    }

    /// [`Self::commit`] without the disk, which may take its time.
    ///
    /// # Errors
    /// As [`Self::commit`].
    pub fn put(self) -> Result<(), IoError> {
        let put = self.temporary.put(&self.target);
        put.map_err(|error| IoError::system(&self.path, "rename into place", &error))
    }
}

/// A file that nobody else writes to, in the directory where it will stay.
#[derive(Debug)]
struct Temporary {
    file: File,
    /// Its name, which goes with it; none where the system takes the file away itself.
    name: Option<TempPath>,
}

impl Temporary {
    fn create(directory: &Path) -> io::Result<Self> {
        if let Some(file) = unnamed::create(directory) {
            return Ok(Self { file, name: None });
        }
        // Takes another name where there is anything of that name, a link included.
        let (file, name) = random().make_in(directory, |path| File::create_new(path))?.into_parts();
        Ok(Self { file, name: Some(name) })
    }

    fn put(self, target: &Path) -> io::Result<()> {
        let name = match self.name {
            Some(name) => name,
            None => match unnamed::link(&self.file, target) {
                // A new name cannot replace an old one, but be renamed to it.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    random().make_in(directory(target), |path| unnamed::link(&self.file, path))?.into_temp_path()
                }
                linked => return linked,
            },
        };
        // Windows renames no open file.
        drop(self.file);
        name.persist(target).map_err(|error| error.error)
    }
}

/// Names that nobody can guess.
fn random() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".zippy-").suffix(".tmp").rand_bytes(12);
    builder
}

/// Files without names, which are gone when the last process that has them open ends.
#[cfg(target_os = "linux")]
mod unnamed {
    use std::fs::{self, File};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::{AtFlags, CWD, OFlags, linkat};

    /// `None` where the file system has none, or they could not be given a name later.
    pub fn create(directory: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE.bits() as i32;
        let file = fs::OpenOptions::new().read(true).write(true).custom_flags(flags).open(directory).ok()?;
        place(&file).exists().then_some(file)
    }

    pub fn link(file: &File, path: &Path) -> io::Result<()> {
        Ok(linkat(CWD, place(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?)
    }

    fn place(file: &File) -> PathBuf {
        format!("/proc/self/fd/{}", file.as_raw_fd()).into()
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    pub fn create(_: &std::path::Path) -> Option<std::fs::File> {
        None
    }

    pub fn link(_: &std::fs::File, _: &std::path::Path) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

/// Gives a file the mode of another one and, as far as that is allowed, its owner.
fn inherit(file: &File, from: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        // Only some may give files away; a group of one's own anybody may choose. The mode last: this may change it.
        let _ = fchown(file, Some(from.uid()), Some(from.gid())).or_else(|_| fchown(file, None, Some(from.gid())));
    }
    file.set_permissions(from.permissions())
}

/// What a path leads to, and what is there already.
fn target(path: &Path) -> Result<(PathBuf, Option<Metadata>), IoError> {
    let refused = |error: io::Error| IoError::system(path, "write", &error);
    if path.file_name().is_none() {
        return Err(IoError::request(path, "is not the name of a file"));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(IoError::request(path, "is a directory, not a file")),
        Ok(found) if !found.is_file() => {
            Err(IoError::request(path, "is no regular file, and only such a file can be replaced as a whole"))
        }
        Ok(found) => Ok((fs::canonicalize(path).map_err(refused)?, Some(found))),
        // Nothing there, or links that lead to nothing.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let follow = |path: &PathBuf| fs::read_link(path).ok().map(|link| directory(path).join(link));
            let last = std::iter::successors(Some(path.to_path_buf()), follow).take(MOST_LINKS).last();
            Ok((last.unwrap_or_else(|| path.to_path_buf()), None))
        }
        Err(error) => Err(refused(error)),
    }
}

/// The directory that a file is in.
fn directory(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An empty directory.
    fn directory() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn replaces_and_leaves_nothing_behind() {
        let directory = directory();
        let path = directory.path().join("a.bin");
        write_whole(&path, b"one").unwrap();
        write_whole(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        drop(Pending::create(&path).unwrap());
        let blocked = directory.path().join("b");
        fs::create_dir_all(blocked.join("inner")).unwrap();
        let error = write_whole(&blocked, b"x").unwrap_err();
        assert!(error.to_string().contains("is a directory"), "{error}");
        // A directory that comes meanwhile cannot be replaced by a file: the rename fails.
        let late = Pending::create(&directory.path().join("late")).unwrap();
        fs::create_dir(directory.path().join("late")).unwrap();
        let error = late.commit().unwrap_err();
        assert!(error.to_string().contains("rename into place"), "{error}");
        let missing = write_whole(&directory.path().join("no").join("such"), b"x").unwrap_err();
        assert!(missing.to_string().contains("cannot write"), "{missing}");
        assert!(write_whole(Path::new(".."), b"x").is_err());
        assert_eq!(names(directory.path()), ["a.bin", "b", "late"]);
    }

    /// With a name from the beginning, as on file systems where every file has one.
    #[test]
    fn names_of_temporary_files_are_new_and_go() {
        let directory = directory();
        let make = || {
            let (file, name) = random().make_in(directory.path(), |path| File::create_new(path)).unwrap().into_parts();
            Temporary { file, name: Some(name) }
        };
        let (one, two) = (make(), make());
        assert_eq!(names(directory.path()).len(), 2);
        drop(one);
        (&two.file).write_all(b"two").unwrap();
        let path = directory.path().join("a");
        two.put(&path).unwrap();
        assert_eq!((fs::read(path).unwrap(), names(directory.path())), (b"two".to_vec(), vec!["a".to_string()]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_new_file_has_no_other_name_at_any_time() {
        use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
        let directory = directory();
        if unnamed::create(directory.path()).is_none() {
            return;
        }
        let watch = init(CreateFlags::NONBLOCK).unwrap();
        add_watch(&watch, directory.path(), WatchFlags::CREATE | WatchFlags::MOVE).unwrap();
        write_whole(&directory.path().join("a"), b"x").unwrap();
        let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(watch, &mut buffer);
        let mut seen = Vec::new();
        while let Ok(event) = events.next() {
            seen.push(event.file_name().unwrap().to_str().unwrap().to_string());
        }
        assert_eq!(seen, ["a"]);
    }

    #[cfg(unix)]
    mod unix {
        use super::*;
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().mode() & 0o7777
        }

        #[test]
        fn what_is_placed_under_a_name_that_was_guessed_is_not_followed() {
            let directory = directory();
            let victim = directory.path().join("victim");
            fs::write(&victim, "mine").unwrap();
            let id = std::process::id();
            for count in 0..50 {
                symlink(&victim, directory.path().join(format!(".a.bin.{id}.{count}.tmp"))).unwrap();
            }
            write_whole(&directory.path().join("a.bin"), b"other").unwrap();
            assert_eq!(fs::read(&victim).unwrap(), b"mine");
            assert_eq!(names(directory.path()).len(), 52);
        }

        #[test]
        fn modes_stay_and_new_files_have_the_usual_one() {
            let directory = directory();
            let [path, usual] = ["a", "usual"].map(|name| directory.path().join(name));
            write_whole(&path, b"1").unwrap();
            File::create(&usual).unwrap();
            assert_eq!(mode(&path), mode(&usual));
            for kept in [0o600, 0o664, 0o755] {
                fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
                write_whole(&path, b"2").unwrap();
                assert_eq!(mode(&path), kept);
            }
            // Who may give files away does so.
            if std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).is_ok() {
                write_whole(&path, b"3").unwrap();
                let found = fs::metadata(&path).unwrap();
                assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (65_534, 65_534, 0o755));
            }
        }

        #[test]
        fn of_a_link_the_target_is_replaced() {
            let (here, there) = (directory(), directory());
            let [link, chain] = ["link", "chain"].map(|name| here.path().join(name));
            let target = there.path().join("target");
            symlink(&target, &link).unwrap();
            symlink("link", &chain).unwrap();
            // First it leads to nothing.
            for bytes in ["one", "two"] {
                write_whole(&chain, bytes.as_bytes()).unwrap();
                assert_eq!(fs::read_to_string(&target).unwrap(), bytes);
            }
            assert_eq!(fs::read_link(&link).unwrap(), target);
            assert_eq!((names(here.path()).len(), names(there.path()).len()), (2, 1));
            let round = here.path().join("round");
            symlink("round", &round).unwrap();
            assert!(write_whole(&round, b"x").is_err() && round.is_symlink());
            let nowhere = here.path().join("nowhere");
            symlink(there.path().join("no/such"), &nowhere).unwrap();
            assert!(write_whole(&nowhere, b"x").is_err() && nowhere.is_symlink());
        }

        #[test]
        fn only_regular_files_are_replaced() {
            let before = fs::metadata("/dev/null").unwrap();
            let link = directory();
            let link = link.path().join("null");
            symlink("/dev/null", &link).unwrap();
            for path in [Path::new("/dev/null"), &link] {
                let error = write_whole(path, b"x").unwrap_err();
                assert!(error.to_string().contains("is no regular file"), "{error}");
            }
            let after = fs::metadata("/dev/null").unwrap();
            assert_eq!((before.ino(), before.rdev()), (after.ino(), after.rdev()));
        }
    }
}
