//! What is needed, what the package managers call it, and the commands that install it: tables, and what follows from them.

use crate::machine::{Machine, Os};
use crate::mpi::Family;

/// Something without which a command cannot do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Graphics,
    CCompiler,
    MpiLibrary,
    MpiLauncher,
    Libclang,
    Screen,
    Rustfmt,
    Clippy,
}

/// Each need, what it is and why for the person whose machine is changed, and the packages that satisfy it, for each of
/// [`MANAGERS`] in turn.
const REMEDIES: [(Need, &str, [&str; 4]); 8] = [
    (
        Need::Graphics,
        "a Vulkan driver: all computing happens in GPU kernels; Mesa's lavapipe runs them on the CPU where there is no GPU",
        // Metal comes with macOS.
        ["mesa-vulkan-drivers libvulkan1", "mesa-vulkan-drivers vulkan-loader", "vulkan-swrast vulkan-icd-loader", ""],
    ),
    (
        Need::CCompiler,
        "a C compiler: the MPI binding compiles a small C file",
        // Apple's does not come from Homebrew.
        ["gcc libc6-dev", "gcc", "gcc", ""],
    ),
    (
        Need::MpiLibrary,
        "an MPI library with its compiler wrapper mpicc: ranks as processes (feature `mpi`)",
        ["libopenmpi-dev openmpi-bin", "openmpi-devel", "openmpi", "open-mpi"],
    ),
    (
        Need::MpiLauncher,
        "an MPI launcher (mpirun): starts the ranks",
        ["openmpi-bin", "openmpi", "openmpi", "open-mpi"],
    ),
    (
        Need::Libclang,
        "libclang: the MPI binding is generated from the C header of the MPI library found here",
        ["libclang-dev clang", "clang-devel", "clang", "llvm"],
    ),
    (
        Need::Screen,
        "a virtual X server (Xvfb) and the X libraries of a window: the window of the volume example is tested on it",
        [
            "xvfb libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2",
            "xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr",
            "xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr",
            "",
        ],
    ),
    (Need::Rustfmt, "rustfmt: checks the format of the sources", [""; 4]),
    (Need::Clippy, "clippy: checks the sources for mistakes", [""; 4]),
];

/// What rustup provides.
const COMPONENTS: [(Need, &str); 2] = [(Need::Rustfmt, "rustfmt"), (Need::Clippy, "clippy")];

/// The same where a part of MPICH is here already, which the rest of MPICH completes.
const OF_MPICH: [(Need, [&str; 4]); 2] = [
    (Need::MpiLibrary, ["libmpich-dev", "mpich-devel", "mpich", "mpich"]),
    (Need::MpiLauncher, ["mpich", "mpich", "mpich", "mpich"]),
];

/// A package manager.
struct Manager {
    program: &'static str,
    /// What fetches the package lists; nothing where the manager does that by itself.
    refresh: &'static str,
    install: &'static str,
    /// The directory of the lists, and what the name of one contains.
    lists: (&'static str, &'static str),
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        refresh: "apt-get update",
        install: "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends",
        lists: ("/var/lib/apt/lists", "_Packages"),
    },
    Manager { program: "dnf", refresh: "", install: "dnf install -y", lists: ("", "") },
    Manager {
        program: "pacman",
        refresh: "pacman -Sy --noconfirm",
        install: "pacman -S --noconfirm --needed",
        lists: ("/var/lib/pacman/sync", ".db"),
    },
    Manager { program: "brew", refresh: "", install: "brew install", lists: ("", "") },
];

/// One command of a set-up, words separated by spaces.
#[derive(Debug, PartialEq)]
pub struct Action {
    pub command: String,
    /// A command to run before trying this one again, when it failed (stale package lists).
    pub retry_after: Option<String>,
}

impl Need {
    /// What it is and why it is needed.
    pub fn why(self) -> &'static str {
        REMEDIES.iter().find(|(need, ..)| *need == self).map_or("", |(_, why, _)| why)
    }

    /// The packages that satisfy it; `mpi` is the family of which a part is here.
    fn packages(self, mpi: Option<Family>) -> [&'static str; 4] {
        let rows = REMEDIES.iter().map(|(need, _, packages)| (need, packages));
        let of_mpich = OF_MPICH.iter().filter(|_| mpi == Some(Family::Mpich)).map(|(need, packages)| (need, packages));
        of_mpich.chain(rows).find(|(need, _)| **need == self).map_or([""; 4], |(_, packages)| *packages)
    }
}

/// The commands that provide everything missing, in order; or why that cannot be done from here. `mpi` is the family of
/// which a part is here, and `root` whether this is the administrator.
pub fn commands(machine: &Machine, missing: &[Need], mpi: Option<Family>, root: bool) -> Result<Vec<Action>, String> {
    let has = |program: &str| machine.which(program).is_some();
    let mut actions = Vec::new();
    let of_rustup = COMPONENTS.iter().filter(|(need, _)| missing.contains(need));
    let components: Vec<&str> = of_rustup.map(|(_, name)| *name).collect();
    if !components.is_empty() {
        if !has("rustup") {
            return Err(format!(
                "{} missing and there is no rustup to install it with; install it the way Rust was installed here",
                components.join(" and ")
            ));
        }
        actions.push(action(format!("rustup component add {}", components.join(" "))));
    }
    let of_system = |need: &&Need| COMPONENTS.iter().all(|(component, _)| component != *need);
    let system: Vec<Need> = missing.iter().filter(of_system).copied().collect();
    if system.is_empty() {
        return Ok(actions);
    }
    if machine.os == Os::Mac && system.contains(&Need::CCompiler) {
        return Err("there is no C compiler; run `xcode-select --install`, then this command again".into());
    }
    let (at, manager) = manager(machine).ok_or_else(|| no_manager(&system, machine.os))?;
    let mut packages: Vec<&str> = Vec::new();
    for package in system.iter().flat_map(|need| need.packages(mpi)[at].split_whitespace()) {
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    let sudo = if root || machine.os == Os::Mac { "" } else { "sudo " };
    let mut install = action(format!("{sudo}{} {}", manager.install, packages.join(" ")));
    if !sudo.is_empty() && !has("sudo") {
        let command = install.command;
        return Err(format!("this needs an administrator: there is no sudo here. Ask one to run\n    {command}"));
    }
    let refresh = format!("{sudo}{}", manager.refresh);
    let (directory, part) = manager.lists;
    let listed = machine.list(directory).iter().any(|name| name.contains(part));
    if !manager.refresh.is_empty() && !listed {
        actions.push(action(refresh));
    } else if manager.program == "apt-get" {
        // New lists without a full upgrade can break an Arch system.
        install.retry_after = Some(refresh);
    }
    actions.push(install);
    Ok(actions)
}

/// The package manager of this machine, and its column.
fn manager(machine: &Machine) -> Option<(usize, &'static Manager)> {
    let of_system = |manager: &Manager| match machine.os {
        Os::Linux => manager.program != "brew",
        Os::Mac => manager.program == "brew",
        Os::Other => false,
    };
    MANAGERS.iter().enumerate().find(|(_, manager)| of_system(manager) && machine.which(manager.program).is_some())
}

fn no_manager(system: &[Need], os: Os) -> String {
    if os == Os::Mac {
        return "there is no Homebrew (brew), which set-up uses on macOS; see https://brew.sh, then run this again"
            .into();
    }
    let list: Vec<String> = system.iter().map(|need| format!("    {}", need.why())).collect();
    format!(
        "none of apt-get, dnf, pacman and brew is here; install these the way this system does it, then run this again:\n{}",
        list.join("\n")
    )
}

fn action(command: String) -> Action {
    Action { command, retry_after: None }
}

#[cfg(test)]
#[path = "../tests/unit/packages.rs"]
mod tests;
