use super::*;
use crate::machine::tests::FakeMachine;

#[test]
fn family_of_launcher_follows_from_version_text() {
    for (text, family) in [
        ("mpirun (Open MPI) 4.1.4\n", Some(&OPEN_MPI)),
        ("prterun (PRRTE) 3.0.2\n", Some(&OPEN_MPI)),
        ("HYDRA build details:\n    Version:   4.0.2\n", Some(&MPICH)),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.9\n", Some(&MPICH)),
        ("something else", None),
    ] {
        assert_eq!(family_in_text(text, |family| family.launchers), family, "{text}");
    }
}

#[test]
fn family_of_program_follows_from_linked_libraries() {
    for (text, family) in [
        ("\tlibmpi.so.40 => /lib/x86_64-linux-gnu/libmpi.so.40 (0x7f)", Some(&OPEN_MPI)),
        ("\t/opt/homebrew/opt/open-mpi/lib/libmpi.40.dylib (…)", Some(&OPEN_MPI)),
        ("\tlibmpich.so.12 => /lib/x86_64-linux-gnu/libmpich.so.12 (0x7f)", Some(&MPICH)),
        ("\tlibmpi.so.12 => /opt/intel/mpi/lib/libmpi.so.12 (0x7f)", Some(&MPICH)),
        ("\tlibmpi.so.12 => /opt/open-mpi-and-others/libmpi.so.12 (0x7f)", Some(&MPICH)),
        ("\tlibc.so.6 => /lib/libc.so.6", None),
    ] {
        assert_eq!(family_in_text(text, |family| family.libraries), family, "{text}");
    }
}

#[cfg(unix)]
#[test]
fn launchers_next_to_the_compiler_come_first() {
    let machine = FakeMachine::new("launchers", "linux")
        .program("/usr/bin/mpirun")
        .program("/usr/bin/mpirun.mpich")
        .program("/usr/bin/mpicc")
        .program("/opt/mpich/bin/mpicc")
        .program("/opt/mpich/bin/mpiexec");
    let found = |machine: &InspectedMachine| -> Vec<String> {
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
fn find_selects_launcher_of_the_library() {
    let machine = FakeMachine::new("chosen", "linux")
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
    assert_eq!(check_complete(&machine.machine), Ok(()));
}

#[cfg(unix)]
#[test]
fn mismatch_of_library_and_launcher_names_both() {
    let without_launcher = FakeMachine::new("without_launcher", "linux").script("/usr/bin/mpicc", OPEN_MPI_WRAPPER);
    assert!(find(&without_launcher.machine).unwrap_err().to_string().contains("no launcher at all"));
    assert_eq!(check_complete(&without_launcher.machine), Err(Some(&OPEN_MPI)));
    let foreign = without_launcher.script("/usr/bin/mpirun", MPICH_LAUNCHER).program("/usr/bin/mpiexec");
    let text = find(&foreign.machine).unwrap_err().to_string();
    for part in
        ["/usr/bin/mpicc builds for Open MPI", "/usr/bin/mpirun belongs to MPICH", "mpiexec is of no known family"]
    {
        assert!(text.contains(part), "{text}");
    }
    let broken = foreign.program("/usr/bin/mpicc");
    assert!(find(&broken.machine).unwrap_err().to_string().contains("-dev package"));
}

#[cfg(unix)]
#[test]
fn incomplete_mpi_returns_family_of_present_part() {
    let bare = FakeMachine::new("family", "linux");
    assert_eq!(check_complete(&bare.machine), Err(None));
    let launcher = bare.script("/usr/bin/mpiexec", MPICH_LAUNCHER);
    assert_eq!(check_complete(&launcher.machine), Err(Some(&MPICH)));
}
