//! Whether the binding fits the library.

use super::*;
use crate::machine::Os;
use crate::machine::tests::Pretend;

const OPEN_MPI: &str = "gcc -I/usr/lib/openmpi/include -L/usr/lib/openmpi/lib -lmpi\n";
const MPICH: &str = "gcc -Wl,-z,relro -I/usr/include/mpich -L/usr/lib/x86_64-linux-gnu -lmpich\n";
const BUILT: &str = "cargo:rerun-if-changed=src/rsmpi.c\ncargo:rustc-link-lib=static=rsmpi\n\
    cargo:rustc-link-search=native=/p/target/debug/build/mpi-sys-1/out\n\
    cargo:rustc-link-search=native=/usr/lib/openmpi/lib\ncargo:rustc-link-lib=mpi\n";

#[test]
fn a_binding_is_compared_with_the_wrapper() {
    assert_eq!(announced(BUILT), flags(OPEN_MPI));
    assert_ne!(announced(BUILT), flags(MPICH));
    assert_ne!(announced(BUILT), flags(&OPEN_MPI.replace("/usr/lib/openmpi/lib", "/opt/openmpi/lib")));
    assert_eq!(flags("icc \"-L/opt/intel/lib\" -L'/opt/intel/lib' -lmpi"), ["-L/opt/intel/lib", "-lmpi"]);
}

#[test]
fn every_build_of_the_binding_is_looked_at() {
    let machine = Pretend::new("binding", Os::Linux)
        .file("/p/build/mpi-sys-1/output", BUILT)
        .file("/p/build/mpi-sys-2/build-script-build", "")
        .file("/p/build/mpi-0/output", "other");
    assert_eq!(outputs(&machine.machine, Path::new("/p/build")), [BUILT]);
}
