//! What is found missing.

use super::*;
use crate::machine::tests::Pretend;

#[cfg(unix)]
#[test]
fn a_bare_debian_misses_everything_for_mpi() {
    let bare = Pretend::new("setup-bare", Os::Linux).program("/usr/bin/apt-get").var("CARGO", "/usr/bin/cargo");
    let needs: Vec<Need> = missing(&bare.machine, MPI).into_iter().map(|(need, _)| need).collect();
    assert_eq!(needs, MPI);
}

#[cfg(unix)]
#[test]
fn what_is_there_is_not_missing() {
    let machine = Pretend::new("setup-some", Os::Linux)
        .program("/usr/bin/mpirun")
        .program("/usr/bin/gcc")
        .file("/usr/lib/llvm-14/lib/libclang.so.1", "");
    let needs: Vec<Need> = missing(&machine.machine, MPI).into_iter().map(|(need, _)| need).collect();
    assert_eq!(needs, [Need::Graphics, Need::MpiLibrary]);
}

#[cfg(unix)]
#[test]
fn components_are_looked_for_beside_cargo() {
    let machine = Pretend::new("setup-components", Os::Linux)
        .file("/toolchain/bin/cargo-fmt", "")
        .file("/toolchain/bin/rustfmt", "")
        .program("/usr/bin/Xvfb")
        .file("/usr/lib/libxkbcommon-x11.so.0", "")
        .var("CARGO", "/toolchain/bin/cargo");
    let needs: Vec<Need> = missing(&machine.machine, CHECKS).into_iter().map(|(need, _)| need).collect();
    assert_eq!(needs, [Need::Clippy]);
}
