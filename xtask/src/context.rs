//! Where this runs and with which environment, and how Cargo is asked to build things.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::json::Json;
use crate::machine::{Machine, Os};

/// The project, the machine, and what child processes see of it.
pub struct Context {
    /// The workspace.
    pub root: PathBuf,
    /// The machine, with the additions to the environment below.
    pub machine: Machine,
    additions: Vec<(&'static str, String)>,
}

/// Something that Cargo can build.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// The package that it belongs to.
    pub package: String,
    /// Its first source file.
    pub source: PathBuf,
    /// Whether its package has the feature `mpi`.
    pub has_mpi: bool,
}

/// A program that Cargo has built.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    /// The target's name.
    pub name: String,
    /// `example`, `bin`, `test`, `bench`, `lib`, …
    pub kind: String,
    /// The file.
    pub path: PathBuf,
}

impl Context {
    /// Looks at the machine.
    pub fn new() -> Result<Self, String> {
        let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest).parent().ok_or("xtask has no parent directory")?.to_path_buf();
        let mut machine = Machine::real();
        let mut additions = Vec::new();
        if let Some(home) = machine.hidden_mpi() {
            additions.push(("PATH", prepend(&format!("{home}/bin"), machine.var("PATH"))));
            additions.push(("LD_LIBRARY_PATH", prepend(&format!("{home}/lib"), machine.var("LD_LIBRARY_PATH"))));
        }
        if let Some(directory) = machine.hidden_libclang() {
            additions.push(("LIBCLANG_PATH", directory.into()));
        }
        if machine.os == Os::Linux && machine.var("XDG_RUNTIME_DIR").is_none() {
            // Window-system libraries that come with GPU drivers complain on every start without it.
            additions.push(("XDG_RUNTIME_DIR", std::env::temp_dir().display().to_string()));
            additions.push(("NODEVICE_SELECT", "1".into()));
        }
        machine.vars.extend(additions.iter().map(|(name, value)| (name.to_string(), value.clone())));
        Ok(Context { root, machine, additions })
    }

    /// A command in the workspace.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).envs(self.additions.iter().map(|(name, value)| (name, value)));
        // What Cargo tells xtask about xtask is not for the builds that xtask starts.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")) {
                command.env_remove(name);
            }
        }
        command
    }

    /// Cargo itself.
    pub fn cargo(&self) -> Command {
        self.command(self.machine.var("CARGO").unwrap_or("cargo"))
    }

    /// The directory of build results.
    pub fn target(&self) -> PathBuf {
        self.machine.var("CARGO_TARGET_DIR").map_or(self.root.join("target"), |dir| self.root.join(dir))
    }

    /// A directory for files that xtask makes.
    pub fn scratch(&self, name: &str) -> Result<PathBuf, String> {
        let directory = self.target().join("xtask").join(name);
        std::fs::create_dir_all(&directory).map_err(|error| format!("{}: {error}", directory.display()))?;
        Ok(directory)
    }

    /// The workspace's own targets of a kind (`example`, `bench`, …), sorted by name.
    pub fn targets(&self, kind: &str) -> Result<Vec<Target>, String> {
        let mut command = self.cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]).stderr(Stdio::inherit());
        let output = command.output().map_err(|error| format!("cargo: {error}"))?;
        let metadata = Json::parse(&String::from_utf8_lossy(&output.stdout))
            .map_err(|error| format!("`cargo metadata` printed something unexpected ({error})"))?;
        let mut targets = Vec::new();
        for package in metadata.get("packages").map(Json::list).unwrap_or_default() {
            let name = package.get("name").and_then(Json::text).unwrap_or_default();
            let has_mpi = package.get("features").is_some_and(|features| features.get("mpi").is_some());
            let found = package.get("targets").map(Json::list).unwrap_or_default().iter();
            targets
                .extend(found.filter(|target| is_kind(target, kind)).filter_map(|found| target(found, name, has_mpi)));
        }
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(targets)
    }

    /// Runs a Cargo command that builds, and lists the programs; Cargo's own messages go to the terminal.
    pub fn build(&self, arguments: &[&str]) -> Result<Vec<Built>, String> {
        let mut command = self.cargo();
        command.args(arguments).arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cargo: {error}"))?;
        let stdout = BufReader::new(child.stdout.take().ok_or("cargo has no output")?);
        let programs = stdout.lines().map_while(Result::ok).filter_map(|line| built(&line)).collect();
        let status = child.wait().map_err(|error| format!("cargo: {error}"))?;
        if status.success() { Ok(programs) } else { Err(format!("`cargo {}` failed", arguments.join(" "))) }
    }
}

/// The program that one of Cargo's messages announces.
fn built(line: &str) -> Option<Built> {
    let message = Json::parse(line).ok()?;
    let path = message.get("executable")?.text()?.into();
    let target = message.get("target")?;
    let test = message.get("profile").and_then(|profile| profile.get("test")).and_then(Json::bool) == Some(true);
    let kind = target.get("kind")?.list().first()?.text()?;
    // A library or a program built as its own unit tests.
    let kind = if test && kind != "test" && kind != "bench" { "unittest" } else { kind };
    Some(Built { name: target_name(target)?, kind: kind.into(), path })
}

fn target(target: &Json, package: &str, has_mpi: bool) -> Option<Target> {
    let source = target.get("src_path")?.text()?.into();
    Some(Target { name: target_name(target)?, package: package.into(), source, has_mpi })
}

fn target_name(target: &Json) -> Option<String> {
    target.get("name")?.text().map(String::from)
}

fn is_kind(target: &Json, kind: &str) -> bool {
    target.get("kind").map(Json::list).unwrap_or_default().iter().any(|found| found.text() == Some(kind))
}

fn prepend(first: &str, rest: Option<&str>) -> String {
    rest.map_or(first.into(), |rest| format!("{first}:{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_from_messages() {
        let message = |kind: &str, test: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"volume"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let example = built(&message("example", "false", r#""/t/volume""#)).unwrap();
        assert_eq!(example, Built { name: "volume".into(), kind: "example".into(), path: "/t/volume".into() });
        assert_eq!(built(&message("lib", "true", r#""/t/zippy-1""#)).unwrap().kind, "unittest");
        assert_eq!(built(&message("bench", "true", r#""/t/b""#)).unwrap().kind, "bench");
        assert_eq!(built(&message("lib", "false", "null")), None);
        assert_eq!(built("   Compiling"), None);
    }

    #[test]
    fn targets_are_read_from_metadata() {
        let json = r#"{"kind": ["test"], "name": "kernels", "src_path": "/p/tests/kernels/main.rs"}"#;
        let found = target(&Json::parse(json).unwrap(), "zippy-ga", true).unwrap();
        let source = "/p/tests/kernels/main.rs".into();
        assert_eq!(found, Target { name: "kernels".into(), package: "zippy-ga".into(), source, has_mpi: true });
    }

    #[test]
    fn search_paths() {
        assert_eq!(prepend("/a", None), "/a");
        assert_eq!(prepend("/a", Some("/b:/c")), "/a:/b:/c");
    }
}
