//! [`Recorder`]: writes what a viewer would be told.

use std::fs::File;
use std::io::{BufWriter, ErrorKind};
use std::path::PathBuf;

use super::protocol::{ArrayEntry, ArrayKind, Point, Program, Recorded, ViewRequest};
use super::recording::Writer;
use super::settings::Recording;
use super::{listing, views};
use crate::World;
use crate::error::Result;
use crate::trace;
use crate::transport::{decoded, encoded};

/// The recording of a run.
#[derive(Debug)]
pub(super) struct Recorder {
    /// Of so many debug points it takes one.
    every: u64,
    /// So many bytes of an array at most.
    most: usize,
    /// On rank 0, until it cannot be written.
    file: Option<(PathBuf, Writer<BufWriter<File>>)>,
}

impl Recorder {
    /// Begins a recording, on rank 0.
    ///
    /// # Errors
    /// The file cannot be made, in words.
    pub fn new(settings: &Recording, program: &Program) -> Result<Self, String> {
        let begin = || -> std::io::Result<_> {
            let mut writer = Writer::new(BufWriter::new(File::create(&settings.file)?))?;
            writer.add(&Recorded::Program(program.clone()))?;
            Ok(writer)
        };
        let writer = begin().map_err(|error| format!("cannot record to {}: {error}", settings.file.display()))?;
        Ok(Self { every: settings.every, most: settings.most, file: Some((settings.file.clone(), writer)) })
    }

    /// The same on another rank.
    pub fn elsewhere(every: u64) -> Self {
        Self { every, most: 0, file: None }
    }

    /// Whether it takes a debug point.
    pub fn wants(&self, step: u64) -> bool {
        (step - 1).is_multiple_of(self.every)
    }

    /// Records a debug point. Called by all ranks; `false` when that is no more possible.
    ///
    /// # Errors
    /// A failure of this or of another rank.
    pub fn add(&mut self, world: &World, point: &Point) -> Result<bool> {
        let arrays = listing::arrays(world)?;
        let listed = match arrays {
            Some(Ok(arrays)) => {
                self.write(&Recorded::Point(point.clone()));
                self.write(&Recorded::Arrays(arrays.clone()));
                arrays
            }
            _ => Vec::new(),
        };
        let wanted: Vec<_> = listed.iter().filter_map(|array| whole(array, self.most)).collect();
        let own = (world.rank() == 0).then(|| encoded(&(self.file.is_some(), wanted))).transpose()?;
        let (goes_on, wanted): (bool, Vec<ViewRequest>) = decoded(&world.inner().broadcast(0, own)?)?;
        for request in wanted.iter().filter(|_| goes_on) {
            if let Some(Ok(view)) = views::view(world, request, point.step)? {
                self.write(&Recorded::View(view));
            }
        }
        Ok(goes_on)
    }

    fn write(&mut self, entry: &Recorded) {
        let Some((path, writer)) = &mut self.file else { return };
        if let Err(error) = writer.add(entry) {
            if error.kind() == ErrorKind::InvalidInput {
                return trace::warn(&format!("the recording {} lacks an entry: {error}", path.display()));
            }
            trace::warn(&format!("the recording {} ends here, as it cannot be written: {error}", path.display()));
            self.file = None;
        }
    }

    /// The run is over.
    pub fn end(&mut self, how: &str) {
        self.write(&Recorded::End(how.to_string()));
    }
}

/// All of a global array that has cells, with strides so that it fits.
fn whole(array: &ArrayEntry, most: usize) -> Option<ViewRequest> {
    if array.kind != ArrayKind::Global || array.shape.contains(&0) {
        return None;
    }
    let axes = array.shape.len();
    let all = ViewRequest {
        array: array.array,
        chunk: None,
        start: vec![0; axes],
        end: array.shape.clone(),
        stride: vec![1; axes],
        numbers: None,
    };
    Some(all.fitting(array.element.bytes as usize, most))
}
