//! `cargo xtask fuzz`: builds and starts the fuzzer, which reads damaged files, stores, messages
//! and recordings.

use std::path::Path;

use anyhow::Result;

use crate::args::parse;
use crate::context::Context;
use crate::process::{exit_code, status};

const HELP: &str = "\
cargo xtask fuzz [OPTIONS]

Damages valid inputs and reads them in worker processes with limits of time and memory. An input is a finding if it
causes a panic, takes too long, needs more memory than its length justifies, or causes an error message that is too long
or has control characters. Findings are kept under target/fuzz/, and the exit code is 1. For each target the command
prints the number of inputs, the slowest input and the input that needed most memory. Needs a Vulkan driver (a software
driver suffices), but no MPI and no nightly compiler.

  files        NRRD, NIfTI, VTI, NumPy, MetaImage, raw, scenes, transfer functions, key frames
  meshes       PLY, STL, OBJ, VTP, PVTP
  zarr         documents and chunks of Zarr stores
  checkpoints  manifests and cells of checkpoints
  messages     messages between programs and viewers, and greetings
  recordings   damaged recordings, and well-formed recordings with invalid values
  answers      well-formed answers to a viewer with invalid values

  --target NAME         read this target only (may be repeated; default: all, one after the other)
  --minutes N           duration of the whole run, such as 0.5 or 600 (default 1; with --inputs, no limit)
  --inputs N            number of inputs of each target
  --seed NUMBER         seed of the inputs: the same seed gives the same inputs (default: the time)
  --workers N           number of worker processes (default 1)
  --limit SECONDS       time limit of an input; a longer time is a finding (default 10)
  --replay DIR          read the files of one finding instead
  --json                print the result as one line of JSON
  --help                print this text";

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    if parse("fuzz", HELP, arguments)?.is_none() {
        return Ok(0);
    }
    let context = Context::new()?;
    // The profile `dev` checks overflows and debug assertions.
    let program = context.program("bin", "zippy-fuzz", &["build", "--package", "zippy-fuzz"])?;
    let mut command = context.command(program);
    command.arg("--keep").arg(context.target().join("fuzz")).args(arguments);
    // A file system in memory makes several times as many inputs per second.
    if context.machine.var("TMPDIR").is_none() && Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
    status(&mut command).map(exit_code)
}
