//! What is needed, how it is found missing, what the package managers call it, and the commands that install it: tables,
//! and what follows from them.

use std::process::Command;

use crate::machine::Machine;
use crate::mpi;
use crate::process::output;

/// Something without which a command cannot do its work.
#[derive(Clone, Copy)]
pub struct Need {
    /// What it is and why it is needed, for the person whose machine is changed.
    pub why: &'static str,
    /// Nothing where it is here; else what was found instead, if there is anything to say.
    pub missing: fn(&Machine) -> Option<String>,
    /// The packages that provide it, for each of [`MANAGERS`] in turn.
    packages: [&'static str; 5],
}

// Metal comes with macOS, and a C compiler is here wherever this program could be linked.
const GRAPHICS_DRIVER: Need = Need {
    why: "a Vulkan driver: tests and benchmarks compare native kernels with those of a driver; Mesa's lavapipe is one for CPUs",
    missing: |machine| machine.graphics_problem().map(|problem| format!("\n    found: {problem}")),
    packages: [
        "",
        "mesa-vulkan-drivers libvulkan1",
        "mesa-vulkan-drivers vulkan-loader",
        "vulkan-swrast vulkan-icd-loader",
        "",
    ],
};
const OPEN_MPI: Need = Need {
    why: "an MPI library with its compiler wrapper mpicc and its launcher mpirun: ranks as processes (feature `mpi`)",
    missing: |machine| absent(mpi::whole(machine).map_or_else(|part| part == Some(&mpi::MPICH), |()| true)),
    packages: ["", "libopenmpi-dev openmpi-bin", "openmpi-devel openmpi", "openmpi", "open-mpi"],
};
const MPICH: Need = Need {
    why: "the rest of MPICH, of which a part is here: ranks as processes (feature `mpi`)",
    missing: |machine| absent(mpi::whole(machine) != Err(Some(&mpi::MPICH))),
    packages: ["", "libmpich-dev mpich", "mpich-devel mpich", "mpich", "mpich"],
};
const LIBCLANG: Need = Need {
    why: "libclang: the MPI binding is generated from the C header of the MPI library found here",
    missing: |machine| absent(machine.libclang().is_some()),
    packages: ["", "libclang-dev clang", "clang-devel", "clang", "llvm"],
};
const SCREEN: Need = Need {
    why: "a virtual X server (Xvfb) and the X libraries of a window: the window of the volume example is tested on it",
    // Elsewhere no test opens a window. Without this library none opens there.
    missing: |machine| {
        let library = machine.has_library("libxkbcommon-x11.so.0");
        absent(machine.os != "linux" || machine.which("Xvfb").is_some() && library)
    },
    packages: [
        "",
        "xvfb libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2",
        "xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr",
        "xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr",
        "",
    ],
};
const TOOLS: Need = Need {
    why: "rustfmt and clippy: check the format of the sources and look for mistakes",
    missing: |machine| absent(["fmt", "clippy"].iter().all(|tool| cargo_has(machine, tool))),
    packages: ["rustfmt clippy", "", "", "", ""],
};

/// Needs of comparisons with a driver.
pub const GRAPHICS: &[Need] = &[GRAPHICS_DRIVER];

/// What building and running with MPI needs.
pub const MPI: &[Need] = &[OPEN_MPI, MPICH, LIBCLANG];

/// What the sources are checked and tested with.
pub const CHECKS: &[Need] = &[TOOLS, SCREEN];

fn absent(present: bool) -> Option<String> {
    (!present).then(String::new)
}

fn cargo_has(machine: &Machine, subcommand: &str) -> bool {
    let cargo = machine.which(machine.var("CARGO").unwrap_or("cargo"));
    cargo.is_some_and(|cargo| output(Command::new(machine.at(cargo)).args([subcommand, "--version"])).is_ok())
}

/// The package managers: program, what fetches the lists where it does not do that by itself, and what installs.
const MANAGERS: [(&str, &str, &str); 5] = [
    ("rustup", "", "rustup component add"),
    ("apt-get", "apt-get update", "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends"),
    ("dnf", "", "dnf install -y"),
    ("pacman", "pacman -Sy --noconfirm", "pacman -S --noconfirm --needed"),
    ("brew", "", "brew install"),
];

/// The commands that provide everything missing, in order; or why that cannot be done from here.
pub fn commands(machine: &Machine, missing: &[Need]) -> Result<Vec<String>, String> {
    let (of_rust, of_system): (Vec<Need>, Vec<Need>) = missing.iter().partition(|need| !need.packages[0].is_empty());
    let mut lines = Vec::new();
    for needs in [of_rust, of_system].into_iter().filter(|needs| !needs.is_empty()) {
        let provides = |at: usize| needs.iter().all(|need| !need.packages[at].is_empty());
        let fits = |name: &str| name == "rustup" || (name == "brew") == (machine.os == "macos");
        let managers = || MANAGERS.iter().enumerate().filter(|(at, manager)| provides(*at) && fits(manager.0));
        let Some((at, (program, refresh, install))) = managers().find(|(_, one)| machine.which(one.0).is_some()) else {
            let names: Vec<&str> = managers().map(|(_, manager)| manager.0).collect();
            let names = names.join(" or ").replace("brew", "brew (https://brew.sh)");
            let list: Vec<String> = needs.iter().map(|need| format!("    {}", need.why)).collect();
            return Err(format!(
                "there is no {names} here; install these the way this system does it, then run this again:\n{}",
                list.join("\n")
            ));
        };
        let sudo = if machine.root_user || ["rustup", "brew"].contains(program) { "" } else { "sudo " };
        let packages: Vec<&str> = needs.iter().map(|need| need.packages[at]).collect();
        // New lists without a full upgrade can break an Arch system that has lists already.
        let stale = *program != "pacman" || machine.list("/var/lib/pacman/sync").is_empty();
        let refresh = (stale && !refresh.is_empty()).then(|| format!("{sudo}{refresh}"));
        let these: Vec<_> = refresh.into_iter().chain([format!("{sudo}{install} {}", packages.join(" "))]).collect();
        if !sudo.is_empty() && machine.which("sudo").is_none() {
            let lines = these.join("\n    ").replace(sudo, "");
            return Err(format!("this needs an administrator: there is no sudo here. Ask one to run\n    {lines}"));
        }
        lines.extend(these);
    }
    Ok(lines)
}

#[cfg(test)]
#[path = "../tests/unit/packages.rs"]
mod tests;
