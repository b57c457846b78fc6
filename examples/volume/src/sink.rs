//! Writes pictures, and ends well when the program is asked to end.

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

/// How long the other processes stay when they are asked to end.
const PATIENCE: Duration = Duration::from_secs(1);

/// For processes without the rank that writes: when they are asked to end they stay a moment, as launchers kill all
/// processes once one has gone.
///
/// # Errors
/// There is no other thread.
pub fn stay_for_others() -> Result<()> {
    let stay = |signal: Signal| {
        thread::sleep(PATIENCE);
        signal.end()
    };
    on_interrupt(stay).map_err(unwatched)
}

fn unwatched(error: std::io::Error) -> Error {
    Error::program(format!("Ctrl-C: {error}"))
}

/// Takes the pictures of one run; an animated file appears with the last of them. Where the program is asked to end before,
/// what is being written is written to its end, and a movie keeps the frames that it has. Other ranks are not waited for, as
/// launchers leave little time.
pub struct Sink(Arc<Mutex<Option<Reel>>>);

impl Sink {
    /// For `frames` pictures, `per_second` of which are shown in a second.
    ///
    /// # Errors
    /// The file of a movie cannot be made.
    pub fn open(output: &Output, style: Style, frames: u32, per_second: f64) -> Result<Self> {
        let reel = Arc::new(Mutex::new(None));
        // Held until there is what a signal ends.
        let mut opened = lock(&reel);
        let shared = Arc::clone(&reel);
        let stop = move |signal: Signal| {
            // Held to the end of the program, so that nothing more is written.
            let mut reel = lock(&shared);
            if let Some(reel) = reel.take() {
                complain(reel.stop(signal));
            }
            signal.end()
        };
        on_interrupt(stop).map_err(unwatched)?;
        let target = match output {
            Output::Still(kind, path) => Target::Still(*kind, path.clone()),
            Output::Numbered(kind, pattern) => Target::Numbered(*kind, pattern.clone()),
            Output::Animated(path) => Target::Movie(Box::new(apng::Movie::create(path, frames, per_second, style)?)),
        };
        *opened = Some(Reel { target, shown: output.shown(), style, frames, written: 0 });
        drop(opened);
        Ok(Self(reel))
    }

    /// # Errors
    /// The picture cannot be written.
    pub fn write(&mut self, image: &Image) -> Result<(), IoError> {
        lock(&self.0).as_mut().map_or(Ok(()), |reel| reel.write(image))
    }

    /// # Errors
    /// A movie cannot be written; there is no file then.
    pub fn finish(self) -> Result<(), IoError> {
        let mut reel = lock(&self.0);
        match reel.take().map(|reel| reel.target) {
            Some(Target::Movie(movie)) => movie.finish(),
            _ => Ok(()),
        }
    }
}

fn lock(reel: &Mutex<Option<Reel>>) -> MutexGuard<'_, Option<Reel>> {
    reel.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pictures until now.
struct Reel {
    target: Target,
    /// The name for a terminal.
    shown: String,
    style: Style,
    frames: u32,
    written: u32,
}

enum Target {
    Still(Format, PathBuf),
    Numbered(Format, Pattern),
    Movie(Box<apng::Movie>),
}

impl Reel {
    fn write(&mut self, image: &Image) -> Result<(), IoError> {
        match &mut self.target {
            Target::Still(kind, path) => write(*kind, path, image, self.style),
            Target::Numbered(kind, pattern) => write(*kind, &pattern.path(self.written), image, self.style),
            Target::Movie(movie) => movie.write(image),
        }?;
        self.written += 1;
        Ok(())
    }

    /// Ends here; what is said of it.
    fn stop(self, signal: Signal) -> String {
        let Self { target, shown, frames, written, .. } = self;
        let kept = match target {
            Target::Movie(movie) if written > 0 => movie.stop(),
            _ => Ok(()),
        };
        let signal = signal.name();
        match kept {
            Ok(()) if written == 0 => format!("stopped by {signal} before the first frame"),
            Ok(()) => format!("stopped by {signal} after {written} of {frames} frames: {shown}"),
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
