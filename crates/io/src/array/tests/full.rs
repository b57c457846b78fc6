//! A disk that is full: a small one, where this process may mount it, else a limit on the size of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use zippy::{Config, Layout, Split, run_with};

use super::super::save;
use super::directory;

const DIRECTORY: &str = "ZIPPY_IO_FULL_ARRAYS";

/// Runs [`a_child`] by a shell that has done this before.
fn child(before: &str, wrapper: &[&str], directory: &Path) -> std::io::Result<Output> {
    let script = format!("{before}; exec \"$1\" --exact array::tests::full::a_child --nocapture");
    let (first, rest) = wrapper.split_first().expect("a shell");
    let mut command = Command::new(first);
    command.args(rest).args(["-c", &script, "sh"]).arg(std::env::current_exe()?);
    command.env(DIRECTORY, directory).output()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_changes_nothing() {
    let directory = directory();
    let mount = format!("mount -t tmpfs -o size=512k none \"${DIRECTORY}\" || exit 97");
    let output = match child(&mount, &["unshare", "-rm", "sh"], directory.path()) {
        // Neither root nor allowed to be: no such file system can be had.
        Ok(output) if output.status.success() || output.status.code() == Some(101) => output,
        _ => child("trap '' XFSZ; ulimit -f 200", &["sh"], directory.path()).unwrap(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("the disk was full"), "{}", text(&output.stdout));
}

/// All files below a directory, and what is in them; directories, too.
fn all(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut all(&path));
        }
        found.insert(path.clone(), std::fs::read(&path).ok());
    }
    found
}

#[test]
fn a_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let endings = ["npy", "vti", "pvti", "nrrd", "zarr"].into_iter();
    for ending in endings.filter(|&ending| ending != "zarr" || cfg!(feature = "zarr")) {
        let path = Path::new(&directory).join(format!("a.{ending}"));
        let program = |cells: i64, fits: bool| {
            run_with(Config::threads(3), |world| {
                let array = world.array::<u32, 1>("array", &Layout::new([cells]).split_all(Split::Even(3)))?;
                array.fill_with(|[x]| (x + 1) as u32)?;
                let saved = save(world, &path, &array.at(..)).map_err(|error| error.to_string());
                let full = |error: &String| error.contains("No space left") || error.contains("File too large");
                assert!(if fits { saved.is_ok() } else { saved.as_ref().is_err_and(full) }, "{ending}: {saved:?}");
                world.barrier()
            })
            .unwrap();
        };
        program(100, true);
        let before = all(Path::new(&directory));
        program(1 << 18, false);
        assert!(before == all(Path::new(&directory)), "{ending}");
    }
    println!("the disk was full");
}
