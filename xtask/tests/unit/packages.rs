use super::*;

use crate::machine::tests::FakeMachine;

const ALL: [Need; 4] = [GRAPHICS_DRIVER, OPEN_MPI, LIBCLANG, SCREEN];

/// A machine with only these programs.
fn machine_with_programs(name: &str, os: &'static str, programs: &[&str]) -> FakeMachine {
    let bare = FakeMachine::new(&format!("packages-{name}"), os);
    programs.iter().fold(bare, |machine, program| machine.program(&format!("/usr/bin/{program}")))
}

fn lines(machine: &FakeMachine, missing: &[Need]) -> Vec<String> {
    commands(&machine.machine, missing).unwrap()
}

fn refusal(machine: &FakeMachine, missing: &[Need]) -> String {
    commands(&machine.machine, missing).unwrap_err().to_string()
}

#[test]
fn needs_on_debian_are_installed_by_apt_get() {
    let install = "env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
                   mesa-vulkan-drivers libvulkan1 libopenmpi-dev openmpi-bin libclang-dev clang xvfb \
                   libxkbcommon-x11-0 libx11-6 libx11-xcb1 libxcursor1 libxi6 libxrandr2";
    let debian = machine_with_programs("debian", "linux", &["apt-get", "sudo"]);
    assert_eq!(lines(&debian, &ALL), ["sudo apt-get update", &format!("sudo {install}")]);
    assert_eq!(lines(&debian.root_user(), &ALL), ["apt-get update", install]);
}

#[test]
fn needs_on_fedora_and_arch_are_installed_by_dnf_and_pacman() {
    assert_eq!(
        lines(&machine_with_programs("fedora", "linux", &["dnf"]).root_user(), &ALL),
        ["dnf install -y mesa-vulkan-drivers vulkan-loader openmpi-devel openmpi clang-devel \
          xorg-x11-server-Xvfb libxkbcommon-x11 libX11 libX11-xcb libXcursor libXi libXrandr"]
    );
    let install = "pacman -S --noconfirm --needed vulkan-swrast vulkan-icd-loader openmpi clang \
                   xorg-server-xvfb libxkbcommon-x11 libx11 libxcursor libxi libxrandr";
    assert_eq!(
        lines(&machine_with_programs("arch", "linux", &["pacman"]).root_user(), &ALL),
        ["pacman -Sy --noconfirm", install]
    );
}

#[test]
fn needs_on_macos_are_installed_by_brew_without_sudo_and_vulkan() {
    let missing = [OPEN_MPI, LIBCLANG];
    let mac = machine_with_programs("mac", "macos", &["brew"]);
    assert_eq!(lines(&mac, &missing), ["brew install open-mpi llvm"]);
    assert!(refusal(&machine_with_programs("no-brew", "macos", &["apt-get"]), &missing).contains("brew.sh"));
    assert!(
        refusal(&machine_with_programs("brew-elsewhere", "linux", &["brew"]), &missing)
            .contains("apt-get or dnf or pacman")
    );
    assert!(ALL.iter().filter(|need| need.packages[4].is_empty()).all(|need| (need.missing)(&mac.machine).is_none()));
}

#[cfg(unix)]
#[test]
fn half_installed_mpi_is_completed_by_packages_of_its_family() {
    const HYDRA: &str = "#!/bin/sh\necho HYDRA";
    for (name, launcher, package) in
        [("mpich", HYDRA, "libmpich-dev mpich"), ("other", "", "libopenmpi-dev openmpi-bin")]
    {
        let half = machine_with_programs(name, "linux", &["apt-get"]).root_user().script("/usr/bin/mpirun", launcher);
        let missing: Vec<Need> =
            MPI[..2].iter().filter(|need| (need.missing)(&half.machine).is_some()).copied().collect();
        assert!(lines(&half, &missing)[1].ends_with(&format!(" {package}")), "{:?}", lines(&half, &missing));
    }
    let whole = machine_with_programs("whole", "linux", &["mpicc", "mpirun"]);
    assert!(MPI[..2].iter().all(|need| (need.missing)(&whole.machine).is_none()));
}

#[test]
fn rust_components_are_installed_by_rustup() {
    let rustup = machine_with_programs("rustup", "linux", &["rustup"]);
    assert_eq!(lines(&rustup, &[RUST_TOOLS]), ["rustup component add rustfmt clippy"]);
    assert!(refusal(&rustup, &[RUST_TOOLS, LIBCLANG]).contains("apt-get"));
    assert!(refusal(&machine_with_programs("no-rustup", "linux", &[]), &[RUST_TOOLS]).contains("rustup"));
}

#[test]
fn commands_without_manager_or_sudo_are_errors_that_name_packages() {
    let text = refusal(&machine_with_programs("nobody", "linux", &["apt-get"]), &ALL);
    assert!(text.contains("administrator") && text.contains("libopenmpi-dev"), "{text}");
    let unknown = machine_with_programs("unknown", "linux", &[]);
    assert!(refusal(&unknown, &ALL).contains("libclang"));
    assert_eq!(lines(&unknown, &[]), [""; 0]);
}

#[test]
fn every_need_has_packages_of_every_system_package_manager() {
    for (index, (program, ..)) in
        MANAGERS.iter().enumerate().filter(|(_, (program, ..))| !["brew", "rustup"].contains(program))
    {
        for need in ALL.iter().chain([&MPICH]) {
            assert!(!need.packages[index].is_empty(), "{program} {}", need.why);
        }
    }
}
