//! MPI on this machine: which library programs are linked with, which launcher belongs to it, how to start ranks.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::Context;
use crate::machine::Machine;
use crate::process::output;

/// Libraries whose processes only their own launcher can join into one world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH and what is built on it: Intel MPI, MVAPICH, Cray.
    Mpich,
}

/// What launchers of a family print for `--version`.
const LAUNCHER_WORDS: [(Family, &[&str]); 2] = [
    (Family::OpenMpi, &["Open MPI", "open-mpi", "OpenRTE", "prterun", "PRRTE"]),
    (Family::Mpich, &["HYDRA", "Hydra", "MPICH", "mpich", "Intel(R) MPI", "MVAPICH"]),
];

/// Libraries of a family, as `ldd` or `otool -L` prints them. Open MPI has been libmpi.so.40 since version 3;
/// libmpi.so.12 is the name that the MPICH family agreed on.
const LIBRARY_WORDS: [(Family, &[&str]); 2] = [
    (Family::Mpich, &["libmpich.", "libmpi.so.12", "libmpi.12.dylib", "libmpi_cray", "libpmpi."]),
    (Family::OpenMpi, &["libmpi.so.40", "libmpi.40.dylib", "libopen-rte", "libopen-pal"]),
];

impl Family {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Family::OpenMpi => "Open MPI",
            Family::Mpich => "MPICH",
        }
    }

    /// The first family of which a text has a word.
    fn told_by(words: &[(Family, &[&str])], text: &str) -> Option<Self> {
        words.iter().find(|(_, words)| words.iter().any(|word| text.contains(word))).map(|(family, _)| *family)
    }
}

/// An MPI library and the launcher that belongs to it.
#[derive(Debug, Clone)]
pub struct Mpi {
    pub family: Family,
    pub compiler: PathBuf,
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
    output(Command::new(compiler).arg("-show")).ok().filter(|text| text.contains("-l")).ok_or(format!(
        "{} does not answer as an MPI compiler wrapper should (`-show` prints no libraries); is its -dev package complete?",
        compiler.display()
    ))
}

/// The family and the first line of `--version` of a launcher.
pub fn family_of_launcher(launcher: &Path) -> Option<(Family, String)> {
    let text = output(Command::new(launcher).arg("--version")).ok()?;
    let version = text.lines().find(|line| line.contains("Version:")).or(text.lines().next()).unwrap_or_default();
    let version = version.split_whitespace().collect::<Vec<_>>().join(" ");
    Family::told_by(&LAUNCHER_WORDS, &text).map(|family| (family, version))
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
    match Family::told_by(&LIBRARY_WORDS, &text) {
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

/// What Open MPI's launchers need in order to start ranks in containers, as root and on few cores.
const OPEN_MPI_SETTINGS: [(&str, &str); 10] = [
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
];

/// Sets in a command what launchers of a family need. Values that the user has set already are left alone.
pub fn prepare(context: &Context, family: Family, command: &mut Command) {
    let own: &[(&str, &str)] = if family == Family::OpenMpi { &OPEN_MPI_SETTINGS } else { &[] };
    // A layer of Mesa asks for a window system on every start of every rank.
    for (name, value) in [("NODEVICE_SELECT", "1")].iter().chain(own) {
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

#[cfg(test)]
#[path = "../tests/unit/mpi.rs"]
mod tests;
