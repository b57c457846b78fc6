//! Test support: a full disk, by a small file system if this process may mount one, else by a limit
//! on file sizes.

use std::path::Path;
use std::process::{Command, Output};

/// Environment variable of the child on a small file system.
pub(crate) const SMALL: &str = "ZIPPY_IO_FULL_SMALL";

/// Runs the test `child` of this program in a directory with little disk space, whose path
/// `variable` contains; returns the output. The child prints "the disk was full" after the error.
pub(crate) fn run(child: &str, variable: &str, directory: &Path) -> String {
    let mount = format!("mount -t tmpfs -o size=512k none \"${variable}\" || exit 97; export {SMALL}=1");
    let started = |setup: &str, wrapper: &[&str]| run_in_shell(setup, wrapper, child, (variable, directory));
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

/// Like [`run`], with a limit on file sizes whose signal has its default effect.
pub(crate) fn run_limited(child: &str, variable: &str, directory: &Path) {
    let output = run_in_shell("ulimit -f 200", &["sh"], child, (variable, directory)).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stdout).contains("the disk was full"), "{}", text(&output.stdout));
}

fn run_in_shell(
    setup: &str,
    wrapper: &[&str],
    child: &str,
    (variable, directory): (&str, &Path),
) -> std::io::Result<Output> {
    let script = format!("{setup}; exec \"$1\" --exact {child} --nocapture");
    let (first, rest) = wrapper.split_first().expect("a shell");
    let mut command = Command::new(first);
    command.args(rest).args(["-c", &script, "sh"]).arg(std::env::current_exe()?);
    command.env(variable, directory).output()
}
