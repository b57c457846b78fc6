//! [`Saving`]: saves the visible cells to a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zippy_files::write_whole;
use zippy_protocol::{ArrayEntry, View, ViewRequest};
use zippy_view::egui::{Button, Key, TextEdit, Ui};

use crate::app::format;
use crate::app::store::Store;
use crate::app::task::{Source, Task};
use crate::export::{CellGrid, FileFormat, MAX_EDGE, csv, npy, png};
use crate::imaging::{Colouring, Quantity, Rgba, SPECIAL_COLOURS, Slice, Values, paint};

/// Minimum length of a picture's longer edge, in pixels. Smaller pictures are enlarged.
const MIN_EDGE: usize = 512;

/// Maximum number of pixels of a picture and of numbers in a text file, which limits memory.
const MAX_PIXELS: usize = 1 << 26;
const MAX_NUMBERS: usize = 1 << 24;

/// Width of the buttons next to the file name, in points.
const BUTTON_WIDTH: f32 = 200.0;

/// Cells and picture that the user can save to a file.
pub(crate) struct SavedContent {
    pub array: ArrayEntry,
    /// Cells to save, with all their numbers, and the axes of the file.
    pub cells: ViewRequest,
    pub axes: Vec<usize>,
    /// Debug point of the cells.
    pub step: u64,
    /// The picture, or the reason for its absence.
    pub picture: Result<Picture, String>,
    /// Default file name without extension.
    pub name: String,
}

/// A picture to save.
pub(crate) enum Picture {
    /// Slices of boxes, `columns` of them in a row. They are fetched and painted when the file is
    /// written.
    Slices {
        panels: Vec<(ViewRequest, Vec<Slice>)>,
        columns: usize,
        quantity: Quantity,
        colouring: Colouring,
    },
    Ready(Rgba),
    /// The picture is being rendered.
    Pending,
}

/// Fields of the file to save, and the task that writes the file.
#[derive(Default)]
pub(crate) struct Saving {
    open: bool,
    /// File name that the user typed. `None`: the name follows the visible cells.
    typed: Option<String>,
    format: Option<FileFormat>,
    /// Existing file that is replaced after a confirmation.
    confirm_replace: Option<PathBuf>,
    waiting: Option<Waiting>,
    task: Option<Task<String>>,
    result: Option<Result<String, String>>,
}

/// A file that waits for a rendered picture, and the expected cells of that picture.
struct Waiting {
    path: PathBuf,
    cells: ViewRequest,
    step: u64,
}

impl Drop for Saving {
    /// Waits for the end of a file write that has begun.
    fn drop(&mut self) {
        if let Some(task) = &mut self.task {
            task.cancel();
            let _ = task.wait();
        }
    }
}

impl Saving {
    /// Returns the result of the last save, for the status line.
    pub(crate) fn result(&self) -> Option<&Result<String, String>> {
        self.result.as_ref()
    }

    /// Shows the button that opens and closes the fields.
    pub(crate) fn button(&mut self, ui: &mut Ui) {
        let button = ui.selectable_label(self.open, "Save as");
        if button.on_hover_text("What is shown, as a file: numbers or a picture").clicked() {
            self.open = !self.open;
            (self.typed, self.confirm_replace) = (None, None);
        }
    }

    /// Advances the current save. Must be called in each frame.
    pub(crate) fn poll(&mut self, store: &mut Store) {
        if let Some(done) = self.task.as_mut().and_then(|task| task.poll(&mut [store])) {
            (self.task, self.result) = (None, Some(done));
        }
    }

    /// Shows the fields or the progress of the current save.
    pub(crate) fn show(&mut self, ui: &mut Ui, saved_content: impl FnOnce() -> SavedContent) {
        if let Some(task) = &mut self.task {
            let text = if task.is_cancelled() {
                "cancelling …".into()
            } else {
                format!("saving … {} received", format::bytes(task.fetched as u64))
            };
            if show_progress(ui, &text) {
                task.cancel();
            }
            return;
        }
        if let Some(waiting) = self.waiting.take() {
            let saved_content = saved_content();
            if show_progress(ui, "waiting for the picture …") {
                self.result = Some(Err("nothing was written".into()));
            } else if (&saved_content.cells, saved_content.step) != (&waiting.cells, waiting.step) {
                self.result = Some(Err("nothing was written: something else is shown by now".into()));
            } else {
                self.start(ui, waiting.path, saved_content);
            }
            return;
        }
        if !self.open {
            return;
        }
        let saved_content = saved_content();
        ui.horizontal_wrapped(|ui| self.show_fields(ui, saved_content));
    }

    fn show_fields(&mut self, ui: &mut Ui, saved_content: SavedContent) {
        let format = self.format.unwrap_or(FileFormat::Npy);
        let ending = FileFormat::ALL.iter().find(|(known, _)| *known == format).map_or("npy", |(_, ending)| ending);
        let mut text = self.typed.clone().unwrap_or_else(|| format!("{}.{ending}", saved_content.name));
        let width = (ui.available_width() - BUTTON_WIDTH).clamp(120.0, 400.0);
        let field = ui.add(TextEdit::singleline(&mut text).desired_width(width));
        if field.changed() {
            self.typed = Some(text.clone());
            self.confirm_replace = None;
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        field.accessible_name("file to save");
        for (other, ending) in FileFormat::ALL {
            let description = match other {
                FileFormat::Png => "the colours",
                _ => "exact numbers, all that each cell has",
            };
            let chosen = FileFormat::of(Path::new(text.trim())) == Ok(other);
            if ui.selectable_label(chosen, ending).on_hover_text(description).clicked() {
                self.format = Some(other);
                self.confirm_replace = None;
                let renamed =
                    |typed: &String| Path::new(typed.trim()).with_extension(ending).to_string_lossy().into_owned();
                self.typed = self.typed.as_ref().map(renamed);
            }
        }
        let path = PathBuf::from(text.trim());
        match &self.confirm_replace {
            Some(existing) if *existing == path => {
                ui.colored_label(ui.visuals().warn_fg_color, "there is such a file");
                if ui.button("Replace it").clicked() {
                    self.start(ui, path, saved_content);
                } else if ui.button("Keep it").clicked() {
                    self.confirm_replace = None;
                }
            }
            _ => {
                if ui.add_enabled(!text.trim().is_empty(), Button::new("Save")).clicked() || entered {
                    if path.exists() {
                        self.confirm_replace = Some(path);
                    } else {
                        self.start(ui, path, saved_content);
                    }
                }
            }
        }
    }

    fn start(&mut self, ui: &Ui, path: PathBuf, saved_content: SavedContent) {
        self.confirm_replace = None;
        if matches!((FileFormat::of(&path), &saved_content.picture), (Ok(FileFormat::Png), Ok(Picture::Pending))) {
            self.waiting = Some(Waiting { path, cells: saved_content.cells, step: saved_content.step });
            self.result = None;
            return;
        }
        let format = FileFormat::of(&path);
        let started =
            format.and_then(|format| Task::start(ui.ctx(), move |source| write(source, &path, format, saved_content)));
        match started {
            Ok(task) => (self.task, self.result) = (Some(task), None),
            Err(error) => self.result = Some(Err(error)),
        }
    }
}

/// Shows a progress text and a Cancel button. Returns true after a click on Cancel.
fn show_progress(ui: &mut Ui, text: &str) -> bool {
    let cancel = ui.horizontal(|ui| {
        ui.label(text);
        ui.button("Cancel").clicked()
    });
    cancel.inner
}

/// Text buffer that refuses writes after a cancellation.
struct CancellableText<'a> {
    bytes: Vec<u8>,
    source: &'a Source,
}

impl Write for CancellableText<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.source.check_cancelled().map_err(io::Error::other)?;
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fetches the content and writes the file, whole or not at all. Returns a message for the user.
fn write(source: &Source, path: &Path, format: FileFormat, saved_content: SavedContent) -> Result<String, String> {
    let element = &saved_content.array.element;
    let numbers = || saved_content.fetch(source, &saved_content.cells, element.bytes as usize);
    let bytes = match format {
        FileFormat::Npy => npy(&CellGrid::new(&numbers()?, element, &saved_content.axes)?, None)?,
        FileFormat::Csv => {
            let each = element.numbers.iter().map(|numbers| usize::from(numbers.components)).sum();
            if saved_content.cells.bytes(each).is_none_or(|count| count > MAX_NUMBERS) {
                return Err(format!("text has at most {MAX_NUMBERS} numbers: save .npy, or less of it"));
            }
            let mut text = CancellableText { bytes: Vec::new(), source };
            csv(&CellGrid::new(&numbers()?, element, &saved_content.axes)?, None, &mut text)?;
            text.bytes
        }
        FileFormat::Png => png(&saved_content.wait_for_rendering(source)?)?,
    };
    source.check_cancelled()?;
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.into());
    write_whole(path, &bytes).map_err(|error| error.to_string())?;
    Ok(format!("written to {}: {}", shown.display(), format::bytes(bytes.len() as u64)))
}

impl SavedContent {
    /// Fetches cells, and checks that they are of the expected debug point.
    fn fetch(&self, source: &Source, request: &ViewRequest, bytes: usize) -> Result<View, String> {
        let view = source.cells(0, request, bytes)?;
        if view.step == self.step {
            Ok(view)
        } else {
            Err(format!(
                "the program went on from debug point {} to {} while its cells were fetched: pause it first",
                self.step, view.step
            ))
        }
    }

    fn wait_for_rendering(&self, source: &Source) -> Result<Rgba, String> {
        let (panels, columns, quantity, colouring) = match self.picture.as_ref()? {
            Picture::Ready(picture) => return Ok(picture.clone()),
            Picture::Pending => return Err("the picture is still being rendered".into()),
            Picture::Slices { panels, columns, quantity, colouring } => (panels, *columns, *quantity, colouring),
        };
        let element = &self.array.element;
        let numbers = quantity.of(element).ok_or("cells have no such numbers")?;
        let gap = slice_gap(panels, columns)?;
        let mut pictures = Vec::new();
        for (request, slices) in panels {
            let request = ViewRequest { numbers: Some(quantity.numbers), ..request.clone() };
            let values = Values::new(&self.fetch(source, &request, numbers.bytes())?, element, quantity)?;
            for slice in slices {
                source.check_cancelled()?;
                pictures.push(paint(&values, slice, colouring)?);
            }
        }
        let whole = Rgba::tiled(&pictures, columns, gap, SPECIAL_COLOURS.nothing);
        let scale = (MIN_EDGE / whole.width.max(whole.height).max(1)).max(1);
        Ok(whole.enlarged(scale))
    }
}

/// Returns the gap in pixels between slices in a grid of `columns` columns.
///
/// # Errors
/// The whole picture is too large. The check needs no cells, so that it comes before all requests.
fn slice_gap(panels: &[(ViewRequest, Vec<Slice>)], columns: usize) -> Result<usize, String> {
    let (mut edges, mut count) = ([1_usize; 2], 0_usize);
    for (request, slices) in panels {
        let extents = request.extents().ok_or("the box has negative extents")?;
        for slice in slices {
            count += 1;
            for (edge, axis) in edges.iter_mut().zip(slice.axes()) {
                *edge = (*edge).max(extents.get(axis).map_or(0, |&extent| extent as usize));
            }
        }
    }
    let gap = if count > 1 { (edges[0].max(edges[1]) / 32).max(1) } else { 0 };
    let grid = [columns, count.div_ceil(columns.max(1))];
    let [width, height] = [0, 1].map(|side| grid[side].saturating_mul(edges[side] + gap));
    if width.max(height) > MAX_EDGE || width.saturating_mul(height) > MAX_PIXELS {
        return Err(format!(
            "a picture has at most {MAX_EDGE} pixels along an edge and {MAX_PIXELS} in all, and this one would be {width} × \
             {height}: save numbers, or less of it"
        ));
    }
    Ok(gap)
}
