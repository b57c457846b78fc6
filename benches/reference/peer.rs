//! [`Peer`]: a process that answers requests, one line of JSON each.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

pub(crate) struct Peer {
    name: &'static str,
    child: Child,
    requests: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    pub(crate) fn start(name: &'static str, command: &mut Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // An MPI library in the peer must not see the launcher's variables.
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| ["OMPI_", "PMI", "MPI"].iter().any(|start| name.starts_with(start))) {
                command.env_remove(name);
            }
        }
        let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
        let requests = child.stdin.take();
        let answers = BufReader::new(child.stdout.take().ok_or(format!("{name} has no output"))?);
        Ok(Self { name, child, requests, answers })
    }

    pub(crate) fn request(&mut self, request: &Value) -> Result<Value, String> {
        let name = self.name;
        let requests = self.requests.as_mut().ok_or(format!("{name} has no input"))?;
        let gone = |error: std::io::Error| format!("{name} has ended: {error}");
        writeln!(requests, "{request}").and_then(|()| requests.flush()).map_err(gone)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(gone)?;
        let answer: Value = serde_json::from_str(&line).map_err(|_| format!("{name} has ended: {line:?}"))?;
        match answer.get("error").and_then(Value::as_str) {
            Some(error) => Err(format!("{name}: {error}")),
            None => Ok(answer),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The program ends at the end of its input.
        drop(self.requests.take());
        let _ = self.child.wait();
    }
}
