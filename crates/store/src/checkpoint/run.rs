//! [`Run`]: exclusive access of one program to a directory of checkpoints.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zippy_files::FileError;

use super::heartbeat::Heartbeat;
use super::holder::{Holder, held_by_other};
use super::names::{self, LOCK};

type TryLock = fn(&File) -> Result<(), TryLockError>;

/// Number of attempts: other programs may remove the lock file between two steps.
const ATTEMPTS: usize = 100;

/// Runs of this process. All threads and all values of one directory share a run.
static RUNS: Mutex<Vec<Arc<Run>>> = Mutex::new(Vec::new());

/// A program's hold on a directory of checkpoints. On rank 0.
#[derive(Debug)]
pub(super) struct Run {
    parent: PathBuf,
    holder: Holder,
    drafts: Mutex<BTreeSet<u64>>,
    /// Hold on the directory; `None` after the last share is dropped.
    hold: Mutex<Option<Hold>>,
}

/// Mechanism that keeps other programs out of the directory.
#[derive(Debug)]
enum Hold {
    /// Lock of the operating system, which ends with the process.
    Lock(File),
    /// Time in the lock file, on file systems without locks.
    Time(Heartbeat),
}

/// Share of a run. After the last one is dropped, other programs may save into the directory.
#[derive(Debug, Clone)]
pub(super) struct RunShare(Arc<Run>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunShare {
    /// This process's run in `parent`, a directory that is created if necessary. Another program
    /// that saves there is an error.
    pub(super) fn new(parent: &Path) -> Result<Self, FileError> {
        let refused = |error: io::Error| FileError::system(parent, "write to the directory", &error);
        names::create_directories(parent).map_err(refused)?;
        let parent = fs::canonicalize(parent).map_err(refused)?;
        let mut runs = lock(&RUNS);
        if let Some(run) = runs.iter().find(|run| run.parent == parent) {
            return Ok(Self(Arc::clone(run)));
        }
        let run = Arc::new(Run::begin(parent, File::try_lock)?);
        runs.push(Arc::clone(&run));
        Ok(Self(run))
    }
}

impl Deref for RunShare {
    type Target = Run;

    fn deref(&self) -> &Run {
        &self.0
    }
}

impl Drop for RunShare {
    fn drop(&mut self) {
        let mut runs = lock(&RUNS);
        // Two references: the list and `self`. The lock is released before another thread can get a
        // run.
        if Arc::strong_count(&self.0) == 2 {
            self.release();
            runs.retain(|other| !Arc::ptr_eq(other, &self.0));
        }
    }
}

impl Run {
    fn begin(parent: PathBuf, try_lock: TryLock) -> Result<Self, FileError> {
        let (path, holder) = (parent.join(LOCK), Holder::this_program());
        let hold = Mutex::new(Some(take_directory(&path, &holder, try_lock)?));
        Ok(Self { parent, holder, drafts: Mutex::default(), hold })
    }

    pub(super) fn parent(&self) -> &Path {
        &self.parent
    }

    pub(super) fn name(&self) -> String {
        self.holder.to_string()
    }

    /// Checks that the directory still belongs to this run. A removed directory is created and
    /// locked again.
    pub(super) fn check(&self) -> Result<(), FileError> {
        let (mut hold, path) = (lock(&self.hold), self.parent.join(LOCK));
        match &*hold {
            Some(Hold::Time(heartbeat)) => heartbeat.check(),
            Some(Hold::Lock(file)) if !is_named(file, &path) => {
                let refused = |error: io::Error| FileError::system(&self.parent, "write to the directory", &error);
                names::create_directories(&self.parent).map_err(refused)?;
                *hold = Some(take_directory(&path, &self.holder, File::try_lock)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn release(&self) {
        if let Some(Hold::Lock(file)) = lock(&self.hold).take() {
            // Other programs then find the open file without its name. Windows cannot remove an
            // open file.
            let path = self.parent.join(LOCK);
            if cfg!(unix) && is_named(&file, &path) {
                let _ = fs::remove_file(path);
            }
            drop(file);
        }
    }

    /// Reserves the next save number by creating the draft's directory. No two programs get the
    /// same number: the name contains only the number, and generations completed in the meantime
    /// are checked.
    pub(super) fn reserve_number(&self) -> Result<(u64, PathBuf), FileError> {
        let refused = |error: io::Error| FileError::system(&self.parent, "write to the directory", &error);
        let mut number = 0;
        loop {
            let last = names::last_number(&self.parent).map_err(refused)?.max(number);
            let full = || FileError::request(&self.parent, "holds a generation of the last number there is");
            number = last.checked_add(1).ok_or_else(full)?;
            let directory = self.parent.join(names::draft_name(number));
            // Before the directory exists: `tidy` removes unlisted drafts.
            lock(&self.drafts).insert(number);
            match fs::create_dir(&directory) {
                Ok(()) if names::has_number(&self.parent, number).map_err(refused)? => {
                    fs::remove_dir(&directory).map_err(refused)?;
                }
                Ok(()) => return Ok((number, directory)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    self.release_number(number);
                    return Err(refused(error));
                }
            }
            self.release_number(number);
        }
    }

    pub(super) fn release_number(&self, number: u64) {
        lock(&self.drafts).remove(&number);
    }

    pub(super) fn is_writing(&self, number: u64) -> bool {
        lock(&self.drafts).contains(&number)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.release();
    }
}

fn take_directory(path: &Path, holder: &Holder, try_lock: TryLock) -> Result<Hold, FileError> {
    let refused = |error: io::Error| FileError::system(path, "write", &error);
    for _ in 0..ATTEMPTS {
        let (mut file, is_new) = match File::create_new(path) {
            Ok(file) => (file, true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                match File::options().read(true).write(true).open(path) {
                    Ok(file) => (file, false),
                    // The program that held it has just ended.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(refused(error)),
                }
            }
            Err(error) => return Err(refused(error)),
        };
        match try_lock(&file) {
            Ok(()) if !is_named(&file, path) => {}
            Ok(()) => {
                // A program on a node without locks may hold the directory by the time in the file.
                if !is_new && let Some(other) = Holder::read(path).filter(Holder::is_renewed) {
                    return Err(held_by_other(path, Some(&other)));
                }
                let text = holder.text();
                file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(refused)?;
                return Ok(Hold::Lock(file));
            }
            Err(TryLockError::WouldBlock) => {
                let other = Holder::read(path);
                return Err(held_by_other(path, other.as_ref()));
            }
            Err(TryLockError::Error(_)) => {
                return Heartbeat::begin(path, holder, is_new).map(Hold::Time);
            }
        }
    }
    Err(held_by_other(path, Holder::read(path).as_ref()))
}

#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |found: fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata().map(inode), fs::metadata(path).map(inode)), (Ok(file), Ok(named)) if file == named)
}

#[cfg(not(unix))]
fn is_named(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::holder::STALE_AFTER;

    const NO_LOCKS: TryLock = |_| Err(TryLockError::Error(io::ErrorKind::Unsupported.into()));

    fn run(parent: &Path, try_lock: TryLock) -> Result<Run, FileError> {
        Run::begin(parent.to_path_buf(), try_lock)
    }

    #[test]
    fn second_run_gets_error_that_names_the_first_with_and_without_locks() {
        let directory = tempfile::tempdir().unwrap();
        for try_lock in [File::try_lock as TryLock, NO_LOCKS] {
            let first = run(directory.path(), try_lock).unwrap();
            first.check().unwrap();
            let error = run(directory.path(), try_lock).unwrap_err().to_string();
            let holder = Holder::this_program();
            for wanted in ["another program saves its checkpoints here", &holder.host, " UTC"] {
                assert!(error.contains(wanted), "{error}, not {wanted}");
            }
            assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
            drop(first);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
            // A killed program leaves its file, but no lock.
            fs::write(directory.path().join(LOCK), Holder { process: u32::MAX, ..holder }.text()).unwrap();
            drop(run(directory.path(), try_lock).unwrap());
        }
    }

    #[test]
    fn removed_directory_is_created_and_locked_again() {
        let directory = tempfile::tempdir().unwrap();
        let parent = directory.path().join("checkpoints");
        fs::create_dir(&parent).unwrap();
        let first = run(&parent, File::try_lock).unwrap();
        fs::remove_dir_all(&parent).unwrap();
        first.check().unwrap();
        assert!(run(&parent, File::try_lock).unwrap_err().to_string().contains("another program"));
        fs::remove_dir_all(&parent).unwrap();
        fs::create_dir(&parent).unwrap();
        let second = run(&parent, File::try_lock).unwrap();
        assert!(first.check().unwrap_err().to_string().contains("another program"));
        drop(first);
        second.check().unwrap();
        assert!(run(&parent, File::try_lock).is_err());
    }

    #[test]
    fn lock_of_another_machine_does_not_become_stale() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LOCK);
        fs::write(&path, Holder { machine: "far".into(), ..Holder::this_program() }.text()).unwrap();
        File::options().write(true).open(&path).and_then(|file| file.set_modified(std::time::UNIX_EPOCH)).unwrap();
        let error = run(directory.path(), NO_LOCKS).unwrap_err().to_string();
        assert!(error.contains("another program") && error.contains(LOCK), "{error}");
    }

    #[test]
    fn program_without_locks_is_respected_by_one_with_locks() {
        let directory = tempfile::tempdir().unwrap();
        let first = run(directory.path(), NO_LOCKS).unwrap();
        assert!(run(directory.path(), File::try_lock).unwrap_err().to_string().contains("another program"));
        drop(first);
        run(directory.path(), File::try_lock).unwrap();
    }

    /// Without access to the other machine's processes, only the time counts.
    #[test]
    fn time_of_another_machine_is_stale_after_ten_minutes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LOCK);
        let far = Holder { machine: "far".into(), ..Holder::this_program() };
        let fresh = Holder { renewed: far.renewed.max(1), ..far.clone() };
        fs::write(&path, fresh.renewed_now().text()).unwrap();
        assert!(run(directory.path(), NO_LOCKS).unwrap_err().to_string().contains("another program"));
        let old = Holder { renewed: fresh.renewed_now().renewed - STALE_AFTER - 5, ..far };
        fs::write(&path, old.text()).unwrap();
        let second = run(directory.path(), NO_LOCKS).unwrap();
        second.check().unwrap();
        // The first program wakes up and takes the directory back; the second must stop.
        fs::write(&path, fresh.renewed_now().text()).unwrap();
        let error = second.check().unwrap_err().to_string();
        assert!(error.contains("another program"), "{error}");
        drop(second);
        assert!(path.exists());
    }

    #[test]
    fn numbers_are_taken_once() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("step-000000000003.000007")).unwrap();
        let run = run(directory.path(), File::try_lock).unwrap();
        let (first, second) = (run.reserve_number().unwrap(), run.reserve_number().unwrap());
        assert_eq!((first.0, second.0), (8, 9));
        assert!(run.is_writing(8) && !run.is_writing(7));
        fs::create_dir(directory.path().join(names::draft_name(10))).unwrap();
        assert_eq!(run.reserve_number().unwrap().0, 11);
        run.release_number(9);
        assert!(!run.is_writing(9));
        fs::create_dir(directory.path().join(names::draft_name(u64::MAX))).unwrap();
        assert!(run.reserve_number().unwrap_err().to_string().contains("the last number there is"));
    }

    #[test]
    fn shares_of_a_run_hold_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let parent = directory.path().join("new");
        let first = RunShare::new(&parent).unwrap();
        let second = RunShare::new(&directory.path().join("new/../new")).unwrap();
        assert!(Arc::ptr_eq(&first.0, &second.0));
        drop(first);
        assert!(run(&parent.canonicalize().unwrap(), File::try_lock).is_err());
        drop(second.clone());
        assert!(run(&parent.canonicalize().unwrap(), File::try_lock).is_err());
        drop(second);
        run(&parent.canonicalize().unwrap(), File::try_lock).unwrap();
    }
}
