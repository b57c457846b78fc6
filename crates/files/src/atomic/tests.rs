use super::*;

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn file_is_replaced_without_leftovers() {
    let directory = directory();
    let path = directory.path().join("a.bin");
    write_whole(&path, b"one").unwrap();
    write_whole(&path, b"three").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"three");
    drop(PendingFile::create(&path).unwrap());
    let blocked = directory.path().join("b");
    fs::create_dir_all(blocked.join("inner")).unwrap();
    let error = write_whole(&blocked, b"x").unwrap_err();
    assert!(error.to_string().contains("is a directory"), "{error}");
    let late = PendingFile::create(&directory.path().join("late")).unwrap();
    fs::create_dir(directory.path().join("late")).unwrap();
    let error = late.commit().unwrap_err();
    assert!(error.to_string().contains("rename into place"), "{error}");
    let missing = write_whole(&directory.path().join("no").join("such"), b"x").unwrap_err();
    assert!(missing.to_string().contains("cannot write"), "{missing}");
    assert!(write_whole(Path::new(".."), b"x").is_err());
    assert_eq!(names(directory.path()), ["a.bin", "b", "late"]);
}

#[test]
fn temporary_names_are_new_and_removed() {
    let directory = directory();
    let make = || {
        let (file, name) = random_name().make_in(directory.path(), |path| File::create_new(path)).unwrap().into_parts();
        Temporary { file, name: Some(name) }
    };
    let (dropped, renamed) = (make(), make());
    assert_eq!(names(directory.path()).len(), 2);
    drop(dropped);
    (&renamed.file).write_all(b"two").unwrap();
    let path = directory.path().join("a");
    renamed.put(&path).unwrap();
    assert_eq!((fs::read(path).unwrap(), names(directory.path())), (b"two".to_vec(), vec!["a".to_string()]));
}

#[cfg(target_os = "linux")]
#[test]
fn new_file_never_has_another_name() {
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
    let mut created = Vec::new();
    while let Ok(event) = events.next() {
        created.push(event.file_name().unwrap().to_str().unwrap().to_string());
    }
    assert_eq!(created, ["a"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn link_under_a_guessed_temporary_name_is_not_followed() {
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
    fn mode_of_replaced_file_is_kept() {
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
        if std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).is_ok() {
            write_whole(&path, b"3").unwrap();
            let found = fs::metadata(&path).unwrap();
            assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (65_534, 65_534, 0o755));
        }
    }

    #[test]
    fn target_of_a_link_is_replaced() {
        let (here, elsewhere) = (directory(), directory());
        let [link, chain] = ["link", "chain"].map(|name| here.path().join(name));
        let target = elsewhere.path().join("target");
        symlink(&target, &link).unwrap();
        symlink("link", &chain).unwrap();
        // At first the link is dangling.
        for bytes in ["one", "two"] {
            write_whole(&chain, bytes.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&target).unwrap(), bytes);
        }
        assert_eq!(fs::read_link(&link).unwrap(), target);
        assert_eq!((names(here.path()).len(), names(elsewhere.path()).len()), (2, 1));
        let round = here.path().join("round");
        symlink("round", &round).unwrap();
        assert!(write_whole(&round, b"x").is_err() && round.is_symlink());
        let missing = here.path().join("missing");
        symlink(elsewhere.path().join("no/such"), &missing).unwrap();
        assert!(write_whole(&missing, b"x").is_err() && missing.is_symlink());
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
