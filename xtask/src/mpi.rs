//! MPI on this machine: which library programs are linked with, which launcher belongs to it, how to start ranks.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::context::Context;
use crate::machine::Machine;
use crate::process::{output, succeed};

/// Libraries whose processes only their own launcher can join into one world.
#[derive(Debug, PartialEq)]
pub struct Family {
    /// Its name for people.
    pub name: &'static str,
    /// What its launchers print for `--version`.
    launchers: &'static [&'static str],
    /// Its libraries, as `ldd` or `otool -L` prints them.
    libraries: &'static [&'static str],
    /// What its launchers need in order to start ranks in containers, as root and on few cores.
    settings: &'static [(&'static str, &'static str)],
}

/// Open MPI, whose library has been libmpi.so.40 since version 3.
pub static OPEN_MPI: Family = Family {
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
        // A software GPU runs one rank's kernels on many threads; a rank bound to one core would starve them.
        ("OMPI_MCA_hwloc_base_binding_policy", "none"),
        ("PRTE_MCA_hwloc_default_binding_policy", "none"),
        // Containers forbid ptrace, on which the single-copy path depends.
        ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ],
};

/// MPICH and what is built on it: Intel MPI, MVAPICH, Cray. They have agreed on the name libmpi.so.12.
pub static MPICH: Family = Family {
    name: "MPICH",
    launchers: &["HYDRA", "Hydra", "MPICH", "mpich", "Intel(R) MPI", "MVAPICH"],
    libraries: &["libmpich.", "libmpi.so.12", "libmpi.12.", "libmpi_cray"],
    settings: &[],
};

/// The family of which a text has one of its words.
fn told_by(text: &str, words: fn(&Family) -> &[&str]) -> Option<&'static Family> {
    [&OPEN_MPI, &MPICH].into_iter().find(|family| words(family).iter().any(|word| text.contains(word)))
}

/// An MPI library and the launcher that belongs to it.
#[derive(Debug)]
pub struct Mpi {
    pub family: &'static Family,
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

/// The launchers that can be found, in the order in which they are tried: the one that `ZIPPY_MPIRUN` names and no other, or
/// those beside the compiler wrapper, then those on the search path, the unqualified names first.
fn launchers(machine: &Machine) -> Vec<PathBuf> {
    if let Some(named) = machine.var("ZIPPY_MPIRUN") {
        return machine.which(named).into_iter().collect();
    }
    let compiler = compiler(machine);
    let bin = compiler.as_deref().and_then(Path::parent);
    let beside = LAUNCHERS.iter().filter_map(|name| machine.which(&bin?.join(name).to_string_lossy()));
    let (found, mut seen) = (beside.chain(LAUNCHERS.iter().filter_map(|name| machine.which(name))), HashSet::new());
    found.filter(|launcher| seen.insert(launcher.clone())).collect()
}

/// The family of the library behind a compiler wrapper.
fn family_of_compiler(compiler: &Path) -> Result<&'static Family, String> {
    let open_mpi = output(Command::new(compiler).arg("--showme:version")).unwrap_or_default();
    // Every wrapper of the MPICH family, and no Open MPI one of a known version, has only link flags to show.
    if open_mpi.contains("Open MPI") { Ok(&OPEN_MPI) } else { link_line(compiler).map(|_| &MPICH) }
}

/// The compiler command that a wrapper stands for.
fn link_line(compiler: &Path) -> Result<String, String> {
    output(Command::new(compiler).arg("-show")).ok().filter(|text| text.contains("-l")).ok_or(format!(
        "{} does not answer as an MPI compiler wrapper should (`-show` prints no libraries); is its -dev package complete?",
        compiler.display()
    ))
}

/// The family and the first line of `--version` of a launcher.
fn family_of_launcher(launcher: &Path) -> Option<(&'static Family, String)> {
    let text = output(Command::new(launcher).arg("--version")).ok()?;
    let version = text.lines().find(|line| line.contains("Version:")).or(text.lines().next()).unwrap_or_default();
    told_by(&text, |family| family.launchers)
        .map(|family| (family, version.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// Whether both a compiler wrapper and a launcher are here; else the family of the one that is.
pub fn whole(machine: &Machine) -> Result<(), Option<&'static Family>> {
    let of_launcher = |path: &PathBuf| family_of_launcher(&machine.at(path)).map(|(family, _)| family);
    match (compiler(machine), launchers(machine)) {
        (Some(_), launchers) if !launchers.is_empty() => Ok(()),
        (Some(compiler), _) => Err(family_of_compiler(&machine.at(compiler)).ok()),
        (None, _) if machine.var("MPICC").is_some() => Ok(()),
        (None, launchers) => Err(launchers.iter().find_map(of_launcher)),
    }
}

/// The MPI to build and start programs with. The build script of the binding (the crate `mpi-sys`) asks the compiler wrapper
/// once and is not run again when MPICC, or what the wrapper stands for, changes: what it has built is thrown away then.
pub fn ready(context: &Context) -> Result<Mpi, String> {
    let mpi = find(&context.machine)?;
    let (note, wrapper) = (context.scratch("mpi")?.join("wrapper"), link_line(&mpi.compiler)?);
    if other(&context.target(), &note, &wrapper) {
        let _ = writeln!(std::io::stderr(), "The MPI binding may be built for another library; it is built again.");
        for profile in ["dev", "release"] {
            let clean = ["clean", "--quiet", "--package", "mpi-sys", "--profile", profile];
            succeed(&mut context.cargo(&clean), "`cargo clean` for the MPI binding")?;
        }
    }
    std::fs::write(&note, wrapper).map_err(|error| format!("{}: {error}", note.display()))?;
    Ok(mpi)
}

/// Whether the binding may have been built with another wrapper than this: the note names another one, or what was built has
/// no note.
fn other(target: &Path, note: &Path, wrapper: &str) -> bool {
    let names = |profile| std::fs::read_dir(target.join(profile).join("build")).into_iter().flatten().flatten();
    let is_binding = |file: std::fs::DirEntry| file.file_name().to_string_lossy().starts_with("mpi-sys-");
    let built = || ["debug", "release"].into_iter().flat_map(names).any(is_binding);
    std::fs::read_to_string(note).map_or_else(|_| built(), |before| before != wrapper)
}

/// Finds the library and the launcher that belongs to it, or says what does not fit.
fn find(machine: &Machine) -> Result<Mpi, String> {
    let named = machine.var("MPICC").unwrap_or("mpicc");
    let absent = format!("{named} is no program on the search path, nor a whole path to one (MPICC names another)");
    let compiler = compiler(machine).ok_or(absent)?;
    let family = family_of_compiler(&machine.at(&compiler))?;
    let mut found = Vec::new();
    for launcher in launchers(machine) {
        found.push(match family_of_launcher(&machine.at(&launcher)) {
            Some((its, version)) if its == family => return Ok(Mpi { family, compiler, launcher, version }),
            Some((its, _)) => format!("{} belongs to {}", launcher.display(), its.name),
            None => format!("{} is of no known family", launcher.display()),
        });
    }
    Err(format!(
        "{} builds for {name}, but {}. A foreign launcher would start N separate worlds of one rank. Install the launcher \
         of {name}, name it in ZIPPY_MPIRUN, or point MPICC at the compiler wrapper of the launcher you have.",
        compiler.display(),
        if found.is_empty() { "there is no launcher at all".into() } else { found.join("; ") },
        name = family.name,
    ))
}

/// Refuses a program that is linked with another library than the launcher's.
pub fn check_linked(mpi: &Mpi, program: &Path) -> Result<(), String> {
    let mut lister = if cfg!(target_os = "macos") { Command::new("otool") } else { Command::new("ldd") };
    lister.args(cfg!(target_os = "macos").then_some("-L")).arg(program);
    match told_by(&output(&mut lister).unwrap_or_default(), |family| family.libraries) {
        Some(linked) if linked != mpi.family => Err(format!(
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

/// Sets in a command what the launcher needs. Values that the user has set already are left alone.
pub fn prepare(context: &Context, mpi: &Mpi, command: &mut Command) {
    let unset = |(name, _): &&(&str, &str)| context.machine.var(name).is_none();
    command.envs(mpi.family.settings.iter().filter(unset).copied());
}

#[cfg(test)]
#[path = "../tests/unit/mpi.rs"]
mod tests;
