//! `cargo xtask demo`: volume rendering on a bare machine, up to a picture.

use anyhow::Result;

use crate::args::parse;
use crate::process::{exit_code, spell_out, status};
use crate::{ranks, setup};

const HELP: &str = "\
cargo xtask demo [OPTIONS]

Builds the volume renderer and runs it: the ranks share the volume, each rank casts rays through its own chunk, on the GPU
or, without a GPU, on the processor, and the partial images are composited into one picture. The demo also renders the
picture on one rank, and compares both. Neither a driver nor MPI is needed.

  --ranks N             number of ranks, as threads of one process (default 4)
  --input FILE          a scanned volume: NRRD, NIfTI, VTI, NumPy or MetaImage (default: a generated phantom)
  --size WxH            size of the picture (default 512x512)
{setup}";

pub(crate) fn run(arguments: &[String]) -> Result<u8> {
    let Some(parsed) = parse("demo", HELP, arguments)? else { return Ok(0) };
    let ranks = ranks::count(parsed.get("--ranks").unwrap_or("4"))?.to_string();
    let context = setup::ready(&[], false, &parsed)?;
    say!("==> building the program `volume`, without its window (the first time this takes some minutes)");
    let build = ["build", "--release", "--package", "volume", "--no-default-features"];
    let program = context.program("bin", "volume", &build)?;
    let picture = context.scratch("demo")?.join("volume.png");
    let mut command = context.command(program);
    command.args(["--ranks", &ranks, "--size", parsed.get("--size").unwrap_or("512x512"), "--compare-single"]);
    command.arg("--output").arg(&picture);
    command.args(parsed.get("--input").into_iter().flat_map(|input| ["--input", input]));
    say!("==> {}", spell_out(&command));
    let status = status(&mut command)?;
    if !status.success() {
        say!(
            "\nThe renderer failed. These commands check this machine for the reason:\n  \
             cargo build --release --example doctor --example hello\n  cargo xtask doctor"
        );
        return Ok(exit_code(status));
    }
    let volume = parsed.get("--input").unwrap_or("a generated phantom");
    say!(
        "
The picture:  {}
  It shows {volume}. Each of {ranks} ranks cast rays through its own chunk of a global array; the partial images are composited.

Next commands to try:
  cargo xtask demo --input SCAN.nrrd              a scan of your own
  cargo xtask mpi -n {ranks} -p volume -- --size 512x512 --output volume.png
                                                  the same program as {ranks} processes under MPI
  cargo run --release --example listings          the three listings of the paper
  cargo xtask test                                all tests and examples of the project",
        picture.display()
    );
    Ok(0)
}
