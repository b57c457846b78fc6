//! For tests: a disk that is full, which is a small one where this process may mount it, else a limit on the size of files.

use std::path::Path;
use std::process::{Command, Output};

/// Set in the child where the directory is on a small disk of its own.
pub const SMALL: &str = "ZIPPY_IO_FULL_SMALL";

/// Runs the test `child` of this program with so little room in the directory, which the variable names there; returns what it
/// prints. It says "the disk was full" when it has seen that.
pub fn run(child: &str, variable: &str, directory: &Path) -> String {
    let mount = format!("mount -t tmpfs -o size=512k none \"${variable}\" || exit 97; export {SMALL}=1");
    let started = |before: &str, wrapper: &[&str]| by_shell(before, wrapper, child, (variable, directory));
    let output = match started(&mount, &["unshare", "-rm", "sh"]) {
        // Neither root nor allowed to be: no such file system can be had.
        Ok(output) if output.status.success() || output.status.code() == Some(101) => output,
        _ => started("trap '' XFSZ; ulimit -f 200", &["sh"]).unwrap(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("the disk was full"), "{}", text(&output.stdout));
    text(&output.stdout)
}

/// As [`run`], with a limit on the size of files whose signal has its usual effect.
pub fn run_limited(child: &str, variable: &str, directory: &Path) {
    let output = by_shell("ulimit -f 200", &["sh"], child, (variable, directory)).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("the disk was full"), "{}", text(&output.stdout));
}

/// Runs it by a shell that has done this before.
fn by_shell(
    before: &str,
    wrapper: &[&str],
    child: &str,
    (variable, directory): (&str, &Path),
) -> std::io::Result<Output> {
    let script = format!("{before}; exec \"$1\" --exact {child} --nocapture");
    let (first, rest) = wrapper.split_first().expect("a shell");
    let mut command = Command::new(first);
    command.args(rest).args(["-c", &script, "sh"]).arg(std::env::current_exe()?);
    command.env(variable, directory).output()
}
