//! Start of the transport tests under the machine's MPI library.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::RunSetting;
use crate::child::{self, LIST_LIMIT};

/// Launchers, the most specific names last.
const LAUNCHERS: [&str; 4] = ["mpirun", "mpiexec", "mpirun.openmpi", "mpiexec.openmpi"];

/// Variables that Open MPI needs to start ranks as root and on few cores.
const OPEN_MPI: [(&str, &str); 6] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
    ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
];

/// Returns the command that runs the transport tests on `ranks` processes.
///
/// # Errors
/// A text with the reason why the tests cannot run: the archive has no MPI program, the MPI library
/// of the machine is missing or another one, or no launcher is found.
pub(crate) fn command(setting: &RunSetting, ranks: usize) -> Result<Command> {
    let program = child::program(setting, "transport-mpi");
    let path = PathBuf::from(program.get_program());
    if !path.exists() {
        bail!("the archive was made without MPI");
    }
    // The program does not start if its MPI library is missing or has another ABI.
    let mut list = child::program(setting, "transport-mpi");
    list.arg("--list");
    let listed = child::run(list, &setting.out.join("mpi.log"), LIST_LIMIT, &setting.stop);
    if !listed.is_ok_and(|listed| listed.problem.is_none()) {
        bail!("this machine has no MPI library, or another one than that with which the program was built");
    }
    let search = std::env::var_os("PATH").unwrap_or("/usr/local/bin:/usr/bin:/bin".into());
    let found = std::env::split_paths(&search)
        .flat_map(|directory| LAUNCHERS.map(|name| directory.join(name)))
        .find(|launcher| launcher.is_file());
    let launcher = found.context("the machine has an MPI library, but no launcher (mpirun) on the search path")?;
    let mut command = Command::new(launcher);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    child::remove_inherited_variables(&mut command);
    // Open MPI needs a remote shell program, although it starts all ranks on this machine.
    let has_remote_shell = std::env::split_paths(&search)
        .any(|directory| ["ssh", "rsh"].iter().any(|name| directory.join(name).is_file()));
    if !has_remote_shell {
        command.envs([("OMPI_MCA_plm_rsh_agent", "sh"), ("PRTE_MCA_plm_ssh_agent", "sh")]);
    }
    // Only rank 0 reports tests. An error of another rank goes to standard error and ends all
    // ranks.
    let report =
        "case ${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}} in 0) ;; *) exec > /dev/null ;; esac; exec \"$0\" \"$@\"";
    command.envs(OPEN_MPI).args(["-n", &ranks.to_string(), "sh", "-c", report]).arg(path);
    command.args(["messages::", "collectives::", "--test-threads=1", "--nocapture"]);
    Ok(command)
}
