//! Runs of a test binary under the MPI launcher.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Open MPI starts as root and on few cores with these settings. Other MPI libraries ignore them.
pub const ENVIRONMENT: [(&str, &str); 8] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_mpi_yield_when_idle", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
    ("OMPI_MCA_btl_vader_single_copy_mechanism", "none"),
    ("MPIEXEC_TIMEOUT", "300"),
    ("NODEVICE_SELECT", "1"),
];

pub fn size() -> Option<usize> {
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

pub fn rank() -> Option<usize> {
    ["OMPI_COMM_WORLD_RANK", "PMI_RANK"].iter().find_map(|name| std::env::var(name).ok()?.parse().ok())
}

/// Numbers of ranks to test: `counts`, or under a launcher only its number.
///
/// A run with another access to cells (`ZIPPY_HOST_MAP`, `ZIPPY_KERNELS`) uses at most three ranks,
/// or the smallest of `counts`, because it does not change the messages.
pub fn counts(counts: &[usize]) -> Vec<usize> {
    let few = counts.partition_point(|&count| count <= 3).max(1);
    let is_another_way = ["ZIPPY_HOST_MAP", "ZIPPY_KERNELS"].iter().any(|name| std::env::var_os(name).is_some());
    let counts = if is_another_way { &counts[..few] } else { counts };
    size().map_or_else(|| counts.to_vec(), |size| vec![size])
}

/// Directory for the files of a launcher, removed on drop.
///
/// By default, Open MPI's launchers share a directory, and the last launcher that ends removes it
/// even while another launcher starts.
pub struct SessionDirectory(PathBuf);

impl SessionDirectory {
    #[allow(clippy::new_without_default, reason = "the directory is created")]
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("zippy-mpi-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self(path)
    }
}

impl Drop for SessionDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Creates a command that runs this test binary on `ranks` processes. Keep `session` until the
/// command has ended.
pub fn command(ranks: usize, session: &SessionDirectory) -> Command {
    let launcher = std::env::var_os("ZIPPY_MPIRUN").unwrap_or_else(|| "mpirun".into());
    let binary = std::env::current_exe().expect("a test binary has a path");
    let mut command = Command::new(launcher);
    command.envs(ENVIRONMENT).env("OMPI_MCA_orte_tmpdir_base", &session.0).env_remove("ZIPPY_RANKS");
    command.args(["-n", &ranks.to_string()]).arg(binary);
    command
}

/// True if tests under MPI are enabled and this process does not run under a launcher.
pub fn wanted() -> bool {
    std::env::var_os("ZIPPY_TEST_MPI").is_some() && size().is_none()
}

/// Runs all tests of this binary under the launcher, once for each number of ranks, except the
/// modules `without` and the calling test.
pub fn rerun_all(counts: &[usize], without: &[&str]) {
    let skipped: Vec<&str> = without.iter().flat_map(|module| ["--skip", module]).collect();
    rerun(counts, &skipped, &[]);
}

/// Runs the tests selected by `chosen` under the launcher.
pub fn rerun(counts: &[usize], chosen: &[&str], settings: &[(&str, &str)]) {
    if !wanted() {
        return;
    }
    for &ranks in counts {
        let session = SessionDirectory::new();
        let mut command = command(ranks, &session);
        // Without capture, because a rank that panics ends the job before captured output is
        // printed.
        command.args(chosen).args(["--test-threads=1", "--nocapture", "--skip", "under_mpi"]);
        command.envs(settings.iter().copied());
        if ranks == 3 {
            // This run sends messages directly from chunks if possible.
            command.env("ZIPPY_IN_PLACE", "4");
        }
        // The limit applies to all tests of the binary together.
        command.env("MPIEXEC_TIMEOUT", "900");
        let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{ranks} ranks: {}\n{out}\n{err}", output.status);
        assert!(out.contains("... ok"), "{ranks} ranks, no test was run:\n{out}\n{err}");
    }
}

/// Waits for the process of a rank. Linux only.
pub fn process_of_rank(rank: usize, launcher: u32) -> Option<u32> {
    let variables = [format!("OMPI_COMM_WORLD_RANK={rank}"), format!("PMI_RANK={rank}")];
    let below = |mut process: u32| {
        while process > 1 && process != launcher {
            let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            let after_name = stat.rsplit(')').next().unwrap_or_default();
            process = after_name.split_whitespace().nth(1).and_then(|parent| parent.parse().ok()).unwrap_or(0);
        }
        process == launcher
    };
    let of_rank = |process: &u32| {
        let variables_of = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        let has =
            |entry_text: &String| variables_of.split(|&byte| byte == 0).any(|entry| entry == entry_text.as_bytes());
        variables.iter().any(has) && below(*process)
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(of_rank)
}
