//! Content of a saved file: cells, picture and file name.

use zippy_protocol::{ArrayEntry, ViewRequest};

use super::bar::Mode;
use super::saving::{Picture, SavedContent};
use super::tiles::Tiles;
use super::{NumberStatistics, ViewState};
use crate::app::format;
use crate::imaging::{Slice, Subvolume};

impl ViewState {
    /// Returns all cells of the current slice, line or volume, visible or not, and its picture.
    pub(super) fn saved_content(
        &mut self,
        array: &ArrayEntry,
        statistics: &NumberStatistics,
        step: u64,
    ) -> SavedContent {
        let slice = self.slice.clone();
        let line = Slice { up: None, ..slice.clone() };
        let all = |slice: &Slice| slice.request(array.array, [[0, 0], slice.extents(&array.shape)], [1, 1], None);
        let subvolume = |axes: [usize; 3]| Subvolume { axes, at: slice.at.clone() }.whole(array.array, &array.shape);
        let (cells, axes): (ViewRequest, Vec<usize>) = match (self.mode, self.third_axis(), slice.up) {
            (Mode::Line, ..) => (all(&line), line.axes()),
            (Mode::Planes, ..) if array.shape.len() > 2 => (subvolume([0, 1, 2]), vec![0, 1, 2]),
            (Mode::Volume, Some(deep), Some(up)) => (subvolume([slice.across, up, deep]), vec![slice.across, up, deep]),
            (Mode::Mosaic, Some(deep), _) => {
                let mosaic = self.mosaic_of_slices(array);
                let cells = mosaic.map_or_else(|| all(&slice), |mosaic| mosaic.request(array.array, 1, None));
                (cells, [slice.axes(), vec![deep]].concat())
            }
            _ => (self.chunk_slice(array).unwrap_or_else(|| all(&slice)), slice.axes()),
        };
        let picture = self.picture_of(array, statistics, &cells, step);
        // File names have at most 255 bytes.
        let mut name = format::shorten(&format::title(array), 48).replace('…', "_");
        if name.len() > 120 {
            name = format!("array{}", array.array.number);
        }
        for axis in (0..array.shape.len()).filter(|axis| !axes.contains(axis)) {
            name.push_str(&format!("-{}{}", format::axis(axis), cells.start[axis]));
        }
        if let (Mode::Slice, true) = (self.mode, self.is_single_chunk) {
            name.push_str(&format!("-chunk{}", self.chunk));
        }
        name.push_str(&format!("-step{step}"));
        let plain = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
        let name = name.chars().map(|letter| if plain(letter) { letter } else { '_' }).collect();
        SavedContent { array: array.clone(), cells, axes, step, picture, name }
    }

    /// Returns the request for the slice of a single chunk with its ghost cells, if the display
    /// shows a single chunk.
    fn chunk_slice(&self, array: &ArrayEntry) -> Option<ViewRequest> {
        if self.mode != Mode::Slice || !self.is_single_chunk {
            return None;
        }
        let bounds = Tiles::Chunk(self.slice.clone(), self.chunk).bounds(array)?;
        Some(ViewRequest { chunk: Some(self.chunk), ..self.slice.request(array.array, bounds, [1, 1], None) })
    }

    fn picture_of(
        &mut self,
        array: &ArrayEntry,
        statistics: &NumberStatistics,
        cells: &ViewRequest,
        step: u64,
    ) -> Result<Picture, String> {
        if self.mode == Mode::Volume {
            return Ok(self.volume.picture(step)?.map_or(Picture::Pending, Picture::Ready));
        }
        let quantity = self.quantity;
        let colouring = self.colouring(statistics).ok_or("there are no colours yet: show the slice first")?;
        let (panels, columns) = match self.mode {
            Mode::Planes => {
                let planes = Slice::orthogonal(&self.slice.at).ok_or("three planes need three axes")?;
                let plane = |slice: Slice| {
                    let all = [[0, 0], slice.extents(&array.shape)];
                    (slice.request(array.array, all, [1, 1], None), vec![slice])
                };
                (planes.map(plane).into(), 2)
            }
            Mode::Mosaic => {
                let mosaic = self.mosaic_of_slices(array).ok_or("a mosaic needs a third axis")?;
                let slices = (0..mosaic.count()).filter_map(|tile| mosaic.slice(tile)).collect();
                (vec![(cells.clone(), slices)], mosaic.grid()[0] as usize)
            }
            Mode::Line => (vec![(cells.clone(), vec![Slice { up: None, ..self.slice.clone() }])], 1),
            _ => (vec![(cells.clone(), vec![self.slice.clone()])], 1),
        };
        Ok(Picture::Slices { panels, columns, quantity, colouring })
    }
}
