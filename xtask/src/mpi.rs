//! MPI on this machine: the library that programs are linked with, the launcher of that library,
//! and the start of ranks.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow};

use crate::machine::InspectedMachine;
use crate::process::output;

/// A family of MPI libraries with a common launcher protocol. Only a launcher of the same family
/// can start processes in one world.
#[derive(Debug, PartialEq)]
pub(crate) struct MpiFamily {
    /// Name for messages.
    pub name: &'static str,
    /// Words in the output of `--version` of its launchers.
    launchers: &'static [&'static str],
    /// Parts of the file names of its libraries, as in the output of `ldd` and `otool -L`.
    libraries: &'static [&'static str],
    /// Environment variables that its launchers need to start ranks in containers, as root and on
    /// few cores.
    settings: &'static [(&'static str, &'static str)],
}

/// Open MPI from version 3 on, with the library libmpi.so.40.
pub(crate) static OPEN_MPI: MpiFamily = MpiFamily {
    name: "Open MPI",
    launchers: &["Open MPI", "open-mpi", "OpenRTE", "prterun", "PRRTE"],
    libraries: &["libmpi.so.40", "libmpi.40.dylib"],
    settings: &[
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
        ("OMPI_MCA_mpi_yield_when_idle", "1"),
        // The kernels of a rank run on many threads of the host; binding would put all on one core.
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        // Containers forbid ptrace, which copies between processes require.
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ],
};

/// MPICH and its derivatives: Intel MPI, MVAPICH and Cray MPICH. Their common library name is
/// libmpi.so.12.
pub(crate) static MPICH: MpiFamily = MpiFamily {
    name: "MPICH",
    launchers: &["HYDRA", "Hydra", "MPICH", "mpich", "Intel(R) MPI", "MVAPICH"],
    libraries: &["libmpich.", "libmpi.so.12", "libmpi.12.", "libmpi_cray"],
    settings: &[],
};

/// Finds the MPI family with its words in the output of a program.
fn family_in_text(text: &str, words: fn(&MpiFamily) -> &[&str]) -> Option<&'static MpiFamily> {
    [&OPEN_MPI, &MPICH].into_iter().find(|family| words(family).iter().any(|word| text.contains(word)))
}

/// An MPI installation: compiler wrapper and launcher of one family.
#[derive(Debug)]
pub(crate) struct Mpi {
    pub family: &'static MpiFamily,
    pub compiler: PathBuf,
    pub launcher: PathBuf,
    /// Version line of the launcher.
    pub version: String,
}

/// Compiler wrapper that the build of the MPI binding uses: `MPICC`, else `mpicc`.
pub(crate) fn compiler(machine: &InspectedMachine) -> Option<PathBuf> {
    machine.which(machine.var("MPICC").unwrap_or("mpicc"))
}

const LAUNCHER_NAMES: [&str; 7] =
    ["mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi", "mpirun.mpich", "mpiexec.mpich", "mpiexec.hydra"];

/// Launchers on this machine, in the order of preference. If `ZIPPY_MPIRUN` is set, only that
/// launcher. Else first the launchers in the directory of the compiler wrapper, then those on the
/// search path; unqualified names come first.
fn launchers(machine: &InspectedMachine) -> Vec<PathBuf> {
    if let Some(named) = machine.var("ZIPPY_MPIRUN") {
        return machine.which(named).into_iter().collect();
    }
    let compiler = compiler(machine);
    let bin = compiler.as_deref().and_then(Path::parent);
    let next_to_compiler = LAUNCHER_NAMES.iter().filter_map(|name| machine.which(&bin?.join(name).to_string_lossy()));
    let on_path = LAUNCHER_NAMES.iter().filter_map(|name| machine.which(name));
    let mut known = HashSet::new();
    next_to_compiler.chain(on_path).filter(|launcher| known.insert(launcher.clone())).collect()
}

/// Family of the MPI library of a compiler wrapper.
fn family_of_compiler(compiler: &Path) -> Result<&'static MpiFamily> {
    let open_mpi = output(Command::new(compiler).arg("--showme:version")).unwrap_or_default();
    // Wrappers of other families do not know this option; most belong to MPICH.
    if open_mpi.contains("Open MPI") { Ok(&OPEN_MPI) } else { link_line(compiler).map(|_| &MPICH) }
}

/// Compiler command of a compiler wrapper, with its link flags.
pub(crate) fn link_line(compiler: &Path) -> Result<String> {
    output(Command::new(compiler).arg("-show")).ok().filter(|text| text.contains("-l")).with_context(|| {
        format!(
            "{} is not a complete MPI compiler wrapper (`-show` prints no libraries); is its -dev package installed?",
            compiler.display()
        )
    })
}

/// Family of a launcher, and the version line of its `--version`.
fn family_of_launcher(launcher: &Path) -> Option<(&'static MpiFamily, String)> {
    let text = output(Command::new(launcher).arg("--version")).ok()?;
    let version = text.lines().find(|line| line.contains("Version:")).or(text.lines().next()).unwrap_or_default();
    family_in_text(&text, |family| family.launchers)
        .map(|family| (family, version.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Checks that the machine has a compiler wrapper and a launcher.
///
/// # Errors
/// One is missing, or both are: the error is the family of the present one.
pub(crate) fn check_complete(machine: &InspectedMachine) -> Result<(), Option<&'static MpiFamily>> {
    let family = |path: &PathBuf| family_of_launcher(&machine.at(path)).map(|(family, _)| family);
    match (compiler(machine), launchers(machine)) {
        (Some(_), launchers) if !launchers.is_empty() => Ok(()),
        (Some(compiler), _) => Err(family_of_compiler(&machine.at(compiler)).ok()),
        (None, _) if machine.var("MPICC").is_some() => Ok(()),
        (None, launchers) => Err(launchers.iter().find_map(family)),
    }
}

/// Finds the compiler wrapper and a launcher of the same family.
///
/// # Errors
/// No compiler wrapper, or no launcher of its family; the error names all candidates.
pub(crate) fn find(machine: &InspectedMachine) -> Result<Mpi> {
    let named = machine.var("MPICC").unwrap_or("mpicc");
    let compiler = compiler(machine).with_context(|| {
        format!("{named} is neither a program on the search path nor the path of one (set MPICC to name another)")
    })?;
    let family = family_of_compiler(&machine.at(&compiler))?;
    let mut rejected = Vec::new();
    for launcher in launchers(machine) {
        rejected.push(match family_of_launcher(&machine.at(&launcher)) {
            Some((other, version)) if other == family => return Ok(Mpi { family, compiler, launcher, version }),
            Some((other, _)) => format!("{} belongs to {}", launcher.display(), other.name),
            None => format!("{} is of no known family", launcher.display()),
        });
    }
    Err(anyhow!(
        "{} builds for {name}, but {}. A launcher of another library would start N separate worlds of one rank. Install \
         the launcher of {name}, name it in ZIPPY_MPIRUN, or set MPICC to the compiler wrapper of the launcher you have.",
        compiler.display(),
        if rejected.is_empty() { "there is no launcher at all".into() } else { rejected.join("; ") },
        name = family.name,
    ))
}

/// Family of the MPI library that a program is linked with; `None` for a program without MPI.
pub(crate) fn linked_family(program: &Path) -> Option<&'static MpiFamily> {
    let mut lister = if cfg!(target_os = "macos") { Command::new("otool") } else { Command::new("ldd") };
    lister.args(cfg!(target_os = "macos").then_some("-L")).arg(program);
    family_in_text(&output(&mut lister).unwrap_or_default(), |family| family.libraries)
}

/// Checks that a program is linked with an MPI library of the launcher's family.
///
/// # Errors
/// The program is linked with a library of another family.
pub(crate) fn check_linked(mpi: &Mpi, program: &Path) -> Result<()> {
    match linked_family(program) {
        Some(linked) if linked != mpi.family => Err(anyhow!(
            "{} is linked with {}, but {} belongs to {}. The MPI binding is not rebuilt when the compiler wrapper changes: \
             run `cargo clean -p mpi-sys`, then this again.",
            program.display(),
            linked.name,
            mpi.launcher.display(),
            mpi.family.name,
        )),
        _ => Ok(()),
    }
}

/// Sets the environment variables that the launcher needs, except variables that the user has set.
pub(crate) fn prepare(machine: &InspectedMachine, mpi: &Mpi, command: &mut Command) {
    let unset = |(name, _): &&(&str, &str)| machine.var(name).is_none();
    command.envs(mpi.family.settings.iter().filter(unset).copied());
}

#[cfg(test)]
#[path = "../tests/unit/mpi.rs"]
mod tests;
