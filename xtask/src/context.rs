//! Where this runs and with which environment, and how Cargo is asked to build things.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::machine::{Machine, Os};
use crate::process;

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
    pub name: String,
    pub package: String,
    /// Whether its package has the feature `mpi`.
    pub has_mpi: bool,
}

/// A program that Cargo has built.
#[derive(Debug, Clone, PartialEq)]
pub struct Built {
    pub name: String,
    /// `example`, `bin`, `test`, `bench`, `unittest`, …
    pub kind: String,
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
    pub fn cargo(&self, words: &[&str]) -> Command {
        let mut command = self.command(self.machine.var("CARGO").unwrap_or("cargo"));
        command.args(words);
        command
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
        let text = process::output(&mut self.cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
        let metadata: Value = serde_json::from_str(&text)
            .map_err(|error| format!("`cargo metadata` printed something unexpected ({error})"))?;
        let mut targets: Vec<Target> =
            list(&metadata["packages"]).iter().flat_map(|package| targets(package, kind)).collect();
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(targets)
    }

    /// Runs a Cargo command that builds, and lists the programs; Cargo's own messages go to the terminal.
    pub fn build(&self, arguments: &[&str]) -> Result<Vec<Built>, String> {
        let mut command = self.cargo(arguments);
        command.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("cargo: {error}"))?;
        let stdout = BufReader::new(child.stdout.take().ok_or("cargo has no output")?);
        let programs = stdout.lines().map_while(Result::ok).filter_map(|line| built(&line)).collect();
        let status = child.wait().map_err(|error| format!("cargo: {error}"))?;
        if status.success() { Ok(programs) } else { Err(format!("`cargo {}` failed", arguments.join(" "))) }
    }
}

/// The elements of an array; nothing for anything else.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The targets of a package in Cargo's metadata.
fn targets(package: &Value, kind: &str) -> Vec<Target> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let found =
        list(&package["targets"]).iter().filter(|target| list(&target["kind"]).iter().any(|found| found == kind));
    let has_mpi = package["features"].get("mpi").is_some();
    found.map(|target| Target { name: text(&target["name"]), package: text(&package["name"]), has_mpi }).collect()
}

/// The program that one of Cargo's messages announces.
fn built(line: &str) -> Option<Built> {
    let message: Value = serde_json::from_str(line).ok()?;
    let path = message["executable"].as_str()?.into();
    let name = message["target"]["name"].as_str()?.into();
    // A library or a program built as its own unit tests.
    let kind = match message["target"]["kind"][0].as_str()? {
        kind if message["profile"]["test"] == true && kind != "test" && kind != "bench" => "unittest",
        kind => kind,
    };
    Some(Built { name, kind: kind.into(), path })
}

fn prepend(first: &str, rest: Option<&str>) -> String {
    rest.map_or(first.into(), |rest| format!("{first}:{rest}"))
}

#[cfg(test)]
#[path = "../tests/unit/context.rs"]
mod tests;
