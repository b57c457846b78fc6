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

/// A need, what it is and why for the person whose machine is changed, and the packages that satisfy it: those of each manager in
/// the order of [`MANAGERS`], or a component that `rustup` has.
struct Remedy {
    need: Need,
    why: &'static str,
    packages: Packages,
}

enum Packages {
    System([&'static str; 4]),
    Component(&'static str),
}

use Packages::{Component, System};

const REMEDIES: [Remedy; 8] = [
    Remedy {
        need: Need::Graphics,
        why: "a Vulkan driver: all computing happens in GPU kernels; Mesa's lavapipe runs them on the CPU where there is no GPU",
        // Metal comes with macOS.
        packages: System([
            "mesa-vulkan-drivers libvulkan1",
            "mesa-vulkan-drivers vulkan-loader",
            "vulkan-swrast vulkan-icd-loader",
            "",
        ]),
    },
    Remedy {
        need: Need::CCompiler,
        why: "a C compiler: the MPI binding compiles a small C file",
        // Apple's does not come from Homebrew.
        packages: System(["gcc libc6-dev", "gcc", "gcc", ""]),
    },
    Remedy {
        need: Need::MpiLibrary,
        why: "an MPI library with its compiler wrapper mpicc: ranks as processes (feature `mpi`)",
        packages: System(["libopenmpi-dev openmpi-bin", "openmpi-devel", "openmpi", "open-mpi"]),
    },
    Remedy {
        need: Need::MpiLauncher,
        why: "an MPI launcher (mpirun): starts the ranks",
        packages: System(["openmpi-bin", "openmpi", "openmpi", "open-mpi"]),
    },
    Remedy {
        need: Need::Libclang,
        why: "libclang: the MPI binding is generated from the C header of the MPI library found here",
        packages: System(["libclang-dev clang", "clang-devel", "clang", "llvm"]),
    },
    Remedy {
        need: Need::Screen,
        why: "a virtual X server (Xvfb) and the X libraries of a window: the window of the volume example is tested on it",
        packages: System([
            "xvfb libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2",
            "xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr",
            "xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr",
            "",
        ]),
    },
    Remedy { need: Need::Rustfmt, why: "rustfmt: checks the format of the sources", packages: Component("rustfmt") },
    Remedy { need: Need::Clippy, why: "clippy: checks the sources for mistakes", packages: Component("clippy") },
];

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
    fn remedy(self) -> &'static Remedy {
        REMEDIES.iter().find(|remedy| remedy.need == self).expect("every need has its row")
    }

    /// What it is and why it is needed.
    pub fn why(self) -> &'static str {
        self.remedy().why
    }
}

/// The commands that provide everything missing, in order; or why that cannot be done from here. `mpi` is the family of
/// which a part is here, and `root` whether this is the administrator.
pub fn commands(machine: &Machine, missing: &[Need], mpi: Option<Family>, root: bool) -> Result<Vec<Action>, String> {
    let has = |program: &str| machine.which(program).is_some();
    let mut actions = Vec::new();
    let mut components = Vec::new();
    let mut system = Vec::new();
    for need in missing {
        match need.remedy().packages {
            Component(name) => components.push(name),
            System(packages) => {
                let mpich = OF_MPICH.iter().find(|(of, _)| of == need && mpi == Some(Family::Mpich));
                system.push((*need, mpich.map_or(packages, |(_, packages)| *packages)));
            }
        }
    }
    if !components.is_empty() && !has("rustup") {
        let names = components.join(" and ");
        return Err(format!(
            "{names} missing and there is no rustup to install it with; install it the way Rust was installed here"
        ));
    }
    if !components.is_empty() {
        actions.push(action(format!("rustup component add {}", components.join(" "))));
    }
    if system.is_empty() {
        return Ok(actions);
    }
    if machine.os == Os::Mac && missing.contains(&Need::CCompiler) {
        return Err("there is no C compiler; run `xcode-select --install`, then this command again".into());
    }
    let (at, manager) = manager(machine).ok_or_else(|| no_manager(missing, machine.os))?;
    let mut packages: Vec<&str> = Vec::new();
    for package in system.iter().flat_map(|(_, packages)| packages[at].split_whitespace()) {
        if !packages.contains(&package) {
            packages.push(package);
        }
    }
    let sudo = if root || machine.os == Os::Mac { "" } else { "sudo " };
    let refresh = Some(manager.refresh).filter(|command| !command.is_empty()).map(|command| format!("{sudo}{command}"));
    let mut install = action(format!("{sudo}{} {}", manager.install, packages.join(" ")));
    if !sudo.is_empty() && !has("sudo") {
        let command = install.command;
        return Err(format!("this needs an administrator: there is no sudo here. Ask one to run\n    {command}"));
    }
    let (directory, part) = manager.lists;
    let listed = machine.list(directory).iter().any(|name| name.contains(part));
    match refresh {
        Some(refresh) if !listed => actions.push(action(refresh)),
        // New lists without a full upgrade can break an Arch system.
        Some(refresh) if manager.program == "apt-get" => install.retry_after = Some(refresh),
        _ => {}
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

fn no_manager(missing: &[Need], os: Os) -> String {
    if os == Os::Mac {
        return "there is no Homebrew (brew), which set-up uses on macOS; see https://brew.sh, then run this again"
            .into();
    }
    let system = missing.iter().filter(|need| matches!(need.remedy().packages, System(_)));
    let list: Vec<String> = system.map(|need| format!("    {}", need.why())).collect();
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
