//! Scans and sorts of u32 by the crate lampshade, in a separate process (peers/lampshade).

use std::path::Path;
use std::process::Command;

use serde_json::json;
use zippy::World;

use super::peer::Peer;

/// Environment variable that enables the comparison with other programs; set by
/// `cargo xtask bench --peers`.
pub(crate) const PEERS_VARIABLE: &str = "ZIPPY_BENCH_PEERS";

/// A running lampshade process that has opened this rank's adapter.
pub(crate) struct Lampshade(Peer);

impl Lampshade {
    /// Builds the program under `target/peers` and starts it, if [`PEERS_VARIABLE`] is set.
    pub(crate) fn start(world: &World) -> Result<Option<Self>, String> {
        if std::env::var_os(PEERS_VARIABLE).is_none() {
            return Ok(None);
        }
        let benches = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or("target".into());
        // Built outside the workspace: its wgpu needs other features.
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo.args(["run", "--quiet", "--release", "--manifest-path"]);
        cargo.arg(benches.join("peers/lampshade/Cargo.toml"));
        cargo.arg("--target-dir").arg(benches.join("..").join(target).join("peers/lampshade"));
        let mut peer = Peer::start("lampshade", &mut cargo)?;
        peer.request(&json!({ "do": "open", "adapter": world.gpu().adapter().name }))?;
        Ok(Some(Self(peer)))
    }

    /// Runs a `scan` or `sort` on the device.
    pub(crate) fn run(&mut self, operation: &str, cells: usize) -> Result<(), String> {
        self.0.request(&json!({ "do": operation, "cells": cells })).map(drop)
    }
}
