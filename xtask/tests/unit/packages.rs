//! The commands of a set-up.

use super::*;

use crate::machine::tests::Pretend;

const ALL: [Need; 4] = [GRAPHICS_DRIVER, OPEN_MPI, LIBCLANG, SCREEN];

/// A machine with nothing but these programs.
fn with(name: &str, os: &'static str, programs: &[&str]) -> Pretend {
    let bare = Pretend::new(&format!("packages-{name}"), os);
    programs.iter().fold(bare, |machine, program| machine.program(&format!("/usr/bin/{program}")))
}

fn lines(machine: &Pretend, missing: &[Need]) -> Vec<String> {
    commands(&machine.machine, missing).unwrap()
}

fn refusal(machine: &Pretend, missing: &[Need]) -> String {
    commands(&machine.machine, missing).unwrap_err()
}

#[test]
fn a_bare_debian() {
    let install = "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
                   mesa-vulkan-drivers libvulkan1 libopenmpi-dev openmpi-bin libclang-dev clang xvfb \
                   libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2";
    let debian = with("debian", "linux", &["apt-get", "sudo"]);
    assert_eq!(lines(&debian, &ALL), ["sudo apt-get update", &format!("sudo {install}")]);
    assert_eq!(lines(&debian.root_user(), &ALL), ["apt-get update", install]);
}

#[test]
fn other_distributions() {
    assert_eq!(
        lines(&with("fedora", "linux", &["dnf"]).root_user(), &ALL),
        ["dnf install -y mesa-vulkan-drivers vulkan-loader openmpi-devel openmpi clang-devel \
          xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr"]
    );
    let install = "pacman -S --noconfirm --needed vulkan-swrast vulkan-icd-loader openmpi clang \
                   xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr";
    assert_eq!(lines(&with("arch", "linux", &["pacman"]).root_user(), &ALL), ["pacman -Sy --noconfirm", install]);
}

#[test]
fn macs_need_no_sudo_and_no_vulkan() {
    let missing = [OPEN_MPI, LIBCLANG];
    let mac = with("mac", "macos", &["brew"]);
    assert_eq!(lines(&mac, &missing), ["brew install open-mpi llvm"]);
    assert!(refusal(&with("no-brew", "macos", &["apt-get"]), &missing).contains("brew.sh"));
    assert!(refusal(&with("brew-elsewhere", "linux", &["brew"]), &missing).contains("apt-get or dnf or pacman"));
    assert!(ALL.iter().filter(|need| need.packages[4].is_empty()).all(|need| (need.missing)(&mac.machine).is_none()));
}

#[cfg(unix)]
#[test]
fn the_family_that_is_here_is_completed() {
    const HYDRA: &str = "#!/bin/sh\necho HYDRA";
    for (name, launcher, package) in
        [("mpich", HYDRA, "libmpich-dev mpich"), ("other", "", "libopenmpi-dev openmpi-bin")]
    {
        let half = with(name, "linux", &["apt-get"]).root_user().script("/usr/bin/mpirun", launcher);
        let missing: Vec<Need> =
            MPI[..2].iter().filter(|need| (need.missing)(&half.machine).is_some()).copied().collect();
        assert!(lines(&half, &missing)[1].ends_with(&format!(" {package}")), "{:?}", lines(&half, &missing));
    }
    let whole = with("whole", "linux", &["mpicc", "mpirun"]);
    assert!(MPI[..2].iter().all(|need| (need.missing)(&whole.machine).is_none()));
}

#[test]
fn components_come_from_rustup() {
    let rustup = with("rustup", "linux", &["rustup"]);
    assert_eq!(lines(&rustup, &[TOOLS]), ["rustup component add rustfmt clippy"]);
    assert!(refusal(&rustup, &[TOOLS, LIBCLANG]).contains("apt-get"));
    assert!(refusal(&with("no-rustup", "linux", &[]), &[TOOLS]).contains("rustup"));
}

#[test]
fn what_cannot_be_done_is_said() {
    let text = refusal(&with("nobody", "linux", &["apt-get"]), &ALL);
    assert!(text.contains("administrator") && text.contains("libopenmpi-dev"), "{text}");
    let unknown = with("unknown", "linux", &[]);
    assert!(refusal(&unknown, &ALL).contains("libclang"));
    assert_eq!(lines(&unknown, &[]), [""; 0]);
}

#[test]
fn every_need_has_packages_where_a_manager_can_help() {
    for (at, (program, ..)) in
        MANAGERS.iter().enumerate().filter(|(_, (program, ..))| !["brew", "rustup"].contains(program))
    {
        for need in ALL.iter().chain([&MPICH]) {
            assert!(!need.packages[at].is_empty(), "{program} {}", need.why);
        }
    }
}
