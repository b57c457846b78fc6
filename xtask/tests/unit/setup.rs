//! What is found missing.

use super::*;
use crate::machine::tests::Pretend;
use crate::packages::{CHECKS, GRAPHICS};

/// The first words of what is said of each.
fn why(machine: &Pretend, needs: &[Need]) -> Vec<String> {
    let first = |why: &str| why.split([':', ' ']).take(3).collect::<Vec<_>>().join(" ");
    missing(&machine.machine, needs).iter().map(|(need, _)| first(need.why)).collect()
}

#[cfg(unix)]
#[test]
fn a_bare_debian_misses_everything_for_mpi() {
    let bare = Pretend::new("setup-bare", "linux").program("/usr/bin/apt-get").var("CARGO", "/usr/bin/cargo");
    assert_eq!(why(&bare, MPI), ["an MPI library", "libclang  the"]);
    assert_eq!(why(&bare, CHECKS), ["rustfmt and clippy", "a virtual X"]);
    assert_eq!(why(&bare, GRAPHICS), ["a Vulkan driver"]);
    assert!(told(&missing(&bare.machine, GRAPHICS)).contains("found: no Vulkan loader"));
}

#[cfg(unix)]
#[test]
fn what_is_there_is_not_missing() {
    let machine =
        Pretend::new("setup-some", "linux").program("/usr/bin/mpirun").file("/usr/lib/llvm-14/lib/libclang.so.1", "");
    assert_eq!(why(&machine, MPI), ["an MPI library"]);
}

#[cfg(unix)]
#[test]
fn cargo_is_asked_for_its_tools() {
    let machine = Pretend::new("setup-tools", "linux")
        .program("/usr/bin/Xvfb")
        .file("/usr/lib/libxkbcommon-x11.so.0", "")
        .script("/toolchain/bin/cargo", "#!/bin/sh\n[ $1 = fmt ]")
        .var("CARGO", "/toolchain/bin/cargo");
    assert_eq!(why(&machine, CHECKS), ["rustfmt and clippy"]);
    assert_eq!(why(&machine.program("/toolchain/bin/cargo"), CHECKS), [""; 0]);
}
