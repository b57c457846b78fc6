//! Which launcher and which library belong together.

use super::*;

#[test]
fn launchers_are_told_apart() {
    for (text, family) in [
        ("mpirun (Open MPI) 4.1.4\n", Some(Family::OpenMpi)),
        ("prterun (PRRTE) 3.0.2\n", Some(Family::OpenMpi)),
        ("HYDRA build details:\n    Version:   4.0.2\n", Some(Family::Mpich)),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9\n", Some(Family::Mpich)),
        ("something else", None),
    ] {
        assert_eq!(Family::told_by(&LAUNCHER_WORDS, text), family, "{text}");
    }
}

#[test]
fn linked_libraries_are_told_apart() {
    for (text, family) in [
        ("\tlibmpi.so.40 => /lib/x86_64-linux-gnu/libmpi.so.40 (0x7f)", Some(Family::OpenMpi)),
        ("\t/opt/homebrew/opt/open-mpi/lib/libmpi.40.dylib (…)", Some(Family::OpenMpi)),
        ("\tlibmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x7f)", Some(Family::Mpich)),
        ("\tlibmpi.so.12 => /opt/intel/mpi/lib/libmpi.so.12 (0x7f)", Some(Family::Mpich)),
        ("\tlibc.so.6 => /lib/libc.so.6", None),
    ] {
        assert_eq!(Family::told_by(&LIBRARY_WORDS, text), family, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn launchers_beside_the_compiler_come_first() {
    use crate::machine::{Os, tests::Pretend};
    let machine = Pretend::new("launchers", Os::Linux)
        .program("/usr/bin/mpirun")
        .program("/usr/bin/mpirun.mpich")
        .program("/usr/bin/mpicc")
        .program("/opt/mpich/bin/mpicc")
        .program("/opt/mpich/bin/mpiexec");
    let found = |machine: &Machine| -> Vec<String> {
        launchers(machine).iter().map(|path| path.display().to_string()).collect()
    };
    assert_eq!(found(&machine.machine), ["/usr/bin/mpirun", "/usr/bin/mpirun.mpich"]);
    let chosen = machine.var("MPICC", "/opt/mpich/bin/mpicc");
    assert_eq!(found(&chosen.machine), ["/opt/mpich/bin/mpiexec", "/usr/bin/mpirun", "/usr/bin/mpirun.mpich"]);
    let named = chosen.var("ZIPPY_MPIRUN", "mpirun.mpich");
    assert_eq!(found(&named.machine), ["/usr/bin/mpirun.mpich"]);
    assert!(found(&named.var("ZIPPY_MPIRUN", "srun").machine).is_empty());
}

#[test]
fn a_mismatch_names_both_sides() {
    let others = ["/usr/bin/mpirun belongs to MPICH".to_string()];
    let text = mismatch(Family::OpenMpi, Path::new("/usr/bin/mpicc"), &others);
    assert!(text.contains("/usr/bin/mpicc builds for Open MPI") && text.contains("belongs to MPICH"), "{text}");
    assert!(mismatch(Family::Mpich, Path::new("m"), &[]).contains("no launcher at all"));
}
