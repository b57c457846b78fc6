//! Files that several processes write.

use std::process::Command;

use super::tests::names;
use super::*;

const TASK: &str = "ZIPPY_IO_TASK";
const FILE: &str = "ZIPPY_IO_FILE";

fn run_child(task: &str, file: &Path) -> std::process::ExitStatus {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "atomic::shared_tests::child_process"]).env(TASK, task).env(FILE, file);
    command.output().unwrap().status
}

#[test]
fn child_process() {
    let (Ok(task), Some(file)) = (std::env::var(TASK), std::env::var_os(FILE)) else { return };
    if let Some(rank) = task.strip_prefix("rank ") {
        let rank: u8 = rank.parse().unwrap();
        let mut shared = SharedFile::open(file).unwrap();
        shared.write_at(100 * u64::from(rank), &[rank; 100]).unwrap();
        shared.finish().unwrap();
    } else {
        let mut shared = SharedFile::create(file, 100).unwrap();
        shared.write_at(0, &[9; 100]).unwrap();
        shared.finish().unwrap();
        std::process::abort();
    }
}

#[test]
fn processes_write_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bin");
    fs::write(&path, "before").unwrap();
    let mut shared = SharedFile::create(&path, 300).unwrap();
    assert!(shared.temporary().is_absolute() && shared.temporary().parent() == path.canonicalize().unwrap().parent());
    for rank in [2, 0, 1] {
        assert!(run_child(&format!("rank {rank}"), shared.temporary()).success());
        assert_eq!(fs::read(&path).unwrap(), b"before");
    }
    shared.write_at(150, b"x").unwrap();
    shared.finish().unwrap();
    shared.commit().unwrap();
    let mut expected: Vec<u8> = [0, 1, 2].iter().flat_map(|&rank| [rank; 100]).collect();
    expected[150] = b'x';
    assert_eq!((fs::read(&path).unwrap(), names(directory.path())), (expected, vec!["a.bin".to_string()]));
}

#[test]
fn dropped_file_or_killed_writer_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bin");
    let mut shared = SharedFile::create(&path, 10).unwrap();
    let mut another = SharedFile::open(shared.temporary()).unwrap();
    shared.write_at(0, b"12345").unwrap();
    another.write_at(5, b"67890").unwrap();
    assert_eq!(names(directory.path()).len(), 1);
    let temporary = shared.temporary().to_path_buf();
    drop(shared);
    assert!(names(directory.path()).is_empty());
    another.write_at(5, b"67890").unwrap();
    another.finish().unwrap();
    let error = SharedFile::open(&temporary).unwrap_err().to_string();
    assert!(error.contains("cannot open") && error.contains(".tmp"), "{error}");
    assert!(!run_child("die", &path).success());
    assert!(!path.exists());
    fs::write(&path, "before").unwrap();
    assert!(!run_child("die", &path).success());
    assert_eq!(fs::read(&path).unwrap(), b"before");
    // The writers' temporary files remain. On Linux, each write removes the files of ended writers.
    let remaining = || names(directory.path()).iter().filter(|name| name.starts_with(".zippy-")).count();
    assert!(remaining() > 0);
    drop(SharedFile::create(&path, 100).unwrap());
    crate::atomic::sweep(directory.path());
    assert_eq!(remaining(), if cfg!(target_os = "linux") { 0 } else { 2 });
}

#[test]
fn writes_and_files_that_do_not_fit_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bin");
    let mut shared = SharedFile::create(&path, 10).unwrap();
    let mut another = SharedFile::open(shared.temporary()).unwrap();
    for file in [&mut shared, &mut another] {
        file.write_at(10, b"").unwrap();
        for (offset, bytes) in [(8, &b"abc"[..]), (11, b""), (u64::MAX, b"a")] {
            let error = file.write_at(offset, bytes).unwrap_err().to_string();
            assert!(error.contains("do not fit its 10"), "{error}");
        }
    }
    let error = another.commit().unwrap_err().to_string();
    assert!(error.contains("was not created by this rank"), "{error}");
    shared.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), [0; 10]);
    let refused = |path: &Path, wanted: &str| {
        let error = SharedFile::create(path, 1).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    };
    refused(directory.path(), "is a directory");
    refused(&directory.path().join("no/such"), "cannot write");
    refused(&directory.path().join("too long").join("x"), "cannot write");
    assert!(SharedFile::create(directory.path().join("b"), u64::MAX).is_err());
    assert!(SharedFile::open(directory.path()).unwrap_err().to_string().contains("is not a regular file"));
    assert_eq!(names(directory.path()), ["a.bin"]);
    let late = SharedFile::create(directory.path().join("late"), 1).unwrap();
    fs::create_dir(directory.path().join("late")).unwrap();
    assert!(late.commit().unwrap_err().to_string().contains("rename into place"));
    assert_eq!(names(directory.path()), ["a.bin", "late"]);
}

#[cfg(unix)]
#[test]
fn modes_and_links_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
    let directory = tempfile::tempdir().unwrap();
    let [path, link, usual] = ["a", "link", "usual"].map(|name| directory.path().join(name));
    symlink("a", &link).unwrap();
    File::create(&usual).unwrap();
    SharedFile::create(&link, 0).unwrap().commit().unwrap();
    assert_eq!(mode(&path), mode(&usual));
    for kept in [0o600, 0o444, 0o020, 0o755] {
        fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
        let shared = SharedFile::create(&link, 3).unwrap();
        assert_eq!(mode(shared.temporary()), kept | 0o200);
        SharedFile::open(shared.temporary()).unwrap().write_at(0, b"abc").unwrap();
        shared.commit().unwrap();
        assert_eq!(mode(&path), kept);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"abc");
    }
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("a"));
    assert_eq!(names(directory.path()), ["a", "link", "usual"]);
    assert!(SharedFile::create("/dev/null", 1).unwrap_err().to_string().contains("is no regular file"));
}

#[cfg(target_os = "linux")]
#[test]
fn unnamed_file_that_another_rank_cannot_open_gets_a_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.bin");
    let mut file = SharedFile::create_unnamed(&path, 10).unwrap();
    let location = file.location();
    if location.is_named {
        return;
    }
    assert!(SharedFile::open_same(&location).is_some());
    // Another file of the same process and descriptor number.
    let other = SharedFile::create_unnamed(&path, 10).unwrap();
    let mut strange = other.location();
    strange.path.clone_from(&location.path);
    assert!(SharedFile::open_same(&strange).is_none());
    file.give_name().unwrap();
    let location = file.location();
    assert!(location.is_named && location.path.starts_with(directory.path().canonicalize().unwrap()));
    let mut another = SharedFile::open(&location.path).unwrap();
    another.write_at(5, b"67890").unwrap();
    file.write_at(0, b"12345").unwrap();
    another.finish().unwrap();
    file.finish().unwrap();
    file.commit().unwrap();
    drop(other);
    assert_eq!((fs::read(&path).unwrap(), names(directory.path()).len()), (b"1234567890".to_vec(), 1));
}
