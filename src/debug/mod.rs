//! Looking into a running program, as debuggers and array viewers do.
//!
//! At its [debug points](crate::World::debug_point) a program can be paused, stepped and looked into by a viewer, or recorded.
//! `ZIPPY_DEBUG` says which, or [`attach`]:
//!
//! | word | what it does |
//! |---|---|
//! | `spawn` | starts the viewer: `ZIPPY_DEBUGGER`, or `zippy-debugger` next to the program or on `PATH`; the program waits for it |
//! | `listen:PORT` | waits for viewers at a port of this machine (0 for any); says on standard error how to connect |
//! | `record:FILE` | writes all arrays to a file |
//! | `every:N` | records the debug points whose number is a multiple of N, as programs write files |
//! | `most:SIZE` | records so many bytes of an array at most, such as `256K`; what has more is thinned out (4M, the most) |
//! | `limit:SIZE` | ends the recording before the debug point that would make it larger, such as `1GiB`; the run goes on (none) |
//! | `pause`, `run` | whether the program waits at its first debug point; it does after `spawn` |
//! | `lost:SECONDS`, `lost:keep` | how long a paused program waits when there is no viewer: 60 s, or for ever |
//! | `silent:SECONDS` | a viewer that does not answer for so long is taken for gone: 60 s |
//!
//! Sizes have K, M, G, T (also KiB to TiB) of 1024, or kB to TB of 1000. Words have commas between
//! them: `ZIPPY_DEBUG=listen:7777,pause,record:run.zrec,every:10`. A token of one's own, for
//! viewers that are to see run after run, stands in `ZIPPY_DEBUG_TOKEN`: 32 hexadecimal digits.
//! Rank 0 is the control rank: it alone talks to viewers, and tells the others. While the program
//! runs, ranks meet some fifty times a second, and at the debug points at which a rule is to be
//! looked at; at all others nothing is sent.
//!
//! Views are cut, thinned out and counted where the cells are, so that what travels is what is seen. Fan, Qiu, Kaufman,
//! *Zippy* (Eurographics 2008), section 3.4.

mod answers;
mod attached;
mod compare;
#[cfg(test)]
mod compare_tests;
mod condition;
mod control;
mod described;
#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod happening_tests;
mod listing;
mod measure;
#[cfg(test)]
mod measure_tests;
mod moves;
mod named;
mod order;
mod pace;
mod percentiles;
pub mod protocol;
mod record;
pub mod recording;
mod server;
mod settings;
mod spawn;
mod summary;
mod timeline;
mod told;
mod views;

pub use condition::{Condition, Facts, Values};
pub use named::meant;
pub use settings::Settings;

use std::env;
use std::net::SocketAddr;

use attached::Attached;
use control::Control;
use protocol::Program;
use record::Recorder;
use server::Server;
use settings::Viewer;

use crate::World;
use crate::error::{CallSite, Error, Result};
use crate::trace;
use crate::transport::{TransportKind, decoded, encoded};

/// Where viewers can connect to a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Door {
    /// The port, of the machine of rank 0.
    pub port: u16,
    /// What a viewer has to say.
    pub token: String,
}

/// Lets viewers and recordings look into a run from now on, at its debug points. Collective; what counts are the settings of
/// rank 0. Returns where viewers can connect, on rank 0, if they can.
///
/// # Errors
/// A port that is taken, a file that cannot be written, settings that make no sense: the same on every rank. A viewer that
/// cannot be started is only said.
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
pub fn attach(world: &World, settings: &Settings) -> Result<Option<Door>> {
    let _call = CallSite::enter();
    let mut adapters: Vec<String> = Vec::new();
    for told in world.group().all_gather_v(encoded(&world.gpu().adapter().name)?)? {
        let name = decoded(&told)?;
        if !adapters.contains(&name) {
            adapters.push(name);
        }
    }
    let own = (world.rank() == 0)
        .then(|| encoded(&(settings.viewer.is_some(), settings.record.as_ref().map(|record| record.every))));
    let (viewers, every): (bool, Option<u64>) = decoded(&world.group().broadcast(0, own.transpose()?)?)?;
    let executable = env::current_exe().ok().and_then(|path| Some(path.file_stem()?.to_string_lossy().into_owned()));
    let name = executable.unwrap_or_else(|| "a program".into());
    let program = Program { name, ranks: world.size() as u32, checked: world.is_checked(), adapters };
    let begun = match world.rank() {
        0 => begin(settings, &program).map_err(Error::program),
        _ => Ok((None, None)),
    };
    let (control, recorder) = world.agree("looking into a run", begun)?;
    let door = control.as_ref().map(|(_, door)| door.clone());
    let recorder = recorder.or_else(|| every.map(Recorder::elsewhere));
    if recorder.is_some() {
        world.keep_spans();
    }
    let attached = Attached::new(viewers, control.map(|(control, _)| control), recorder);
    world.attach(attached);
    Ok(door)
}

type Begun = (Option<(Control, Door)>, Option<Recorder>);

/// On rank 0.
fn begin(settings: &Settings, program: &Program) -> std::result::Result<Begun, String> {
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
                trace::warn(&format!("{text}; the program runs on"));
            }
        }
    }
    trace::warn(&invitation(address, &token, child.is_some(), settings.token.is_some()));
    let door = Door { port: address.port(), token };
    Ok((Some((Control::new(server, child, pause, settings.lost), door)), recorder))
}

/// How a viewer connects to a program at this address. A token that was given to the program is not
/// shown.
fn invitation(address: SocketAddr, token: &str, is_other: bool, is_given: bool) -> String {
    let (port, who) = (address.port(), if is_other { "another viewer" } else { "a viewer" });
    // Not in the command, which other users of its machine could see.
    let secret = match is_given {
        true => "The token is the one given to the program (not shown)".to_string(),
        false => format!("The token (for ZIPPY_DEBUG_TOKEN, or when the viewer asks) is {token}"),
    };
    format!(
        "{who} can connect with `zippy-debugger connect {address}`; from another machine first run \
         `ssh -L {port}:{address} HOST`. {secret}"
    )
}

/// What the environment says about a run: [`attach`] if `ZIPPY_DEBUG` is set, for rank 0. Collective.
pub(crate) fn attach_by_environment(world: &World) -> Result<()> {
    let set = env::var("ZIPPY_DEBUG").ok().filter(|text| !text.is_empty());
    // Ranks that are threads have one environment; launchers may give one to some processes only.
    let mut someone = [u64::from(set.is_some())];
    if world.group().kind() == TransportKind::Mpi {
        world.inner().all_reduce(&mut someone, |sum, more| *sum += more)?;
    }
    if someone == [0] {
        return Ok(());
    }
    let text = world.inner().broadcast(0, (world.rank() == 0).then(|| encoded(&set)).transpose()?)?;
    let Some(text) = decoded::<Option<String>>(&text)? else { return Ok(()) };
    let mut settings = Settings::parse(&text).map_err(Error::program)?;
    settings.token = env::var("ZIPPY_DEBUG_TOKEN").ok().filter(|token| !token.is_empty());
    attach(world, &settings).map(drop)
}
