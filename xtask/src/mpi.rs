//! MPI on this machine: which library programs are linked with, which launcher belongs to it, how to start ranks.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binding;
use crate::context::Context;
use crate::machine::Machine;

/// Libraries whose processes only their own launcher can join into one world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH and what is built on it: Intel MPI, MVAPICH, Cray.
    Mpich,
}

impl Family {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
        }
    }

    /// Of a launcher, from what it prints for `--version`.
    pub fn of_launcher(text: &str) -> Option<Self> {
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["Open MPI", "open-mpi", "OpenRTE", "prterun", "PRRTE"]) {
            Some(Family::OpenMpi)
        } else if has(&["HYDRA", "Hydra", "MPICH", "mpich", "Intel(R) MPI", "MVAPICH"]) {
            Some(Family::Mpich)
        } else {
            None
        }
    }

    /// Of the libraries that a program is linked with, as `ldd` or `otool -L` prints them.
    pub fn of_linked(text: &str) -> Option<Self> {
        // Open MPI has been libmpi.so.40 since version 3; libmpi.so.12 is the name that the MPICH family agreed on.
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if has(&["libmpich.", "libmpi.so.12", "libmpi.12.dylib", "libmpi_cray", "libpmpi."]) {
            Some(Family::Mpich)
        } else if has(&["libmpi.so.40", "libmpi.40.dylib", "libopen-rte", "libopen-pal"]) {
            Some(Family::OpenMpi)
        } else {
            None
        }
    }
}

/// An MPI library and the launcher that belongs to it.
#[derive(Debug, Clone)]
pub struct Mpi {
    /// The family of both.
    pub family: Family,
    /// The compiler wrapper.
    pub compiler: PathBuf,
    /// The launcher.
    pub launcher: PathBuf,
    /// What the launcher says about itself.
    pub version: String,
}

/// The compiler wrapper that the MPI binding will use.
pub fn compiler(machine: &Machine) -> Option<PathBuf> {
    machine.which(machine.var("MPICC").unwrap_or("mpicc"))
}

const LAUNCHERS: [&str; 7] =
    ["mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"];

/// Every launcher that can be found, in the order in which they are tried: the one that `ZIPPY_MPIRUN` names and no
/// other, or those beside the compiler wrapper, then those on the search path, the unqualified names first.
pub fn launchers(machine: &Machine) -> Vec<PathBuf> {
    if let Some(named) = machine.var("ZIPPY_MPIRUN") {
        return machine.which(named).into_iter().collect();
    }
    let beside = compiler(machine).and_then(|compiler| Some(compiler.parent()?.to_path_buf()));
    let beside = beside.iter().flat_map(|bin| LAUNCHERS.map(|name| bin.join(name).display().to_string()));
    let mut found = Vec::new();
    for launcher in beside.chain(LAUNCHERS.map(String::from)).filter_map(|name| machine.which(&name)) {
        if !found.contains(&launcher) {
            found.push(launcher);
        }
    }
    found
}

/// The family of the library behind a compiler wrapper.
pub fn family_of_compiler(compiler: &Path) -> Result<Family, String> {
    let open_mpi = output(Command::new(compiler).arg("--showme:version")).unwrap_or_default();
    if open_mpi.contains("Open MPI") {
        return Ok(Family::OpenMpi);
    }
    // Every wrapper of the MPICH family, and no Open MPI one of a known version, gets here with link flags in hand.
    link_line(compiler).map(|_| Family::Mpich)
}

/// The compiler command that a wrapper stands for.
pub fn link_line(compiler: &Path) -> Result<String, String> {
    output(Command::new(compiler).arg("-show")).filter(|text| text.contains("-l")).ok_or(format!(
        "{} does not answer as an MPI compiler wrapper should (`-show` prints no libraries); is its -dev package complete?",
        compiler.display()
    ))
}

/// The family and the first line of `--version` of a launcher.
pub fn family_of_launcher(launcher: &Path) -> Option<(Family, String)> {
    let text = output(Command::new(launcher).arg("--version"))?;
    let version = text.lines().find(|line| line.contains("Version:")).or(text.lines().next()).unwrap_or_default();
    let version = version.split_whitespace().collect::<Vec<_>>().join(" ");
    Family::of_launcher(&text).map(|family| (family, version))
}

/// Finds the library and the launcher that belongs to it, or says what does not fit.
pub fn find(context: &Context) -> Result<Mpi, String> {
    let compiler = compiler(&context.machine).ok_or("there is no mpicc on the search path (and MPICC is not set)")?;
    let family = family_of_compiler(&compiler)?;
    let mut others = Vec::new();
    for launcher in launchers(&context.machine) {
        match family_of_launcher(&launcher) {
            Some((found, version)) if found == family => return Ok(Mpi { family, compiler, launcher, version }),
            Some((found, _)) => others.push(format!("{} belongs to {}", launcher.display(), found.name())),
            None => others.push(format!("{} is of no known family", launcher.display())),
        }
    }
    Err(mismatch(family, &compiler, &others))
}

/// [`find`], and the binding will be built for what was found.
pub fn ready(context: &Context) -> Result<Mpi, String> {
    let mpi = find(context)?;
    binding::refresh(context, &mpi)?;
    Ok(mpi)
}

fn mismatch(family: Family, compiler: &Path, others: &[String]) -> String {
    let found = if others.is_empty() { "there is no launcher at all".into() } else { others.join("; ") };
    format!(
        "{} builds for {name}, but {found}. A foreign launcher would start N separate worlds of one rank. Install the \
         launcher of {name}, name it in ZIPPY_MPIRUN, or point MPICC at the compiler wrapper of the launcher you have.",
        compiler.display(),
        name = family.name(),
    )
}

/// Refuses a program that is linked with another library than the launcher's.
pub fn check_linked(mpi: &Mpi, program: &Path) -> Result<(), String> {
    let lister: &[&str] = if cfg!(target_os = "macos") { &["otool", "-L"] } else { &["ldd"] };
    let text = output(Command::new(lister[0]).args(&lister[1..]).arg(program)).unwrap_or_default();
    match Family::of_linked(&text) {
        Some(linked) if linked != mpi.family => Err(format!(
            "{} is linked with {}, but {} belongs to {}. The MPI binding is not rebuilt when the compiler wrapper changes: \
             run `cargo clean -p mpi-sys`, then this again.",
            program.display(),
            linked.name(),
            mpi.launcher.display(),
            mpi.family.name(),
        )),
        _ => Ok(()),
    }
}

/// What the launchers need in order to start ranks in containers, as root and on few cores. Values that the user has
/// set already are left alone.
pub fn environment(family: Family) -> Vec<(&'static str, &'static str)> {
    // A layer of Mesa asks for a window system on every start of every rank.
    let common = [("NODEVICE_SELECT", "1")];
    let own: &[(&str, &str)] = match family {
        Family::Mpich => &[],
        Family::OpenMpi => &[
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
            ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
            ("OMPI_MCA_mpi_yield_when_idle", "1"),
            // A software GPU runs one rank's kernels on many threads; a rank bound to one core would starve them.
            ("OMPI_MCA_hwloc_base_binding_policy", "none"),
            ("PRTE_MCA_hwloc_default_binding_policy", "none"),
            // Containers forbid ptrace, on which the single-copy path depends.
            ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
        ],
    };
    common.iter().chain(own).copied().collect()
}

/// Sets in a command what [`environment`] says and the user does not.
pub fn prepare(context: &Context, family: Family, command: &mut Command) {
    for (name, value) in environment(family) {
        if context.machine.var(name).is_none() {
            command.env(name, value);
        }
    }
}

/// A command that runs a program on N ranks.
pub fn command(context: &Context, mpi: &Mpi, ranks: usize, program: &Path) -> Command {
    let mut command = context.command(&mpi.launcher);
    prepare(context, mpi.family, &mut command);
    // A launcher started from inside another would take this process for one of its ranks.
    for name in ["ZIPPY_RANKS", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK"] {
        command.env_remove(name);
    }
    command.arg("-n").arg(ranks.to_string()).arg(program);
    command
}

/// The standard output of a command that succeeds.
fn output(command: &mut Command) -> Option<String> {
    let output = command.stdin(std::process::Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
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
            assert_eq!(Family::of_launcher(text), family, "{text}");
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
            assert_eq!(Family::of_linked(text), family, "{text}");
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
}
