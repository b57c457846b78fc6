//! What is needed, what the package managers call it, and the commands that install it: tables and pure functions.

use crate::mpi::Family;

/// Something without which a command cannot do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A GPU, or a driver that pretends to be one.
    Graphics,
    /// A C compiler.
    CCompiler,
    /// An MPI library with its compiler wrapper.
    MpiLibrary,
    /// The program that starts MPI processes.
    MpiLauncher,
    /// The library that bindgen reads C headers with.
    Libclang,
    /// A virtual X server, and what a window needs there.
    Screen,
    /// `cargo fmt`.
    Rustfmt,
    /// `cargo clippy`.
    Clippy,
}

impl Need {
    /// What it is and why it is needed, for the person whose machine is changed.
    pub fn why(self) -> &'static str {
        match self {
            Need::Graphics => {
                "a Vulkan driver: all computing happens in GPU kernels; Mesa's lavapipe runs them on the CPU where there is no GPU"
            }
            Need::CCompiler => "a C compiler: the MPI binding compiles a small C file",
            Need::MpiLibrary => "an MPI library with its compiler wrapper mpicc: ranks as processes (feature `mpi`)",
            Need::MpiLauncher => "an MPI launcher (mpirun): starts the ranks",
            Need::Libclang => "libclang: the MPI binding is generated from the C header of the MPI library found here",
            Need::Screen => {
                "a virtual X server (Xvfb) and the X libraries of a window: the window of the volume example is tested on it"
            }
            Need::Rustfmt => "rustfmt: checks the format of the sources",
            Need::Clippy => "clippy: checks the sources for mistakes",
        }
    }
}

/// The package managers that set-up knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// Debian, Ubuntu and relatives.
    Apt,
    /// Fedora and relatives.
    Dnf,
    /// Arch and relatives.
    Pacman,
    /// macOS.
    Brew,
}

impl Manager {
    /// Its program.
    pub fn program(self) -> &'static str {
        match self {
            Manager::Apt => "apt-get",
            Manager::Dnf => "dnf",
            Manager::Pacman => "pacman",
            Manager::Brew => "brew",
        }
    }

    /// The packages that satisfy a need; `installed` is the MPI family of which a part is here already.
    pub fn packages(self, need: Need, installed: Option<Family>) -> &'static [&'static str] {
        let mpich = installed == Some(Family::Mpich);
        match (self, need) {
            (_, Need::Rustfmt | Need::Clippy) => &[],
            (Manager::Apt, Need::Graphics) => &["mesa-vulkan-drivers", "libvulkan1"],
            (Manager::Apt, Need::CCompiler) => &["gcc", "libc6-dev"],
            (Manager::Apt, Need::MpiLibrary) if mpich => &["libmpich-dev"],
            (Manager::Apt, Need::MpiLibrary) => &["libopenmpi-dev", "openmpi-bin"],
            (Manager::Apt, Need::MpiLauncher) if mpich => &["mpich"],
            (Manager::Apt, Need::MpiLauncher) => &["openmpi-bin"],
            (Manager::Apt, Need::Libclang) => &["libclang-dev", "clang"],
            (Manager::Apt, Need::Screen) => {
                &["xvfb", "libxkbcommon-x11-0", "libx11-6", "libx11-xcb1", "libxcursor1", "libxi6", "libxrandr2"]
            }
            (Manager::Dnf, Need::Graphics) => &["mesa-vulkan-drivers", "vulkan-loader"],
            (Manager::Dnf, Need::CCompiler) => &["gcc"],
            (Manager::Dnf, Need::MpiLibrary) if mpich => &["mpich-devel"],
            (Manager::Dnf, Need::MpiLibrary) => &["openmpi-devel"],
            (Manager::Dnf, Need::MpiLauncher) if mpich => &["mpich"],
            (Manager::Dnf, Need::MpiLauncher) => &["openmpi"],
            (Manager::Dnf, Need::Libclang) => &["clang-devel"],
            (Manager::Dnf, Need::Screen) => &[
                "xorg-x11-server-Xvfb",
                "libxkbcommon-x11",
                "libX11",
                "libX11-xcb",
                "libXcursor",
                "libXi",
                "libXrandr",
            ],
            (Manager::Pacman, Need::Graphics) => &["vulkan-swrast", "vulkan-icd-loader"],
            (Manager::Pacman, Need::CCompiler) => &["gcc"],
            (Manager::Pacman, Need::MpiLibrary | Need::MpiLauncher) if mpich => &["mpich"],
            (Manager::Pacman, Need::MpiLibrary | Need::MpiLauncher) => &["openmpi"],
            (Manager::Pacman, Need::Libclang) => &["clang"],
            (Manager::Pacman, Need::Screen) => {
                &["xorg-server-xvfb", "libxkbcommon-x11", "libx11", "libxcursor", "libxi", "libxrandr"]
            }
            // Metal comes with macOS; the compiler comes from Apple, not from Homebrew.
            (Manager::Brew, Need::Graphics | Need::CCompiler | Need::Screen) => &[],
            (Manager::Brew, Need::MpiLibrary | Need::MpiLauncher) if mpich => &["mpich"],
            (Manager::Brew, Need::MpiLibrary | Need::MpiLauncher) => &["open-mpi"],
            (Manager::Brew, Need::Libclang) => &["llvm"],
        }
    }

    /// The command that fetches the package lists; nothing where the manager does that by itself.
    fn refresh(self) -> Option<&'static [&'static str]> {
        match self {
            Manager::Apt => Some(&["apt-get", "update"]),
            Manager::Pacman => Some(&["pacman", "-Sy", "--noconfirm"]),
            Manager::Dnf | Manager::Brew => None,
        }
    }

    fn install(self) -> &'static [&'static str] {
        match self {
            Manager::Apt => {
                &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends"]
            }
            Manager::Dnf => &["dnf", "install", "-y"],
            Manager::Pacman => &["pacman", "-S", "--noconfirm", "--needed"],
            Manager::Brew => &["brew", "install"],
        }
    }
}

/// What decides which commands set a machine up.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation {
    /// What is missing.
    pub missing: Vec<Need>,
    /// The package manager, if one is known here.
    pub manager: Option<Manager>,
    /// Whether the package lists have been fetched once.
    pub lists: bool,
    /// Whether this runs as root.
    pub root: bool,
    /// Whether `sudo` is here.
    pub sudo: bool,
    /// Whether `rustup` is here.
    pub rustup: bool,
    /// Whether this is macOS.
    pub macos: bool,
    /// The MPI family of which a part is installed.
    pub mpi: Option<Family>,
}

/// One command of a set-up.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// Program and arguments.
    pub command: Vec<String>,
    /// A command to run before trying this one again, when it failed (stale package lists).
    pub retry_after: Option<Vec<String>>,
}

/// The commands that provide everything missing, in order; or why that cannot be done from here.
pub fn commands(situation: &Situation) -> Result<Vec<Action>, String> {
    let mut actions = Vec::new();
    let components: Vec<&str> = situation.missing.iter().filter_map(|need| component(*need)).collect();
    if !components.is_empty() {
        if !situation.rustup {
            return Err(format!(
                "{} missing and there is no rustup to install it with; install it the way Rust was installed here",
                components.join(" and ")
            ));
        }
        actions.push(action(&["rustup", "component", "add"], &components));
    }
    let system: Vec<Need> = situation.missing.iter().copied().filter(|need| component(*need).is_none()).collect();
    if system.is_empty() {
        return Ok(actions);
    }
    if situation.macos && system.contains(&Need::CCompiler) {
        return Err("there is no C compiler; run `xcode-select --install`, then this command again".into());
    }
    let Some(manager) = situation.manager else {
        return Err(no_manager(&system, situation.macos));
    };
    let mut packages: Vec<&str> = Vec::new();
    for package in system.iter().flat_map(|need| manager.packages(*need, situation.mpi)) {
        if !packages.contains(package) {
            packages.push(package);
        }
    }
    let sudo: &[&str] = if situation.root || manager == Manager::Brew { &[] } else { &["sudo"] };
    let refresh = manager.refresh().map(|command| [sudo, command].concat());
    let install = action(&[sudo, manager.install()].concat(), &packages);
    if !sudo.is_empty() && !situation.sudo {
        return Err(format!(
            "this needs an administrator: there is no sudo here. Ask one to run\n    {}",
            install.command.join(" ")
        ));
    }
    match refresh {
        Some(refresh) if !situation.lists => actions.extend([action(&refresh, &[]), install]),
        Some(refresh) if manager == Manager::Apt => {
            actions.push(Action { retry_after: Some(action(&refresh, &[]).command), ..install });
        }
        _ => actions.push(install),
    }
    Ok(actions)
}

fn no_manager(system: &[Need], macos: bool) -> String {
    if macos {
        return "there is no Homebrew (brew), which set-up uses on macOS; see https://brew.sh, then run this again"
            .into();
    }
    let list: Vec<String> = system.iter().map(|need| format!("    {}", need.why())).collect();
    format!(
        "none of apt-get, dnf, pacman and brew is here; install these the way this system does it, then run this again:\n{}",
        list.join("\n")
    )
}

fn component(need: Need) -> Option<&'static str> {
    match need {
        Need::Rustfmt => Some("rustfmt"),
        Need::Clippy => Some("clippy"),
        _ => None,
    }
}

fn action(command: &[&str], arguments: &[&str]) -> Action {
    Action { command: command.iter().chain(arguments).map(|word| word.to_string()).collect(), retry_after: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Need; 6] =
        [Need::Graphics, Need::CCompiler, Need::MpiLibrary, Need::MpiLauncher, Need::Libclang, Need::Screen];

    fn bare(manager: Manager) -> Situation {
        Situation {
            missing: ALL.into(),
            manager: Some(manager),
            lists: false,
            root: true,
            sudo: false,
            rustup: true,
            macos: false,
            mpi: None,
        }
    }

    fn lines(situation: &Situation) -> Vec<String> {
        commands(situation).unwrap().iter().map(|action| action.command.join(" ")).collect()
    }

    #[test]
    fn a_bare_debian() {
        let install = "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
                       mesa-vulkan-drivers libvulkan1 gcc libc6-dev libopenmpi-dev openmpi-bin libclang-dev clang xvfb \
                       libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2";
        assert_eq!(lines(&bare(Manager::Apt)), ["apt-get update", install]);
        let listed = Situation { lists: true, ..bare(Manager::Apt) };
        assert_eq!(lines(&listed), [install]);
        assert_eq!(commands(&listed).unwrap()[0].retry_after, Some(vec!["apt-get".into(), "update".into()]));
        let user = Situation { root: false, sudo: true, ..bare(Manager::Apt) };
        assert_eq!(lines(&user), ["sudo apt-get update", &format!("sudo {install}")]);
    }

    #[test]
    fn other_distributions() {
        assert_eq!(
            lines(&bare(Manager::Dnf)),
            ["dnf install -y mesa-vulkan-drivers vulkan-loader gcc openmpi-devel openmpi clang-devel \
              xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr"]
        );
        let arch = "pacman -S --noconfirm --needed vulkan-swrast vulkan-icd-loader gcc openmpi clang \
                    xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr";
        assert_eq!(lines(&bare(Manager::Pacman)), ["pacman -Sy --noconfirm", arch]);
        // Fetching lists without a full upgrade is not done behind the back of an Arch user who has lists.
        let listed = Situation { lists: true, ..bare(Manager::Pacman) };
        assert_eq!(commands(&listed).unwrap()[0].retry_after, None);
    }

    #[test]
    fn macs_need_no_sudo_and_no_vulkan() {
        let missing = vec![Need::MpiLibrary, Need::MpiLauncher, Need::Libclang];
        let mac = Situation { missing, root: false, macos: true, ..bare(Manager::Brew) };
        assert_eq!(lines(&mac), ["brew install open-mpi llvm"]);
        let no_brew = Situation { manager: None, ..mac.clone() };
        assert!(commands(&no_brew).unwrap_err().contains("brew.sh"));
        let no_compiler = Situation { missing: vec![Need::CCompiler], ..mac };
        assert!(commands(&no_compiler).unwrap_err().contains("xcode-select --install"));
    }

    #[test]
    fn the_family_that_is_here_is_completed() {
        for (missing, family, package) in [
            (Need::MpiLibrary, Family::Mpich, "libmpich-dev"),
            (Need::MpiLauncher, Family::Mpich, "mpich"),
            (Need::MpiLauncher, Family::OpenMpi, "openmpi-bin"),
        ] {
            let half = Situation { missing: vec![missing], mpi: Some(family), lists: true, ..bare(Manager::Apt) };
            assert!(lines(&half)[0].ends_with(&format!(" {package}")), "{:?}", lines(&half));
        }
    }

    #[test]
    fn components_come_from_rustup() {
        let missing = vec![Need::Rustfmt, Need::Clippy];
        let situation = Situation { missing, ..bare(Manager::Apt) };
        assert_eq!(lines(&situation), ["rustup component add rustfmt clippy"]);
        assert!(commands(&Situation { rustup: false, ..situation }).unwrap_err().contains("no rustup"));
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let nobody = Situation { root: false, sudo: false, ..bare(Manager::Apt) };
        let text = commands(&nobody).unwrap_err();
        assert!(text.contains("administrator") && text.contains("libopenmpi-dev"), "{text}");
        let unknown = Situation { manager: None, ..bare(Manager::Apt) };
        assert!(commands(&unknown).unwrap_err().contains("libclang"));
        assert_eq!(commands(&Situation { missing: vec![], ..unknown }).unwrap(), []);
    }

    #[test]
    fn every_need_has_packages_where_a_manager_can_help() {
        for manager in [Manager::Apt, Manager::Dnf, Manager::Pacman] {
            for need in ALL {
                assert!(!manager.packages(need, None).is_empty(), "{manager:?} {need:?}");
            }
        }
    }
}
