//! [`Run`]: exclusive access of one program to a directory of checkpoints.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zippy_files::FileError;

use super::heartbeat::Heartbeat;
use super::holder::{Holder, taken};
use super::names::{self, LOCK};

/// Tries to lock a file.
type TryLock = fn(&File) -> Result<(), TryLockError>;

/// Retries when another program removes the lock file between two steps.
const ATTEMPTS: usize = 100;

/// Runs of this process. All its threads, and all values of one directory, share one run.
static RUNS: Mutex<Vec<Arc<Run>>> = Mutex::new(Vec::new());

/// A program's hold on a directory of checkpoints, on rank 0.
#[derive(Debug)]
pub(super) struct Run {
    parent: PathBuf,
    holder: Holder,
    /// Numbers of generations that are being written.
    drafts: Mutex<BTreeSet<u64>>,
    /// `None` after the last share is dropped.
    held: Mutex<Option<Held>>,
}

/// Mechanism that keeps other programs out of the directory.
#[derive(Debug)]
enum Held {
    /// A lock of the operating system, which ends with the process.
    Lock(File),
    /// The time in the lock file, where the file system has no locks.
    Beats(Heartbeat),
}

/// A share of a run. After the last one is dropped, other programs may save into the directory.
#[derive(Debug, Clone)]
pub(super) struct RunShare(Arc<Run>);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RunShare {
    /// This process's run in `parent`, which is created if it does not exist.
    ///
    /// # Errors
    /// Another program saves into the directory; an operating system error.
    pub(super) fn new(parent: &Path) -> Result<Self, FileError> {
        let refused = |error: io::Error| FileError::system(parent, "write to the directory", &error);
        names::create_directories(parent).map_err(refused)?;
        let parent = fs::canonicalize(parent).map_err(refused)?;
        let mut runs = locked(&RUNS);
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
        let mut runs = locked(&RUNS);
        // Two references: the list and `self`. Release the lock before another thread can ask for a
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
        let held = Mutex::new(Some(hold(&path, &holder, try_lock)?));
        Ok(Self { parent, holder, drafts: Mutex::default(), held })
    }

    /// Directory of the generations.
    pub(super) fn parent(&self) -> &Path {
        &self.parent
    }

    /// Name in manifests.
    pub(super) fn name(&self) -> String {
        self.holder.to_string()
    }

    /// Checks that the directory still belongs to this run. A removed directory is created and
    /// locked again.
    ///
    /// # Errors
    /// Another program has taken the directory over; an operating system error.
    pub(super) fn check(&self) -> Result<(), FileError> {
        let (mut held, path) = (locked(&self.held), self.parent.join(LOCK));
        match &*held {
            Some(Held::Beats(beats)) => beats.check(),
            Some(Held::Lock(file)) if !is_of_name(file, &path) => {
                let refused = |error: io::Error| FileError::system(&self.parent, "write to the directory", &error);
                names::create_directories(&self.parent).map_err(refused)?;
                *held = Some(hold(&path, &self.holder, File::try_lock)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Gives the directory up.
    fn release(&self) {
        if let Some(Held::Lock(file)) = locked(&self.held).take() {
            // A program that opens the file now finds that its name has gone. Windows cannot remove
            // an open file.
            let path = self.parent.join(LOCK);
            if cfg!(unix) && is_of_name(&file, &path) {
                let _ = fs::remove_file(path);
            }
            drop(file);
        }
    }

    /// Reserves the next number and creates the draft's directory. Two programs never get the same
    /// number: the name contains only the number, and generations completed in the meantime are
    /// checked.
    ///
    /// # Errors
    /// An operating system error; there is no higher number.
    pub(super) fn reserve_number(&self) -> Result<(u64, PathBuf), FileError> {
        let refused = |error: io::Error| FileError::system(&self.parent, "write to the directory", &error);
        let mut number = 0;
        loop {
            let last = names::last_number(&self.parent).map_err(refused)?.max(number);
            let full = || FileError::request(&self.parent, "holds a generation of the last number there is");
            number = last.checked_add(1).ok_or_else(full)?;
            let directory = self.parent.join(names::draft_name(number));
            // Before the directory exists: `tidy` removes drafts that are not in the list.
            locked(&self.drafts).insert(number);
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

    /// Releases the number of a completed or cancelled generation.
    pub(super) fn release_number(&self, number: u64) {
        locked(&self.drafts).remove(&number);
    }

    /// True if this run writes the generation with this number.
    pub(super) fn is_writing(&self, number: u64) -> bool {
        locked(&self.drafts).contains(&number)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.release();
    }
}

/// Takes the directory of a lock file for this program.
fn hold(path: &Path, holder: &Holder, try_lock: TryLock) -> Result<Held, FileError> {
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
            Ok(()) if !is_of_name(&file, path) => {}
            Ok(()) => {
                // A program on a node without locks may hold the directory by the time in the file.
                if !is_new && let Some(other) = Holder::read(path).filter(Holder::is_beating) {
                    return Err(taken(path, Some(&other)));
                }
                let text = holder.text();
                file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(refused)?;
                return Ok(Held::Lock(file));
            }
            Err(TryLockError::WouldBlock) => {
                let other = Holder::read(path);
                return Err(taken(path, other.as_ref()));
            }
            Err(TryLockError::Error(_)) => {
                return Heartbeat::begin(path, holder, is_new).map(Held::Beats);
            }
        }
    }
    Err(taken(path, Holder::read(path).as_ref()))
}

/// True if `path` still names the open file.
#[cfg(unix)]
fn is_of_name(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |found: fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata().map(inode), fs::metadata(path).map(inode)), (Ok(file), Ok(named)) if file == named)
}

#[cfg(not(unix))]
fn is_of_name(_: &File, _: &Path) -> bool {
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

    /// Both with locks and with the time in a file.
    #[test]
    fn second_run_gets_error_that_names_the_first() {
        let directory = tempfile::tempdir().unwrap();
        for try_lock in [File::try_lock as TryLock, NO_LOCKS] {
            let first = run(directory.path(), try_lock).unwrap();
            first.check().unwrap();
            let error = run(directory.path(), try_lock).unwrap_err().to_string();
            let own = Holder::this_program();
            for wanted in ["another program saves its checkpoints here", &own.host, " UTC"] {
                assert!(error.contains(wanted), "{error}, not {wanted}");
            }
            assert!(error.contains(&format!("process {}", std::process::id())), "{error}");
            drop(first);
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
            // A killed program leaves its file, but no lock.
            fs::write(directory.path().join(LOCK), Holder { process: u32::MAX, ..own }.text()).unwrap();
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
        // Another program takes the directory first.
        fs::remove_dir_all(&parent).unwrap();
        fs::create_dir(&parent).unwrap();
        let second = run(&parent, File::try_lock).unwrap();
        assert!(first.check().unwrap_err().to_string().contains("another program"));
        drop(first);
        second.check().unwrap();
        assert!(run(&parent, File::try_lock).is_err());
    }

    /// The file's age is irrelevant while another node holds a lock.
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

    /// The process of another machine cannot be checked, so only its time counts.
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
        // Another program has the next number.
        fs::create_dir(directory.path().join(names::draft_name(10))).unwrap();
        assert_eq!(run.reserve_number().unwrap().0, 11);
        run.release_number(9);
        assert!(!run.is_writing(9));
        fs::create_dir(directory.path().join(names::draft_name(u64::MAX))).unwrap();
        assert!(run.reserve_number().unwrap_err().to_string().contains("the last number there is"));
    }

    /// All values of one directory share the process's run, which ends with the last of them.
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
