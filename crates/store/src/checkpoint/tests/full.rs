//! Saves on a full disk: a small file system if this process may mount one, else a limit on file
//! sizes.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use zippy::{Config, Layout, Result, Split, World, run_with};

use super::{Checkpoints, Contents, directory, is_step, names, save_step};
use crate::full_disk::{self, SMALL};

const DIRECTORY: &str = "ZIPPY_IO_FULL";

const PAGE: u64 = 4096;

#[cfg(target_os = "linux")]
#[test]
fn full_disk_leaves_earlier_generations() {
    let said = full_disk::run("checkpoint::tests::full::a_child", DIRECTORY, directory().path());
    eprintln!("{said}");
}

#[test]
fn a_child() {
    let Some(directory) = std::env::var_os(DIRECTORY) else { return };
    let checkpoints = Checkpoints::new(Path::new(&directory).join("run.ckpt"), 2);
    run_with(Config::threads(3), |world| {
        save_step(&checkpoints, world, 1)?;
        let large = world.array::<u32, 1>("large", &Layout::new([1 << 18]).split_all(Split::Auto))?;
        large.fill_with(|[x]| x as u32)?;
        let fails = |result: Result<()>| {
            let error = result.expect_err("there is no room").to_string();
            let full = ["No space left", "File too large"].into_iter().find(|full| error.contains(full));
            full.unwrap_or_else(|| panic!("{error}"))
        };
        let contents = Contents::new().array(&large);
        let full = fails(checkpoints.save(world, 2, &contents));
        let pending = checkpoints.start(world, 2, &contents)?;
        fails(pending.wait());
        world.barrier()?;
        // Failed saves take no disk space, and earlier generations stay.
        assert_eq!(names(checkpoints.directory()), ["step-000000000001.000001"]);
        is_step(&checkpoints.latest(world)?.unwrap(), world, 1)?;
        save_step(&checkpoints, world, 3)?;
        is_step(&checkpoints.latest(world)?.unwrap(), world, 3)?;
        if std::env::var_os(SMALL).is_some() {
            full_in_each_file(&checkpoints, world, Path::new(&directory))?;
        }
        if world.rank() == 0 {
            println!("the disk was full: {full}");
        }
        Ok(())
    })
    .unwrap();
}

/// Fills a disk except for some pages.
fn fill(ballast: &Path, pages: u64) {
    let mut file = File::create(ballast).unwrap();
    let mut written = 0;
    while file.write_all(&[1; PAGE as usize]).is_ok() {
        written += PAGE;
    }
    file.set_len(written.saturating_sub(pages * PAGE)).unwrap();
}

/// The disk gets more free space for each save, so it is full in the cells, in the state, and in
/// the manifest.
fn full_in_each_file(checkpoints: &Checkpoints, world: &World, directory: &Path) -> Result<()> {
    let before = names(checkpoints.directory());
    let mut met = BTreeSet::new();
    for pages in 0..20 {
        world.barrier()?;
        if world.rank() == 0 {
            fill(&directory.join("ballast"), pages);
        }
        world.barrier()?;
        let Err(error) = save_step(checkpoints, world, 9) else { break };
        let error = error.to_string();
        assert!(error.contains("No space left"), "{error}");
        let files = [".cells: ", "state.msgpack: ", "manifest.json: "];
        met.extend(files.into_iter().filter(|file| error.contains(file)));
        world.barrier()?;
        assert_eq!(names(checkpoints.directory()), before);
    }
    assert_eq!(met.len(), 3, "{met:?}");
    is_step(&checkpoints.latest(world)?.unwrap(), world, 9)
}
