//! `cargo xtask fuzz`: damaged files, stores, messages and recordings, read for minutes or hours.

use std::path::Path;

use crate::args::parse;
use crate::context::Context;
use crate::process::{exit_code, status};

const HELP: &str = "\
cargo xtask fuzz [OPTIONS]

Damages valid inputs and reads them in processes whose time and memory are watched. What panics, takes too long, holds more
memory than its length accounts for, or makes a message that speaks to the terminal is kept under target/fuzz/, and the exit
code is 1. Says of each target how many inputs there were, the slowest one and the one that held most memory. Needs a Vulkan
driver, which may be a software one, but no MPI and no nightly compiler.

  files        NRRD, NIfTI, VTI, NumPy, MetaImage, raw, scenes, transfer functions, key frames
  meshes       PLY, STL, OBJ, VTP, PVTP
  zarr         documents and chunks of Zarr stores
  checkpoints  manifests and cells of checkpoints
  messages     messages between programs and viewers, and greetings
  recordings   damaged recordings, and whole ones whose entries make no sense
  answers      answers to a viewer that make no sense

  --target NAME         one of these, again for several (default: all, one after the other)
  --minutes N           how long, all together, say 0.5 or 600 (default 1, or as long as --inputs take)
  --inputs N            so many inputs of each target
  --seed NUMBER         the same inputs again (default: others each time)
  --workers N           processes that read (default 1)
  --limit SECONDS       an input that takes longer is a finding (default 10)
  --replay DIR          reads the files of one finding instead
  --json                the result as one line of JSON
  --help                this text";

/// Runs the command.
pub fn run(arguments: &[String]) -> Result<u8, String> {
    if parse("fuzz", HELP, arguments)?.is_none() {
        return Ok(0);
    }
    let context = Context::new()?;
    // The profile of tests, which checks overflows and assertions.
    let program = context.program("bin", "zippy-fuzz", &["build", "--package", "zippy-fuzz"])?;
    let mut command = context.command(program);
    command.arg("--keep").arg(context.target().join("fuzz")).args(arguments);
    // Files in memory: several times as many inputs.
    if context.machine.var("TMPDIR").is_none() && Path::new("/dev/shm").is_dir() {
        command.env("TMPDIR", "/dev/shm");
    }
    status(&mut command).map(exit_code)
}
