//! The commands of a set-up.

use super::*;

use crate::machine::tests::Pretend;

const ALL: [Need; 6] =
    [Need::Graphics, Need::CCompiler, Need::MpiLibrary, Need::MpiLauncher, Need::Libclang, Need::Screen];

/// A machine with nothing but these programs.
fn with(name: &str, os: Os, programs: &[&str]) -> Pretend {
    let bare = Pretend::new(&format!("packages-{name}"), os);
    programs.iter().fold(bare, |machine, program| machine.program(&format!("/usr/bin/{program}")))
}

fn lines(machine: &Pretend, missing: &[Need], root: bool) -> Vec<String> {
    let actions = commands(&machine.machine, missing, None, root).unwrap();
    actions.into_iter().map(|action| action.command).collect()
}

fn refusal(machine: &Pretend, missing: &[Need], root: bool) -> String {
    commands(&machine.machine, missing, None, root).unwrap_err()
}

const DEBIAN_LIST: &str = "/var/lib/apt/lists/deb.debian.org_debian_dists_bookworm_main_Packages.lz4";

#[test]
fn a_bare_debian() {
    let install = "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
                   mesa-vulkan-drivers libvulkan1 gcc libc6-dev libopenmpi-dev openmpi-bin libclang-dev clang xvfb \
                   libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2";
    let debian = with("debian", Os::Linux, &["apt-get", "sudo"]);
    assert_eq!(lines(&debian, &ALL, true), ["apt-get update", install]);
    assert_eq!(lines(&debian, &ALL, false), ["sudo apt-get update", &format!("sudo {install}")]);
    let listed = debian.file(DEBIAN_LIST, "");
    assert_eq!(lines(&listed, &ALL, true), [install]);
    let actions = commands(&listed.machine, &ALL, None, true).unwrap();
    assert_eq!(actions[0].retry_after, Some("apt-get update".into()));
}

#[test]
fn other_distributions() {
    assert_eq!(
        lines(&with("fedora", Os::Linux, &["dnf"]), &ALL, true),
        ["dnf install -y mesa-vulkan-drivers vulkan-loader gcc openmpi-devel openmpi clang-devel \
          xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr"]
    );
    let packages = "pacman -S --noconfirm --needed vulkan-swrast vulkan-icd-loader gcc openmpi clang \
                    xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr";
    let arch = with("arch", Os::Linux, &["pacman"]);
    assert_eq!(lines(&arch, &ALL, true), ["pacman -Sy --noconfirm", packages]);
    // Fetching lists without a full upgrade is not done behind the back of an Arch user who has lists.
    let listed = arch.file("/var/lib/pacman/sync/core.db", "");
    let actions = commands(&listed.machine, &ALL, None, true).unwrap();
    assert_eq!(actions, [Action { command: packages.into(), retry_after: None }]);
}

#[test]
fn macs_need_no_sudo_and_no_vulkan() {
    let missing = [Need::MpiLibrary, Need::MpiLauncher, Need::Libclang];
    let mac = with("mac", Os::Mac, &["brew"]);
    assert_eq!(lines(&mac, &missing, false), ["brew install open-mpi llvm"]);
    assert!(refusal(&with("no-brew", Os::Mac, &["apt-get"]), &missing, false).contains("brew.sh"));
    assert!(refusal(&mac, &[Need::CCompiler], false).contains("xcode-select --install"));
}

#[test]
fn the_family_that_is_here_is_completed() {
    let debian = with("half", Os::Linux, &["apt-get"]).file(DEBIAN_LIST, "");
    for (missing, family, package) in [
        (Need::MpiLibrary, Family::Mpich, "libmpich-dev"),
        (Need::MpiLauncher, Family::Mpich, "mpich"),
        (Need::MpiLauncher, Family::OpenMpi, "openmpi-bin"),
    ] {
        let actions = commands(&debian.machine, &[missing], Some(family), true).unwrap();
        assert!(actions[0].command.ends_with(&format!(" {package}")), "{actions:?}");
    }
}

#[test]
fn components_come_from_rustup() {
    let missing = [Need::Rustfmt, Need::Clippy];
    assert_eq!(
        lines(&with("rustup", Os::Linux, &["rustup"]), &missing, false),
        ["rustup component add rustfmt clippy"]
    );
    assert!(refusal(&with("no-rustup", Os::Linux, &[]), &missing, true).contains("no rustup"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let text = refusal(&with("nobody", Os::Linux, &["apt-get"]), &ALL, false);
    assert!(text.contains("administrator") && text.contains("libopenmpi-dev"), "{text}");
    let unknown = with("unknown", Os::Linux, &[]);
    assert!(refusal(&unknown, &ALL, true).contains("libclang"));
    assert_eq!(lines(&unknown, &[], true), [""; 0]);
}

#[test]
fn every_need_has_packages_where_a_manager_can_help() {
    for (at, manager) in MANAGERS.iter().enumerate().filter(|(_, manager)| manager.program != "brew") {
        for need in ALL {
            assert!(!need.packages(None)[at].is_empty(), "{} {need:?}", manager.program);
        }
    }
}
