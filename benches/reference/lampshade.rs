//! Scans and sorts of u32 by the crate lampshade (wgpu-primitives, before), in a process of its own (peers/lampshade).

use std::path::Path;
use std::process::Command;

use serde_json::json;
use zippy::World;

use super::peer::Peer;

/// Set where others are wanted beside the library, as by `cargo xtask bench --peers`.
pub const WANTED: &str = "ZIPPY_BENCH_PEERS";

/// The running program, with this rank's adapter open.
pub struct Lampshade(Peer);

impl Lampshade {
    /// Builds the program under `target/peers` and starts it, if others are wanted.
    ///
    /// # Errors
    /// What keeps it from opening the adapter, in words.
    pub fn start(world: &World) -> Result<Option<Self>, String> {
        if std::env::var_os(WANTED).is_none() {
            return Ok(None);
        }
        let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
        // Of no workspace: its wgpu has features of its own.
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["run", "--quiet", "--release", "--manifest-path"]);
        cargo.arg(benches.join("peers/lampshade/Cargo.toml"));
        cargo.arg("--target-dir").arg(benches.join("..").join(target).join("peers/lampshade"));
        let mut peer = Peer::start("lampshade", &mut cargo)?;
        peer.ask(&json!({ "do": "open", "adapter": world.gpu().adapter().name }))?;
        Ok(Some(Self(peer)))
    }

    /// Does one thing (`scan`, `sort`) with so many cells, which it has on the device, and waits for it.
    ///
    /// # Errors
    /// Its own, in words, and that it has ended.
    pub fn run(&mut self, what: &str, cells: usize) -> Result<(), String> {
        self.0.ask(&json!({ "do": what, "cells": cells })).map(drop)
    }
}
