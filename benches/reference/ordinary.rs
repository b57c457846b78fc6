//! [`Ordinary`]: a process with ordinary programs in C (peers/programs.c) or NumPy
//! (peers/programs.py).

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::lampshade::PEERS_VARIABLE;
use super::peer::Peer;
use super::vtk::PYTHON_VARIABLE;

/// Names of the peers, in the order of the report.
pub(crate) const NAMES: [&str; 2] = ["NumPy", "C"];

/// A running process that computes one program at a time; ends on drop.
pub(crate) struct Ordinary {
    peer: Peer,
}

impl Ordinary {
    /// Starts the peers in the order of [`NAMES`], if [`PEERS_VARIABLE`] is set. Prints a line for
    /// each peer that cannot be started.
    pub(crate) fn start_all() -> [Option<Self>; 2] {
        if std::env::var_os(PEERS_VARIABLE).is_none() {
            return [None, None];
        }
        let mut started = [Self::numpy(), Self::c()].into_iter().zip(NAMES).map(|(peer, name)| {
            let peer = peer.inspect_err(|why| println!("{name} is left out: {why}"));
            peer.ok().map(|peer| Self { peer })
        });
        std::array::from_fn(|_| started.next().flatten())
    }

    /// Compiles the C program under `target/peers` and starts it.
    fn c() -> Result<Peer, String> {
        let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
        let home = benches.join("..").join(target).join("peers");
        std::fs::create_dir_all(&home).map_err(|error| format!("{}: {error}", home.display()))?;
        let (source, program) = (benches.join("peers/programs.c"), home.join("programs"));
        let compiler = std::env::var_os("CC").unwrap_or("cc".into());
        let mut compile = Command::new(&compiler);
        compile
            .args(["-O3", "-march=native", "-ffast-math", "-fopenmp"])
            .arg(&source)
            .arg("-o")
            .arg(&program)
            .arg("-lm");
        let status = compile.status().map_err(|error| format!("{}: {error}", compiler.display()))?;
        if !status.success() {
            return Err(format!("{} cannot compile {}", compiler.display(), source.display()));
        }
        Peer::start("C", &mut Command::new(program))
    }

    /// Starts NumPy in the interpreter named by [`PYTHON_VARIABLE`], or in `python3`.
    fn numpy() -> Result<Peer, String> {
        let python = std::env::var_os(PYTHON_VARIABLE).unwrap_or(OsString::from("python3"));
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/programs.py");
        let mut peer = Peer::start("NumPy", Command::new(python).arg(program).stderr(Stdio::null()))?;
        peer.request(&json!({ "do": "start", "program": "axpy", "n": 1 }))?;
        Ok(peer)
    }

    /// Starts a program; false if the peer does not have it.
    pub(crate) fn start(&mut self, program: &str, n: i64) -> Result<bool, String> {
        let answer = self.peer.request(&json!({ "do": "start", "program": program, "n": n }))?;
        Ok(answer.get("missing").and_then(Value::as_bool) == Some(false))
    }

    /// Seconds of steps, without the communication with the process.
    pub(crate) fn steps(&mut self, steps: usize) -> Result<f64, String> {
        let answer = self.peer.request(&json!({ "do": "step", "steps": steps }))?;
        answer.get("secs").and_then(Value::as_f64).ok_or_else(|| format!("no seconds in {answer}"))
    }

    /// Weighted sum of the cells, weighted sum of their magnitudes, and the scalar that the last
    /// step has computed.
    pub(crate) fn values(&mut self) -> Result<[f64; 3], String> {
        let answer = self.peer.request(&json!({ "do": "values" }))?;
        let number = |index: usize| answer["values"][index].as_f64().ok_or_else(|| format!("no values in {answer}"));
        Ok([number(0)?, number(1)?, number(2)?])
    }
}
