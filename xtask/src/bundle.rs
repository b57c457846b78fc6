//! `cargo xtask bundle`: one archive for tests and measurements on a machine without a toolchain.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::args::parse;
use crate::context::{BuiltProgram, Context};
use crate::packages::GRAPHICS;
use crate::process::{output, succeed};
use crate::setup;

const HELP: &str = "\
cargo xtask bundle [OPTIONS]

Builds the programs, the tests that use an adapter and the benchmarks, and packs them into one archive for machines
without a toolchain, a network or MPI, such as compute nodes. On that machine:

    tar -xf zippy-bundle-….tar.xz && zippy-bundle-…/run-all

That machine needs the C library of this machine or a later version, a Vulkan loader and a driver; `run-all` names missing
parts. Tests of MPI run if that machine has the same MPI library as this machine.

  --output FILE         the archive (default: target/bundle/zippy-bundle-VERSION-SYSTEM.tar.xz)
  --no-mpi              neither install MPI here nor build the program with it
{setup}";

/// Maximum size of the archive, in bytes.
const MAX_BYTES: u64 = 45_000_000;

/// Packages of [`PROGRAMS`]. The package `bundle` also has the tests.
const PACKAGES: [&str; 5] = ["bundle", "isosurface", "lbm", "volume", "zippy-debugger"];

/// Names of the binary targets in the archive.
const PROGRAMS: [&str; 6] = ["runner", "everything", "isosurface", "lbm", "volume", "zippy-debugger"];

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    let Some(parsed) = parse("bundle", HELP, arguments)? else { return Ok(0) };
    let context = setup::ready(GRAPHICS, !parsed.has("--no-mpi"), &parsed)?;
    say!("==> building the programs, the tests and the benchmarks (the first time this takes ten minutes and more)");
    let packages = PACKAGES.iter().flat_map(|name| ["--package", name]);
    let build = ["build", "--profile", "bundle", "--no-default-features", "--bins", "--test", "everything"];
    let built = context.build(&build.into_iter().chain(packages).collect::<Vec<_>>())?;
    let mut programs = Vec::new();
    for name in PROGRAMS {
        let program =
            built.iter().find(|program| program.name == name).with_context(|| format!("Cargo built no {name}"))?;
        programs.push((name, program.path.clone()));
    }
    if context.mpi.is_some() {
        say!("==> building the tests of the transport with MPI");
        let build =
            ["build", "--profile", "bundle", "--package", "zippy-ga", "--features", "mpi", "--test", "transport"];
        let built = context.build(&build)?;
        let transport = built.into_iter().find(|program: &BuiltProgram| program.name == "transport");
        programs.push(("transport-mpi", transport.context("Cargo built no transport")?.path));
    }
    let name =
        format!("zippy-bundle-{}-{}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
    let scratch = context.scratch("bundle")?;
    write_contents(&context, &scratch.join(&name), &programs)?;
    let archive = match parsed.get("--output") {
        Some(file) => std::path::absolute(file).with_context(|| file.to_owned())?,
        None => context.target().join("bundle").join(format!("{name}.tar.xz")),
    };
    let mut tar = context.command("tar");
    succeed(tar.arg("-cJf").arg(&archive).arg("-C").arg(&scratch).arg(&name), "tar")?;
    let bytes = archive.metadata().with_context(|| archive.display().to_string())?.len();
    if bytes > MAX_BYTES {
        bail!("{} has {bytes} bytes; the maximum is {MAX_BYTES}", archive.display());
    }
    say!("\nThe archive: {} ({:.1} MB)", archive.display(), bytes as f64 / 1e6);
    say!("  On a machine without a toolchain: tar -xf {name}.tar.xz && {name}/run-all --gpu");
    Ok(0)
}

/// Writes the contents of the archive to a directory: programs, manifest and the script `run-all`.
/// Deletes an existing directory first.
fn write_contents(context: &Context, directory: &Path, programs: &[(&str, PathBuf)]) -> Result<()> {
    let path_text = |path: &Path| path.display().to_string();
    let _ = std::fs::remove_dir_all(directory);
    let bin = directory.join("bin");
    std::fs::create_dir_all(&bin).with_context(|| path_text(&bin))?;
    let mut needed = (0, 0);
    for (name, path) in programs {
        let bytes = std::fs::read(path).with_context(|| path_text(path))?;
        needed = needed.max(needed_glibc(&bytes));
        std::fs::copy(path, bin.join(name)).with_context(|| path_text(path))?;
    }
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        std::fs::write(&path, text).with_context(|| path_text(&path))?;
        Ok::<PathBuf, anyhow::Error>(path)
    };
    let first_line = |command: &mut Command| output(command).ok()?.lines().next().map(String::from);
    let describe = ["describe", "--always", "--dirty"];
    let manifest = json!({
        "commit": first_line(context.command("git").current_dir(&context.root).args(describe)).unwrap_or("unknown".into()),
        "rustc": first_line(context.command("rustc").arg("--version")).unwrap_or("unknown".into()),
        "glibc": format!("{}.{}", needed.0, needed.1),
    });
    write("bundle.json", format!("{manifest:#}\n"))?;
    let (major, minor) = needed;
    let script = include_str!("../../bundle/run-all.sh")
        .replace("@MAJOR@", &major.to_string())
        .replace("@MINOR@", &minor.to_string())
        .replace("@MACHINE@", std::env::consts::ARCH);
    let script = write("run-all", script)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).with_context(|| path_text(&script))?;
    }
    Ok(())
}

/// Latest version of the GNU C library among the symbol versions of a program, such as
/// `GLIBC_2.34`.
fn needed_glibc(program: &[u8]) -> (u32, u32) {
    const PREFIX: &[u8] = b"GLIBC_";
    let number = |text: &[u8]| {
        let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
        Some((std::str::from_utf8(&text[..end]).ok()?.parse::<u32>().ok()?, end))
    };
    let version = |at: usize| {
        let (major, end) = number(&program[at..])?;
        let rest = program[at + end..].strip_prefix(b".")?;
        Some((major, number(rest)?.0))
    };
    let names = program.windows(PREFIX.len()).enumerate().filter(|(_, window)| *window == PREFIX);
    names.filter_map(|(at, _)| version(at + PREFIX.len())).max().unwrap_or((0, 0))
}

#[cfg(test)]
#[path = "../tests/unit/bundle.rs"]
mod tests;
