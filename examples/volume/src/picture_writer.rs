//! Picture files, and clean ends of them on signals.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use zippy::Error;
use zippy::Result;
use zippy_io::IoError;
use zippy_io::image::Image;
use zippy_io::png::Style;
use zippy_io::{apng, npy, png};

use super::interrupt::{Signal, on_interrupt};
use super::output::{Format, Output, Pattern};
use super::say::complain;

/// Time for which a process that writes no file continues after a signal.
const EXIT_DELAY: Duration = Duration::from_secs(1);

/// Delays the end of a process that writes nothing after a signal: launchers kill all processes
/// once one has ended, and the writing process needs time to finish its file.
///
/// # Errors
/// The signal handler or its thread cannot be created.
pub fn delay_exit_on_signal() -> Result<()> {
    let stay = |signal: Signal| {
        thread::sleep(EXIT_DELAY);
        signal.end()
    };
    on_interrupt(stay).map_err(signal_handler_error)
}

fn signal_handler_error(error: std::io::Error) -> Error {
    Error::program(format!("Ctrl-C: {error}"))
}

/// Writes the pictures of one run.
///
/// An animated file appears after its last frame. On a signal the current picture is completed and
/// a movie keeps its finished frames. The writer does not wait for other ranks, because launchers
/// leave little time.
pub struct PictureWriter(Arc<Mutex<Option<WriterState>>>);

impl PictureWriter {
    /// Opens the output for `frames` pictures. An animated file shows `per_second` pictures each
    /// second.
    ///
    /// # Errors
    /// The signal handler or the file of a movie cannot be created.
    pub fn open(output: &Output, style: Style, frames: u32, per_second: f64) -> Result<Self> {
        let state = Arc::new(Mutex::new(None));
        // Locked until the target exists that a signal finishes.
        let mut opened = lock_state(&state);
        let shared = Arc::clone(&state);
        let stop = move |signal: Signal| {
            // Locked until the process ends, so that nothing more is written.
            let mut state = lock_state(&shared);
            if let Some(state) = state.take() {
                complain(state.stop(signal));
            }
            signal.end()
        };
        on_interrupt(stop).map_err(signal_handler_error)?;
        let target = match output {
            Output::Still(kind, path) => Target::Still(*kind, path.clone()),
            Output::Numbered(kind, pattern) => Target::Numbered(*kind, pattern.clone()),
            Output::Animated(path) => Target::Movie(Box::new(apng::Movie::create(path, frames, per_second, style)?)),
        };
        *opened = Some(WriterState { target, display_name: output.display_name(), style, frames, written: 0 });
        drop(opened);
        Ok(Self(state))
    }

    /// Writes the next picture.
    ///
    /// # Errors
    /// The picture cannot be written.
    pub fn write(&mut self, image: &Image) -> Result<(), IoError> {
        lock_state(&self.0).as_mut().map_or(Ok(()), |state| state.write(image))
    }

    /// Completes the output files.
    ///
    /// # Errors
    /// A movie cannot be written; it leaves no file.
    pub fn finish(self) -> Result<(), IoError> {
        let mut state = lock_state(&self.0);
        match state.take().map(|state| state.target) {
            Some(Target::Movie(movie)) => movie.finish(),
            _ => Ok(()),
        }
    }
}

fn lock_state(state: &Mutex<Option<WriterState>>) -> MutexGuard<'_, Option<WriterState>> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Output and number of written pictures.
struct WriterState {
    target: Target,
    /// Name of the output, escaped for a terminal.
    display_name: String,
    style: Style,
    frames: u32,
    written: u32,
}

enum Target {
    Still(Format, PathBuf),
    Numbered(Format, Pattern),
    Movie(Box<apng::Movie>),
}

impl WriterState {
    fn write(&mut self, image: &Image) -> Result<(), IoError> {
        match &mut self.target {
            Target::Still(kind, path) => write(*kind, path, image, self.style),
            Target::Numbered(kind, pattern) => write(*kind, &pattern.path(self.written), image, self.style),
            Target::Movie(movie) => movie.write(image),
        }?;
        self.written += 1;
        Ok(())
    }

    /// Ends the output after a signal and returns a message.
    fn stop(self, signal: Signal) -> String {
        let Self { target, display_name, frames, written, .. } = self;
        let finished = match target {
            Target::Movie(movie) if written > 0 => movie.stop(),
            _ => Ok(()),
        };
        let signal = signal.name();
        match finished {
            Ok(()) if written == 0 => format!("stopped by {signal} before the first frame"),
            Ok(()) => format!("stopped by {signal} after {written} of {frames} frames: {display_name}"),
            Err(error) => format!("stopped by {signal}: {error}"),
        }
    }
}

fn write(kind: Format, path: &Path, image: &Image, style: Style) -> Result<(), IoError> {
    match kind {
        Format::Png => png::write(path, image, style),
        Format::Npy => npy::write_image(path, image),
    }
}
