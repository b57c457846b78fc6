use super::*;
use crate::machine::tests::FakeMachine;
use crate::packages::{GRAPHICS, TOOLS, WINDOWS};

/// First three words of the description of each missing need.
fn missing_needs(machine: &FakeMachine, needs: &[Need]) -> Vec<String> {
    let first_words = |why: &str| why.split([':', ' ']).take(3).collect::<Vec<_>>().join(" ");
    missing(&machine.machine, needs).iter().map(|(need, _)| first_words(need.why)).collect()
}

#[cfg(unix)]
#[test]
fn all_needs_are_missing_on_bare_debian() {
    let bare = FakeMachine::new("setup-bare", "linux").program("/usr/bin/apt-get").var("CARGO", "/usr/bin/cargo");
    assert_eq!(missing_needs(&bare, MPI), ["an MPI library", "libclang  the"]);
    assert_eq!(missing_needs(&bare, TOOLS), ["rustfmt and clippy"]);
    assert_eq!(missing_needs(&bare, WINDOWS), ["a virtual X"]);
    assert_eq!(missing_needs(&bare, GRAPHICS), ["a Vulkan driver"]);
    assert!(describe(&missing(&bare.machine, GRAPHICS)).contains("found: no Vulkan loader"));
}

#[cfg(unix)]
#[test]
fn present_libclang_is_not_missing() {
    let machine = FakeMachine::new("setup-some", "linux")
        .program("/usr/bin/mpirun")
        .file("/usr/lib/llvm-14/lib/libclang.so.1", "");
    assert_eq!(missing_needs(&machine, MPI), ["an MPI library"]);
}

#[cfg(unix)]
#[test]
fn rustfmt_and_clippy_are_missing_if_one_subcommand_of_cargo_fails() {
    let machine = FakeMachine::new("setup-tools", "linux")
        .script("/toolchain/bin/cargo", "#!/bin/sh\n[ $1 = fmt ]")
        .var("CARGO", "/toolchain/bin/cargo");
    assert_eq!(missing_needs(&machine, TOOLS), ["rustfmt and clippy"]);
    assert_eq!(missing_needs(&machine.program("/toolchain/bin/cargo"), TOOLS), [""; 0]);
}

#[cfg(unix)]
#[test]
fn virtual_screen_is_missing_without_its_library() {
    let machine = FakeMachine::new("setup-screen", "linux").program("/usr/bin/Xvfb");
    assert_eq!(missing_needs(&machine, WINDOWS), ["a virtual X"]);
    assert_eq!(missing_needs(&machine.file("/usr/lib/libxkbcommon-x11.so.0", ""), WINDOWS), [""; 0]);
}
