//! Checks before a run that its output files can be written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use zippy::{Error, Result, World};

use crate::options::Options;

/// Checks that folders of outputs are there and can be written: those of files, and those in which
/// directories are made. Rank 0 checks files, which it writes, and every rank checks directories.
/// Collective.
///
/// # Errors
/// The same on every rank: a folder that is missing or cannot be written, a file that is a folder,
/// one file for two outputs.
pub fn check(world: &World, options: &Options) -> Result<()> {
    let inputs = &options.inputs;
    let output = options.output.clone().or_else(|| options.render.map(|_| PathBuf::from("flow.apng")));
    let pictures = output.filter(|_| !options.showing.view || options.output.is_some());
    let files = [("--output", pictures), ("--forces", inputs.forces.clone()), ("--probes", inputs.probes.clone())];
    let directories = [("--checkpoint", &options.checkpoint), ("--fields", &options.fields)];
    let look = || -> Result<()> {
        let mut known: Vec<(&str, PathBuf)> = Vec::new();
        for (option, path) in files.iter().filter_map(|(option, path)| path.as_ref().map(|path| (*option, path))) {
            let whole = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            if let Some((other, _)) = known.iter().find(|(_, other)| *other == whole) {
                return Err(wrong(
                    option,
                    path,
                    &format!("{other} writes this file, too; give one of them another name"),
                ));
            }
            known.push((option, whole));
            if world.rank() == 0 {
                file(option, path)?;
            }
        }
        directories
            .iter()
            .try_for_each(|(option, path)| path.as_ref().map_or(Ok(()), |path| directory(option, path, world.rank())))
    };
    world.agree("looking at the folders of outputs", look())
}

fn wrong(option: &str, path: &Path, what: &str) -> Error {
    Error::program(format!("{option} {}: {what}", path.display()))
}

fn file(option: &str, path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(wrong(option, path, "it is a folder; name a file in it"));
    }
    if path.is_file() {
        let opened = File::options().append(true).open(path);
        return opened.map(drop).map_err(|error| wrong(option, path, &format!("it cannot be written: {error}")));
    }
    if path.exists() {
        // Opening a pipe waits for its reader.
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.is_dir() {
        true => writable(option, path, folder, 0),
        false if folder.exists() => Err(wrong(option, path, &format!("{} is no folder", folder.display()))),
        false => {
            let what = format!("the folder {} does not exist; make it first", folder.display());
            Err(wrong(option, path, &what))
        }
    }
}

/// One that is made where it is missing, with the folders above it.
fn directory(option: &str, path: &Path, rank: usize) -> Result<()> {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let there = whole.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    match there.is_dir() {
        true => writable(option, path, there, rank),
        false => Err(wrong(option, path, &format!("{} is a file, not a folder", there.display()))),
    }
}

/// Makes a file in a folder and removes it.
fn writable(option: &str, path: &Path, folder: &Path, rank: usize) -> Result<()> {
    let draft = folder.join(format!(".zippy-{}-{rank}", std::process::id()));
    let made = File::options().write(true).create_new(true).open(&draft).and_then(|_| fs::remove_file(&draft));
    made.map_err(|error| {
        wrong(option, path, &format!("nothing can be written into the folder {}: {error}", folder.display()))
    })
}
