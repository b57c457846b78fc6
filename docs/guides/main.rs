//! Programs of the guides: `cargo run --release -p guides -- stencils` runs one of them.
#![forbid(unsafe_code)]
#![allow(unreachable_pub, reason = "the pages show the programs as parts of a package")]

mod checked;
mod first_program;
mod flow;
mod isosurfaces;
mod mpi;
mod particles;
mod reductions;
mod rendering;
mod restart;
mod slice;
mod stencils;
#[cfg(test)]
mod tests;

use zippy::Error;

/// Starts a program.
type Main = fn() -> zippy::Result<()>;

const PROGRAMS: [(&str, Main); 10] = [
    ("checked", checked::main),
    ("first_program", first_program::main),
    ("flow", flow::main),
    ("isosurfaces", isosurfaces::main),
    ("mpi", mpi::main),
    ("particles", particles::main),
    ("reductions", reductions::main),
    ("rendering", rendering::main),
    ("restart", restart::main),
    ("stencils", stencils::main),
];

fn main() -> zippy::Result<()> {
    let name = std::env::args().nth(1).unwrap_or_default();
    match PROGRAMS.iter().find(|(program, _)| *program == name) {
        Some((_, main)) => main(),
        None => {
            let names = PROGRAMS.map(|(program, _)| program).join(", ");
            Err(Error::program(format!("give the name of a program: {names}")))
        }
    }
}
