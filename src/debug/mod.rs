//! Debug points for viewers and recordings: pausing, stepping and inspecting a running program.
//!
//! A viewer can pause, step and inspect a program at its [debug points](crate::World::debug_point),
//! and a recording can store its arrays. The environment variable `ZIPPY_DEBUG` or [`attach`]
//! selects both. `ZIPPY_DEBUG` has words separated by commas, such as
//! `ZIPPY_DEBUG=listen:7777,pause,record:run.zrec,every:10`:
//!
//! | word | meaning |
//! |---|---|
//! | `spawn` | start the viewer |
//! | `listen:PORT` | listen for viewers at a port of this machine (0 for any) |
//! | `record:FILE` | record all arrays to a file |
//! | `every:N` | record only debug points whose number is a multiple of N |
//! | `most:SIZE` | size limit of an array; larger ones get strides (4M, the maximum) |
//! | `limit:SIZE` | size limit of the recording; the run continues without it (none) |
//! | `pause`, `run` | wait at the first debug point, or not (`pause` with `spawn`, else `run`) |
//! | `lost:SECONDS`, `lost:keep` | wait of a paused program for a viewer, or for ever (60 s) |
//! | `silent:SECONDS` | a viewer that does not answer for this time is disconnected (60 s) |
//!
//! Defaults are in parentheses. Sizes have the units K, M, G, T (also KiB to TiB) of powers of
//! 1024, or kB to TB of powers of 1000.
//!
//! `spawn` starts the executable `ZIPPY_DEBUGGER`, or `zippy-debugger` next to the program or on
//! `PATH`. The program prints to standard error how other viewers connect. `ZIPPY_DEBUG_TOKEN` sets
//! the token for viewers, 32 hexadecimal digits; by default each run has a new one.
//!
//! Rank 0 alone communicates with viewers, and broadcasts their requests to the other ranks. While
//! the program runs, ranks synchronize about fifty times a second, and at the debug points at which
//! a rule must be evaluated. No messages are sent at other debug points.
//!
//! Sections, strides and statistics of cells are computed where the cells are, so that only
//! displayed data travels. Fan, Qiu, Kaufman, *Zippy* (Eurographics 2008), section 3.4.

#[cfg(test)]
mod activity_tests;
mod answers;
mod compare;
#[cfg(test)]
mod compare_tests;
mod control;
mod debug_observer;
mod listing;
mod measure;
#[cfg(test)]
mod measure_tests;
mod moves;
mod order;
mod percentiles;
mod recorder;
mod reports;
mod server;
mod settings;
mod spawn;
mod summary;
mod sync_interval;
mod timeline;
mod views;
mod world_facts;
#[cfg(test)]
mod world_facts_tests;

pub use settings::Settings;

use std::env;
use std::net::SocketAddr;

use control::Control;
use debug_observer::DebugObserver;
use recorder::Recorder;
use server::Server;
use settings::Viewer;

use zippy_protocol::Program;

use crate::World;
use crate::error::{CallSite, Error, Result};
use crate::trace;
use crate::transport::{TransportKind, decoded, encoded};
use crate::world::CollectiveWorld;

/// Address and token with which viewers connect to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewerAccess {
    /// Port on rank 0's machine.
    pub port: u16,
    /// Token that a viewer must know.
    pub token: String,
}

/// Attaches viewers and recordings to a run, from its next debug point on. Collective; the settings
/// of rank 0 apply. Returns the address for viewers on rank 0 if the settings allow viewers.
///
/// # Errors
/// A port in use, a file that cannot be written, or invalid settings; all ranks return the same
/// error. A viewer that cannot be started causes only a warning.
///
/// # Examples
/// ```
/// # use zippy::{Layout, debug};
/// # let directory = std::env::temp_dir().join(format!("zippy-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&directory).unwrap();
/// # let file = directory.join("run.zrec");
/// zippy::run(|world| {
///     debug::attach(world, &debug::Settings::record(&file))?;
///     let a = world.array::<f32, 1>("a", &Layout::new([10]))?;
///     a.fill_with(|[x]| x as f32)?;
///     world.debug_point("filled")
/// }).unwrap();
/// assert!(std::fs::metadata(&file).unwrap().len() > 40);
/// # std::fs::remove_dir_all(&directory).unwrap();
/// ```
#[track_caller]
pub fn attach(world: &World, settings: &Settings) -> Result<Option<ViewerAccess>> {
    let _call = CallSite::enter();
    let mut adapters: Vec<String> = Vec::new();
    for name in world.group().all_gather_v(encoded(&world.gpu().adapter().name)?)? {
        let name = decoded(&name)?;
        if !adapters.contains(&name) {
            adapters.push(name);
        }
    }
    let root_settings = (world.rank() == 0)
        .then(|| encoded(&(settings.viewer.is_some(), settings.record.as_ref().map(|record| record.every))));
    let (viewers, every): (bool, Option<u64>) = decoded(&world.group().broadcast(0, root_settings.transpose()?)?)?;
    let executable = env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    let name = executable.unwrap_or_else(|| "a program".into());
    let program = Program { name, ranks: world.size() as u32, checked: world.is_checked(), adapters };
    let started = match world.rank() {
        0 => start(settings, &program).map_err(Error::program),
        _ => Ok((None, None)),
    };
    let (control, recorder) = world.agree("attaching viewers and recordings", started)?;
    let access = control.as_ref().map(|(_, access)| access.clone());
    let recorder = recorder.or_else(|| every.map(Recorder::without_file));
    if recorder.is_some() {
        trace::keep(trace::LATEST_SPANS);
    }
    let observer = DebugObserver::new(viewers, control.map(|(control, _)| control), recorder);
    world.attach(observer);
    Ok(access)
}

type Started = (Option<(Control, ViewerAccess)>, Option<Recorder>);

fn start(settings: &Settings, program: &Program) -> std::result::Result<Started, String> {
    settings.checked()?;
    let recorder = settings.record.as_ref().map(|record| Recorder::new(record, program)).transpose()?;
    let Some(viewer) = &settings.viewer else { return Ok((None, recorder)) };
    let port = match viewer {
        Viewer::Listen(port) => *port,
        Viewer::Spawn => 0,
    };
    let server = Server::listen(port, settings.token.clone(), program.clone(), settings.silent)?;
    let (address, token) = (server.address(), server.token().to_string());
    let mut pause = settings.pause;
    let mut child = None;
    if *viewer == Viewer::Spawn {
        match spawn::spawn(address, &token) {
            Ok(spawned) => child = Some(spawned),
            Err(text) => {
                pause = false;
                trace::warn(&format!("{text}; the program continues without it"));
            }
        }
    }
    trace::warn(&connection_help(address, &token, child.is_some(), settings.token.is_some()));
    let access = ViewerAccess { port: address.port(), token };
    Ok((Some((Control::new(server, child, pause, settings.lost), access)), recorder))
}

/// Explains how a viewer connects to the program. `has_given_token` means that the token comes from
/// the program's settings; the text does not contain it.
fn connection_help(address: SocketAddr, token: &str, has_viewer: bool, has_given_token: bool) -> String {
    let (port, viewer) = (address.port(), if has_viewer { "another viewer" } else { "a viewer" });
    // The token is not in the command: other users of the machine can see commands.
    let secret = if has_given_token {
        "The token is the one given to the program (not shown)".to_string()
    } else {
        format!("The token (for ZIPPY_DEBUG_TOKEN, or when the viewer asks) is {token}")
    };
    format!(
        "{viewer} can connect with `zippy-debugger connect {address}`; from another machine first run \
         `ssh -L {port}:{address} HOST`. {secret}"
    )
}

/// Calls [`attach`] if `ZIPPY_DEBUG` is set for rank 0. Collective.
pub(crate) fn attach_by_environment(world: &World) -> Result<()> {
    let variable = env::var("ZIPPY_DEBUG").ok().filter(|text| !text.is_empty());
    // Ranks that are threads share one environment. A launcher may set variables for some processes
    // only.
    let mut is_set = [u64::from(variable.is_some())];
    if world.group().kind() == TransportKind::Mpi {
        world.inner_group().all_reduce(&mut is_set, |sum, more| *sum += more)?;
    }
    if is_set == [0] {
        return Ok(());
    }
    let text = world.inner_group().broadcast(0, (world.rank() == 0).then(|| encoded(&variable)).transpose()?)?;
    let Some(text) = decoded::<Option<String>>(&text)? else { return Ok(()) };
    let mut settings = Settings::parse(&text).map_err(Error::program)?;
    settings.token = env::var("ZIPPY_DEBUG_TOKEN").ok().filter(|token| !token.is_empty());
    attach(world, &settings).map(drop)
}
