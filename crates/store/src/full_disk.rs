//! Test support: a full disk, by a small file system if this process may mount one, else by a limit
//! on file sizes.

use std::path::Path;
use std::process::{Command, Output};

/// Environment variable that is set in the child if the directory is a small file system.
pub(crate) const SMALL: &str = "ZIPPY_IO_FULL_SMALL";

/// Runs the test `child` of this program with little disk space in the directory, whose path the
/// variable contains; returns the output. The child prints "the disk was full" after it has seen
/// the error.
pub(crate) fn run(child: &str, variable: &str, directory: &Path) -> String {
    let mount = format!("mount -t tmpfs -o size=512k none \"${variable}\" || exit 97; export {SMALL}=1");
    let started = |before: &str, wrapper: &[&str]| by_shell(before, wrapper, child, (variable, directory));
    let output = match started(&mount, &["unshare", "-rm", "sh"]) {
        // Mounting failed: this process has no permission for user namespaces.
        Ok(output) if output.status.success() || output.status.code() == Some(101) => output,
        _ => started("trap '' XFSZ; ulimit -f 200", &["sh"]).unwrap(),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("the disk was full"), "{}", text(&output.stdout));
    text(&output.stdout)
}

/// As [`run`], with a limit on file sizes whose signal has its default effect.
pub(crate) fn run_limited(child: &str, variable: &str, directory: &Path) {
    let output = by_shell("ulimit -f 200", &["sh"], child, (variable, directory)).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("the disk was full"), "{}", text(&output.stdout));
}

/// Runs the child by a shell, after the commands `before`.
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
