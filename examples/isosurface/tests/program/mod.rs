//! The program `isosurface` with many kinds of files.

mod inputs;
mod levels;
mod positions;

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// Temporary directory, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("zippy-isosurface-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, head: &str, data: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, [head.as_bytes(), data].concat()).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn program(ranks: usize, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isosurface"));
    command.env_remove("ZIPPY_RANKS").args(["--ranks", &ranks.to_string()]).args(arguments);
    command.output().unwrap()
}

/// Runs the program; returns its output as JSON objects, and its standard error.
fn run_json(ranks: usize, arguments: &[&str]) -> (Vec<Value>, String) {
    let output = program(ranks, &[&["--json"], arguments].concat());
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments:?}: {notes}");
    let text = String::from_utf8(output.stdout).unwrap();
    (text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), notes)
}

/// Runs a command that must fail; returns its standard error.
fn run_error(arguments: &[&str]) -> String {
    let output = program(2, arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn number(found: &Value, name: &str) -> f64 {
    found[name].as_f64().unwrap_or_else(|| panic!("{name} in {found}"))
}

/// Cells of a file as bytes, x fastest.
fn cells<T>(shape: [i64; 3], value: impl Fn([i64; 3]) -> T, bytes: impl Fn(T) -> Vec<u8>) -> Vec<u8> {
    let [nx, ny, nz] = shape;
    let all = (0..nz).flat_map(|z| (0..ny).flat_map(move |y| (0..nx).map(move |x| [x, y, z])));
    all.flat_map(|at| bytes(value(at))).collect()
}

/// Depth of a point in a ball of radius 6.3 in the middle of 24 samples on a side.
fn depth([x, y, z]: [i64; 3]) -> f64 {
    6.3 - [x, y, z].map(|x| (x as f64 - 11.5).powi(2)).iter().sum::<f64>().sqrt()
}

/// Volume of the ball. An extracted surface has 1.5 % less.
const BALL: f64 = 4.0 / 3.0 * std::f64::consts::PI * 6.3 * 6.3 * 6.3;

const SURFACE: f64 = 1031.735;
