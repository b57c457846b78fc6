//! Tables of needs: the check for each need, its packages for each package manager, and the
//! commands that install them.

use anyhow::{Result, bail};

use crate::machine::InspectedMachine;
use crate::mpi;

/// Software that a command needs.
#[derive(Clone, Copy)]
pub(crate) struct Need {
    /// Name and reason of the need, for the owner of the machine.
    pub why: &'static str,
    /// `None` if the need is met; else a description of the software that was found instead,
    /// possibly empty.
    pub missing: fn(&InspectedMachine) -> Option<String>,
    /// Packages that provide the software, in the order of [`MANAGERS`].
    packages: [&'static str; 5],
}

// macOS includes Metal, and this program cannot be linked without a C compiler.
const GRAPHICS_DRIVER: Need = Need {
    why: "a Vulkan driver: tests and benchmarks compare native kernels with kernels of a driver, such as Mesa's lavapipe for CPUs",
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
    missing: |machine| {
        missing_unless(mpi::check_complete(machine).map_or_else(|part| part == Some(&mpi::MPICH), |()| true))
    },
    packages: ["", "libopenmpi-dev openmpi-bin", "openmpi-devel openmpi", "openmpi", "open-mpi"],
};
const MPICH: Need = Need {
    why: "the missing part of MPICH, compiler wrapper or launcher: ranks as processes (feature `mpi`)",
    missing: |machine| missing_unless(mpi::check_complete(machine) != Err(Some(&mpi::MPICH))),
    packages: ["", "libmpich-dev mpich", "mpich-devel mpich", "mpich", "mpich"],
};
const LIBCLANG: Need = Need {
    why: "libclang: the MPI binding is generated from the C header of the MPI library found here",
    missing: |machine| missing_unless(machine.libclang().is_some()),
    packages: ["", "libclang-dev clang", "clang-devel", "clang", "llvm"],
};
const SCREEN: Need = Need {
    why: "a virtual X server (Xvfb) and the X libraries of a window: the window of the volume example is tested on it",
    // Tests open windows only on Linux, and windows need this library.
    missing: |machine| {
        let library = machine.has_library("libxkbcommon-x11.so.0");
        missing_unless(machine.os != "linux" || machine.which("Xvfb").is_some() && library)
    },
    packages: [
        "",
        "xvfb libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2",
        "xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr",
        "xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr",
        "",
    ],
};
const RUST_TOOLS: Need = Need {
    why: "rustfmt and clippy: check the format of the sources and find mistakes",
    missing: |machine| missing_unless(["fmt", "clippy"].iter().all(|tool| machine.has_cargo_command(tool))),
    packages: ["rustfmt clippy", "", "", "", ""],
};

/// Needs of tests and benchmarks that compare native kernels with a driver.
pub(crate) const GRAPHICS: &[Need] = &[GRAPHICS_DRIVER];

/// Needs of building and running with MPI.
pub(crate) const MPI: &[Need] = &[OPEN_MPI, MPICH, LIBCLANG];

/// Needs of checks of the sources.
pub(crate) const TOOLS: &[Need] = &[RUST_TOOLS];

/// Needs of tests that open windows.
pub(crate) const WINDOWS: &[Need] = &[SCREEN];

fn missing_unless(present: bool) -> Option<String> {
    (!present).then(String::new)
}

/// Package managers: program, command that fetches the lists if necessary, and command that
/// installs.
const MANAGERS: [(&str, &str, &str); 5] = [
    ("rustup", "", "rustup component add"),
    ("apt-get", "apt-get update", "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends"),
    ("dnf", "", "dnf install -y"),
    ("pacman", "pacman -Sy --noconfirm", "pacman -S --noconfirm --needed"),
    ("brew", "", "brew install"),
];

/// Returns the commands that provide all missing needs, in the order of execution, or the reason
/// why no command can.
pub(crate) fn commands(machine: &InspectedMachine, missing: &[Need]) -> Result<Vec<String>> {
    let (rust_needs, system_needs): (Vec<Need>, Vec<Need>) =
        missing.iter().partition(|need| !need.packages[0].is_empty());
    let mut lines = Vec::new();
    for needs in [rust_needs, system_needs].into_iter().filter(|needs| !needs.is_empty()) {
        let provides = |index: usize| needs.iter().all(|need| !need.packages[index].is_empty());
        let fits = |name: &str| name == "rustup" || (name == "brew") == (machine.os == "macos");
        let managers = || MANAGERS.iter().enumerate().filter(|(index, manager)| provides(*index) && fits(manager.0));
        let installed = managers().find(|(_, manager)| machine.which(manager.0).is_some());
        let Some((index, (program, refresh, install))) = installed else {
            let names: Vec<&str> = managers().map(|(_, manager)| manager.0).collect();
            let names = names.join(" or ").replace("brew", "brew (https://brew.sh)");
            let list: Vec<String> = needs.iter().map(|need| format!("    {}", need.why)).collect();
            bail!(
                "there is no {names} here; install these by the method of this system, then run this again:\n{}",
                list.join("\n")
            );
        };
        let sudo = if machine.root_user || ["rustup", "brew"].contains(program) { "" } else { "sudo " };
        let packages: Vec<&str> = needs.iter().map(|need| need.packages[index]).collect();
        // New lists without a full upgrade can break an Arch system that has lists already.
        let stale = *program != "pacman" || machine.list("/var/lib/pacman/sync").is_empty();
        let refresh = (stale && !refresh.is_empty()).then(|| format!("{sudo}{refresh}"));
        let new: Vec<_> = refresh.into_iter().chain([format!("{sudo}{install} {}", packages.join(" "))]).collect();
        if !sudo.is_empty() && machine.which("sudo").is_none() {
            let lines = new.join("\n    ").replace(sudo, "");
            bail!("there is no sudo here; an administrator must run these commands:\n    {lines}");
        }
        lines.extend(new);
    }
    Ok(lines)
}

#[cfg(test)]
#[path = "../tests/unit/packages.rs"]
mod tests;
