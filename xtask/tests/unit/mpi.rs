//! Which launcher and which library belong together.

use super::*;
use crate::machine::tests::Pretend;

#[test]
fn launchers_are_told_apart() {
    for (text, family) in [
        ("mpirun (Open MPI) 4.1.4\n", Some(&OPEN_MPI)),
        ("prterun (PRRTE) 3.0.2\n", Some(&OPEN_MPI)),
        ("HYDRA build details:\n    Version:   4.0.2\n", Some(&MPICH)),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9\n", Some(&MPICH)),
        ("something else", None),
    ] {
        assert_eq!(told_by(text, |family| family.launchers), family, "{text}");
    }
}

#[test]
fn linked_libraries_are_told_apart() {
    for (text, family) in [
        ("\tlibmpi.so.40 => /lib/x86_64-linux-gnu/libmpi.so.40 (0x7f)", Some(&OPEN_MPI)),
        ("\t/opt/homebrew/opt/open-mpi/lib/libmpi.40.dylib (…)", Some(&OPEN_MPI)),
        ("\tlibmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x7f)", Some(&MPICH)),
        ("\tlibmpi.so.12 => /opt/intel/mpi/lib/libmpi.so.12 (0x7f)", Some(&MPICH)),
        ("\tlibmpi.so.12 => /opt/open-mpi-and-others/libmpi.so.12 (0x7f)", Some(&MPICH)),
        ("\tlibc.so.6 => /lib/libc.so.6", None),
    ] {
        assert_eq!(told_by(text, |family| family.libraries), family, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn launchers_beside_the_compiler_come_first() {
    let machine = Pretend::new("launchers", "linux")
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

const OPEN_MPI_WRAPPER: &str = "#!/bin/sh\n[ $1 = -show ] && echo gcc -lmpi || echo mpicc: Open MPI 4.1.4";
const MPICH_WRAPPER: &str = "#!/bin/sh\n[ $1 = -show ] && echo gcc -lmpich";
const OPEN_MPI_LAUNCHER: &str = "#!/bin/sh\necho 'mpirun (Open MPI)   4.1.4'";
const MPICH_LAUNCHER: &str = "#!/bin/sh\necho HYDRA build details:\necho '    Version:    4.0.2'";

#[cfg(unix)]
#[test]
fn the_launcher_of_the_library_is_chosen() {
    let machine = Pretend::new("chosen", "linux")
        .script("/usr/bin/mpicc", MPICH_WRAPPER)
        .script("/usr/bin/mpirun", OPEN_MPI_LAUNCHER)
        .script("/usr/bin/mpiexec.mpich", MPICH_LAUNCHER);
    let mpi = find(&machine.machine).unwrap();
    assert_eq!(
        (mpi.family, mpi.launcher, mpi.version),
        (&MPICH, "/usr/bin/mpiexec.mpich".into(), "Version: 4.0.2".into())
    );
    let machine = machine.script("/usr/bin/mpicc", OPEN_MPI_WRAPPER);
    let mpi = find(&machine.machine).unwrap();
    assert_eq!((mpi.family, mpi.version.as_str()), (&OPEN_MPI, "mpirun (Open MPI) 4.1.4"));
    assert_eq!(whole(&machine.machine), Ok(()));
}

#[cfg(unix)]
#[test]
fn a_mismatch_names_both_sides() {
    let lonely = Pretend::new("lonely", "linux").script("/usr/bin/mpicc", OPEN_MPI_WRAPPER);
    assert!(find(&lonely.machine).unwrap_err().contains("no launcher at all"));
    assert_eq!(whole(&lonely.machine), Err(Some(&OPEN_MPI)));
    let foreign = lonely.script("/usr/bin/mpirun", MPICH_LAUNCHER).program("/usr/bin/mpiexec");
    let text = find(&foreign.machine).unwrap_err();
    for part in
        ["/usr/bin/mpicc builds for Open MPI", "/usr/bin/mpirun belongs to MPICH", "mpiexec is of no known family"]
    {
        assert!(text.contains(part), "{text}");
    }
    let broken = foreign.program("/usr/bin/mpicc");
    assert!(find(&broken.machine).unwrap_err().contains("-dev package"));
}

#[cfg(unix)]
#[test]
fn what_is_here_of_mpi_has_a_family() {
    let bare = Pretend::new("family", "linux");
    assert_eq!(whole(&bare.machine), Err(None));
    let launcher = bare.script("/usr/bin/mpiexec", MPICH_LAUNCHER);
    assert_eq!(whole(&launcher.machine), Err(Some(&MPICH)));
}

#[test]
fn another_wrapper_is_noticed() {
    let machine = Pretend::new("wrapper", "linux");
    let (target, note) = (machine.machine.at("/target"), machine.machine.at("/wrapper"));
    assert!(!other(&target, &note, "-lmpi"), "nothing was built");
    std::fs::create_dir_all(target.join("release/build/mpi-sys-12ab")).unwrap();
    assert!(other(&target, &note, "-lmpi"), "built by nobody knows what");
    std::fs::write(&note, "-lmpi").unwrap();
    assert!(!other(&target, &note, "-lmpi") && other(&target, &note, "-lmpich"));
}
