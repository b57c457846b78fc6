use std::process::Command;

use super::*;

#[test]
fn needed_glibc_is_latest_symbol_version_of_program() {
    let names = b"\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_2.9\0GLIBC_PRIVATE\0GLIBCXX_3.4\0GLIBC_";
    assert_eq!(needed_glibc(names), (2, 34));
    assert_eq!(needed_glibc(b"nothing"), (0, 0));
}

/// Runs the script `run-all` with a runner that prints its arguments. Returns success and the
/// output.
#[cfg(unix)]
fn script(major: u32, minor: u32, machine: &str) -> (bool, String) {
    let home = std::env::temp_dir().join(format!("zippy run-all {} {major}.{minor} {machine}", std::process::id()));
    std::fs::create_dir_all(home.join("bin")).unwrap();
    let text = include_str!("../../../bundle/run-all.sh");
    let numbers = [("@MAJOR@", major.to_string()), ("@MINOR@", minor.to_string()), ("@MACHINE@", machine.into())];
    let text = numbers.iter().fold(text.to_string(), |text, (name, value)| text.replace(name, value));
    std::fs::write(home.join("run-all"), text).unwrap();
    let runner = home.join("bin/runner");
    std::fs::write(&runner, "#!/bin/sh\necho \"runs with $*\"\n").unwrap();
    std::fs::set_permissions(&runner, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = Command::new("/bin/sh").arg(home.join("run-all")).arg("--gpu").env_clear().output().unwrap();
    std::fs::remove_dir_all(home).unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn run_all_refuses_older_c_library_and_other_processor() {
    assert_eq!(script(2, 1, std::env::consts::ARCH), (true, "runs with --gpu\n".into()));
    let (well, text) = script(2, 999, std::env::consts::ARCH);
    assert!(!well && text.contains("2.999") && !text.contains("runs with"), "{text}");
    let (well, text) = script(2, 1, "sparc");
    assert!(!well && text.contains("sparc") && !text.contains("runs with"), "{text}");
}
