//! Names of temporary files, and removal of temporary files of killed programs.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use tempfile::Builder;
use zippy_base::trace;

use crate::{process, shown};

const PREFIX: &str = ".zippy-";
const SUFFIX: &str = ".tmp";

/// Age at which a temporary file of another machine counts as abandoned.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// Builder of random temporary names that contain the machine and the process.
pub(super) fn random_name() -> Builder<'static, 'static> {
    static PREFIX_OF_PROCESS: OnceLock<String> = OnceLock::new();
    let prefix = PREFIX_OF_PROCESS.get_or_init(|| format!("{PREFIX}{:08x}-{}-", own_machine(), std::process::id()));
    let mut builder = Builder::new();
    builder.prefix(prefix).suffix(SUFFIX).rand_bytes(12);
    builder
}

/// Builder of random temporary names for directories with the default permissions of the user.
pub fn random_directory() -> Builder<'static, 'static> {
    let mut builder = random_name();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The default of `tempfile` would make the final directory private.
        builder.permissions(fs::Permissions::from_mode(0o777));
    }
    builder
}

/// Hash of this machine's identity for names; 0 if the machine has none.
fn own_machine() -> u32 {
    let machine = process::machine();
    if machine.is_empty() { 0 } else { crc32fast::hash(machine.as_bytes()).max(1) }
}

/// Machine and process in a temporary name; zeros for the old form without them.
fn writer(name: &OsStr) -> Option<(u32, u32)> {
    let middle = name.to_str()?.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let is_random = |text: &str| text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    match middle.split('-').collect::<Vec<_>>()[..] {
        [random] if is_random(random) => Some((0, 0)),
        [machine, process, random] if is_random(random) && machine.len() == 8 => {
            Some((u32::from_str_radix(machine, 16).ok()?, process.parse().ok()?))
        }
        _ => None,
    }
}

/// Removes the temporary files and draft stores of killed programs from a directory: on this
/// machine, files of processes that have ended; on other machines, files without a write for a day.
/// A directory without the files of a draft store stays, as it may belong to another program. Files
/// that cannot be removed are reported and stay.
pub fn sweep(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let Some((machine, process)) = writer(&entry.file_name()) else { continue };
        let (path, this_machine) = (entry.path(), own_machine());
        let is_abandoned =
            if machine != 0 && machine == this_machine { process::is_gone(process) } else { is_old(&path) };
        let removed = match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() && is_abandoned => fs::remove_file(&path),
            Ok(found) if found.is_dir() && is_abandoned && is_draft(&path) => fs::remove_dir_all(&path),
            _ => continue,
        };
        if let Err(error) = removed
            && error.kind() != io::ErrorKind::NotFound
        {
            trace::warn(&format!("{}, which a killed program has left, cannot be removed: {error}", shown(&path)));
        }
    }
}

/// [`sweep`], once per directory and process, for directories with very many small files.
pub(super) fn sweep_once(directory: &Path) {
    static DONE: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if done.get_or_insert_default().insert(directory.to_path_buf()) {
        drop(done);
        sweep(directory);
    }
}

fn is_draft(directory: &Path) -> bool {
    directory.join("zarr.json").is_file() || fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_none())
}

/// True if a file, or a directory with all its content, has not been written for a day.
fn is_old(path: &Path) -> bool {
    let mut remaining = vec![path.to_path_buf()];
    while let Some(path) = remaining.pop() {
        let Ok(found) = fs::symlink_metadata(&path) else { return false };
        if !is_old_by(&found) {
            return false;
        }
        if found.is_dir() {
            remaining.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
    true
}

fn is_old_by(found: &Metadata) -> bool {
    found.modified().is_ok_and(|modified| modified.elapsed().is_ok_and(|age| age > ABANDONED_AFTER))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::UNIX_EPOCH;

    use super::*;

    fn name(machine: u32, process: u32) -> String {
        format!(".zippy-{machine:08x}-{process}-abcdefABC123.tmp")
    }

    #[cfg(target_os = "linux")]
    fn ended_process() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    fn make_old(path: &Path) {
        File::open(path).and_then(|opened| opened.set_modified(UNIX_EPOCH)).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_of_killed_programs_are_removed_and_others_stay() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let this_machine = own_machine();
        assert_ne!(this_machine, 0);
        let (dead, alive, far) = (
            name(this_machine, ended_process()),
            name(this_machine, std::process::id()),
            name(this_machine ^ 1, ended_process()),
        );
        let old = ".zippy-abcdefABC123.tmp".to_string();
        let all = || {
            let entries = fs::read_dir(directory.path()).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<HashSet<_>>()
        };
        let others = [".zippy-notes.tmp", ".zippy-abcdefABC12.tmp", ".zippy-0-1-abcdefABC123.tmp", ".zippy-x.txt"];
        for name in [&dead, &alive, &far, &old].into_iter().map(String::as_str).chain(others) {
            fs::write(at(name), "half").unwrap();
        }
        sweep(directory.path());
        assert!(!at(&dead).exists() && all().len() == 3 + others.len(), "{:?}", all());
        [&alive, &far, &old].into_iter().map(String::as_str).chain(others).for_each(|name| make_old(&at(name)));
        sweep(directory.path());
        assert!(at(&alive).exists() && all().len() == 1 + others.len(), "{:?}", all());
        others.iter().for_each(|name| fs::remove_file(at(name)).unwrap());
        fs::remove_file(at(&alive)).unwrap();
        // Draft stores, and a directory without a store.
        let store = |name: &str, file: &str| {
            fs::create_dir_all(at(name).join("a/c")).unwrap();
            fs::write(at(name).join(file), "x").unwrap();
        };
        for (name, file, stays) in [
            (&dead, "zarr.json", false),
            (&alive, "zarr.json", true),
            (&dead, "photo.jpg", true),
            (&far, "zarr.json", true),
            (&old, "zarr.json", true),
        ] {
            store(name, file);
            sweep(directory.path());
            assert_eq!(at(name).exists(), stays, "{name} {file}");
            let _ = fs::remove_dir_all(at(name));
        }
        // Of another machine's store, every file must be old.
        store(&far, "zarr.json");
        let inner = at(&far).join("a/c");
        [&inner, &at(&far).join("a"), &at(&far).join("zarr.json"), &at(&far)]
            .into_iter()
            .for_each(|path| make_old(path));
        fs::write(inner.join("0"), "fresh").unwrap();
        make_old(&inner);
        sweep(directory.path());
        assert!(at(&far).exists());
        make_old(&inner.join("0"));
        sweep(directory.path());
        assert!(!at(&far).exists());
        // Links are never followed.
        let precious = at("precious");
        fs::write(&precious, "mine").unwrap();
        std::os::unix::fs::symlink(&precious, at(&dead)).unwrap();
        sweep(directory.path());
        assert!(precious.exists() && at(&dead).is_symlink());
    }

    #[test]
    fn temporary_names_contain_the_process() {
        let directory = tempfile::tempdir().unwrap();
        let file = random_name().tempfile_in(directory.path()).unwrap();
        assert_eq!(writer(file.path().file_name().unwrap()), Some((own_machine(), std::process::id())));
        sweep(directory.path());
        assert!(file.path().exists());
    }
}
