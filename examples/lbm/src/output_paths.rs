//! Checks before a run that its output files can be written.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use zippy::{Error, Result, World};

use crate::options::Options;

/// Checks that the folders of outputs exist and are writable. Rank 0 checks files, which it writes;
/// every rank checks directories. Collective.
///
/// # Errors
/// A folder that is missing or not writable; a file path that is a folder; one file for two
/// outputs. The error is the same on every rank.
pub(crate) fn check(world: &World, options: &Options) -> Result<()> {
    let inputs = &options.inputs;
    let output = options.output.clone().or_else(|| options.render.map(|_| PathBuf::from("flow.apng")));
    let picture_file = output.filter(|_| !options.pictures.view || options.output.is_some());
    let files = [("--output", picture_file), ("--forces", inputs.forces.clone()), ("--probes", inputs.probes.clone())];
    let directories = [("--checkpoint", &options.checkpoint), ("--fields", &options.fields)];
    let check_all = || -> Result<()> {
        let mut known: Vec<(&str, PathBuf)> = Vec::new();
        for (option, path) in files.iter().filter_map(|(option, path)| path.as_ref().map(|path| (*option, path))) {
            let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            if let Some((other, _)) = known.iter().find(|(_, other)| *other == absolute) {
                return Err(option_error(
                    option,
                    path,
                    &format!("{other} writes this file, too; give one of them another name"),
                ));
            }
            known.push((option, absolute));
            if world.rank() == 0 {
                check_file(option, path)?;
            }
        }
        directories.iter().try_for_each(|(option, path)| {
            path.as_ref().map_or(Ok(()), |path| check_directory(option, path, world.rank()))
        })
    };
    world.agree("checking the folders of outputs", check_all())
}

fn option_error(option: &str, path: &Path, message: &str) -> Error {
    Error::program(format!("{option} {}: {message}", path.display()))
}

fn check_file(option: &str, path: &Path) -> Result<()> {
    if path.is_dir() {
        return Err(option_error(option, path, "it is a folder; name a file in it"));
    }
    if path.is_file() {
        let opened = File::options().append(true).open(path);
        return opened.map(drop).map_err(|error| option_error(option, path, &format!("it cannot be written: {error}")));
    }
    if path.exists() {
        // Opening a pipe waits for its reader.
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder.is_dir() {
        return check_writable(option, path, folder, 0);
    }
    let message = if folder.exists() {
        format!("{} is not a folder", folder.display())
    } else {
        format!("the folder {} does not exist; make it first", folder.display())
    };
    Err(option_error(option, path, &message))
}

/// Checks a directory that is created with its parents if it is missing.
fn check_directory(option: &str, path: &Path, rank: usize) -> Result<()> {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let existing = absolute.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    if existing.is_dir() {
        check_writable(option, path, existing, rank)
    } else {
        Err(option_error(option, path, &format!("{} is a file, not a folder", existing.display())))
    }
}

/// Creates a file in a folder and removes it.
fn check_writable(option: &str, path: &Path, folder: &Path, rank: usize) -> Result<()> {
    let draft = folder.join(format!(".zippy-{}-{rank}", std::process::id()));
    let created = File::options().write(true).create_new(true).open(&draft).and_then(|_| fs::remove_file(&draft));
    created.map_err(|error| {
        option_error(option, path, &format!("the folder {} is not writable: {error}", folder.display()))
    })
}
