//! [`Saving`]: what is shown, as a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use zippy::debug::protocol::{ArrayEntry, View, ViewRequest};
use zippy_io::write_whole;
use zippy_view::egui::{Button, Key, TextEdit, Ui};

use crate::app::store::Store;
use crate::app::task::{Source, Task};
use crate::app::words;
use crate::export::{Kind, MOST_EDGE, Sheet, csv, npy, png};
use crate::look::{APART, Colouring, Quantity, Rgba, Slice, Values, paint};

/// Pictures of fewer pixels along their edges are enlarged.
const EDGE: usize = 512;

/// Pixels of a picture at most, and numbers of a text: more take too much memory here.
const MOST_PIXELS: usize = 1 << 26;
const MOST_NUMBERS: usize = 1 << 24;

/// Room for the buttons beside the name of a file.
const BUTTONS: f32 = 200.0;

/// What can be written of what is shown.
pub struct Content {
    pub array: ArrayEntry,
    /// All numbers of these cells, along these axes.
    pub cells: ViewRequest,
    pub axes: Vec<usize>,
    /// At which debug point.
    pub step: u64,
    /// The colours.
    pub picture: Result<Picture, String>,
    /// What its file is called if nobody says otherwise, without an ending.
    pub name: String,
}

/// A picture that is to be made, or is there.
pub enum Picture {
    /// Slices of boxes, so many in a row.
    Slices {
        parts: Vec<(ViewRequest, Vec<Slice>)>,
        columns: usize,
        quantity: Quantity,
        colouring: Colouring,
    },
    Ready(Rgba),
    /// It is being rendered.
    Pending,
}

/// The line where files are named, and the file that is being written.
#[derive(Default)]
pub struct Saving {
    open: bool,
    /// What was typed; none while the name follows what is shown.
    typed: Option<String>,
    kind: Option<Kind>,
    /// There is such a file already: whether it is to be replaced.
    replaces: Option<PathBuf>,
    waiting: Option<Waiting>,
    task: Option<Task<String>>,
    said: Option<Result<String, String>>,
}

/// A file that waits for its picture: what that is to show.
struct Waiting {
    path: PathBuf,
    cells: ViewRequest,
    step: u64,
}

impl Drop for Saving {
    /// A file that is half written is finished; no other one is begun.
    fn drop(&mut self) {
        if let Some(task) = &mut self.task {
            task.cancel();
            let _ = task.wait();
        }
    }
}

impl Saving {
    /// What was written last, or why it could not be.
    pub fn said(&self) -> Option<&Result<String, String>> {
        self.said.as_ref()
    }

    /// The button that opens the line, and closes it.
    pub fn button(&mut self, ui: &mut Ui) {
        let button = ui.selectable_label(self.open, "Save as");
        if button.on_hover_text("What is shown, as a file: numbers or a picture").clicked() {
            self.open = !self.open;
            (self.typed, self.replaces) = (None, None);
        }
    }

    /// Goes on with the file that is being written. To be called in each frame.
    pub fn go_on(&mut self, store: &mut Store) {
        if let Some(done) = self.task.as_mut().and_then(|task| task.go_on(&mut [store])) {
            (self.task, self.said) = (None, Some(done));
        }
    }

    /// Shows the line, if it is open.
    pub fn show(&mut self, ui: &mut Ui, content: impl FnOnce() -> Content) {
        if let Some(task) = &mut self.task {
            let text = match task.is_cancelled() {
                true => "cancelling …".into(),
                false => format!("saving … {} have come", words::bytes(task.fetched as u64)),
            };
            if progress(ui, &text) {
                task.cancel();
            }
            return;
        }
        if let Some(waiting) = self.waiting.take() {
            let content = content();
            if progress(ui, "waiting for the picture …") {
                self.said = Some(Err("nothing was written".into()));
            } else if (&content.cells, content.step) != (&waiting.cells, waiting.step) {
                self.said = Some(Err("nothing was written: something else is shown by now".into()));
            } else {
                self.start(ui, waiting.path, content);
            }
            return;
        }
        if !self.open {
            return;
        }
        let content = content();
        ui.horizontal_wrapped(|ui| self.line(ui, content));
    }

    fn line(&mut self, ui: &mut Ui, content: Content) {
        let kind = self.kind.unwrap_or(Kind::Npy);
        let ending = Kind::ALL.iter().find(|(known, _)| *known == kind).map_or("npy", |(_, ending)| ending);
        let mut text = self.typed.clone().unwrap_or_else(|| format!("{}.{ending}", content.name));
        let width = (ui.available_width() - BUTTONS).clamp(120.0, 400.0);
        let field = ui.add(TextEdit::singleline(&mut text).desired_width(width));
        if field.changed() {
            self.typed = Some(text.clone());
            self.replaces = None;
        }
        let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
        field.accessible_name("file to save");
        for (other, ending) in Kind::ALL {
            let what = match other {
                Kind::Png => "the colours",
                _ => "exact numbers, all that each cell has",
            };
            let chosen = Kind::of(Path::new(text.trim())) == Ok(other);
            if ui.selectable_label(chosen, ending).on_hover_text(what).clicked() {
                self.kind = Some(other);
                self.replaces = None;
                let renamed =
                    |typed: &String| Path::new(typed.trim()).with_extension(ending).to_string_lossy().into_owned();
                self.typed = self.typed.as_ref().map(renamed);
            }
        }
        let path = PathBuf::from(text.trim());
        match &self.replaces {
            Some(there) if *there == path => {
                ui.colored_label(ui.visuals().warn_fg_color, "there is such a file");
                if ui.button("Replace it").clicked() {
                    self.start(ui, path, content);
                } else if ui.button("Keep it").clicked() {
                    self.replaces = None;
                }
            }
            _ => {
                if ui.add_enabled(!text.trim().is_empty(), Button::new("Save")).clicked() || entered {
                    if path.exists() {
                        self.replaces = Some(path);
                    } else {
                        self.start(ui, path, content);
                    }
                }
            }
        }
    }

    fn start(&mut self, ui: &Ui, path: PathBuf, content: Content) {
        self.replaces = None;
        if matches!((Kind::of(&path), &content.picture), (Ok(Kind::Png), Ok(Picture::Pending))) {
            self.waiting = Some(Waiting { path, cells: content.cells, step: content.step });
            self.said = None;
            return;
        }
        let kind = Kind::of(&path);
        let started = kind.and_then(|kind| Task::start(ui.ctx(), move |source| write(source, &path, kind, content)));
        match started {
            Ok(task) => (self.task, self.said) = (Some(task), None),
            Err(error) => self.said = Some(Err(error)),
        }
    }
}

/// Tells what is under way; whether it is to be cancelled.
fn progress(ui: &mut Ui, text: &str) -> bool {
    let cancel = ui.horizontal(|ui| {
        ui.label(text);
        ui.button("Cancel").clicked()
    });
    cancel.inner
}

/// Text that grows until nobody wants it any more.
struct Text<'a> {
    bytes: Vec<u8>,
    source: &'a Source,
}

impl Write for Text<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.source.go_on().map_err(io::Error::other)?;
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fetches and writes it: whole, or not at all.
fn write(source: &Source, path: &Path, kind: Kind, content: Content) -> Result<String, String> {
    let element = &content.array.element;
    let numbers = || content.fetch(source, &content.cells, element.bytes as usize);
    let bytes = match kind {
        Kind::Npy => npy(&Sheet::new(&numbers()?, element, &content.axes)?, None)?,
        Kind::Csv => {
            let each = element.numbers.iter().map(|numbers| usize::from(numbers.components)).sum();
            if content.cells.bytes(each).is_none_or(|count| count > MOST_NUMBERS) {
                return Err(format!("text has at most {MOST_NUMBERS} numbers: save .npy, or less of it"));
            }
            let mut text = Text { bytes: Vec::new(), source };
            csv(&Sheet::new(&numbers()?, element, &content.axes)?, None, &mut text)?;
            text.bytes
        }
        Kind::Png => png(&content.rendered(source)?)?,
    };
    source.go_on()?;
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.into());
    write_whole(path, &bytes).map_err(|error| error.to_string())?;
    Ok(format!("written to {}: {}", shown.display(), words::bytes(bytes.len() as u64)))
}

impl Content {
    /// Cells of its debug point.
    fn fetch(&self, source: &Source, request: &ViewRequest, bytes: usize) -> Result<View, String> {
        let view = source.cells(0, request, bytes)?;
        match view.step == self.step {
            true => Ok(view),
            false => Err(format!(
                "the program went on from debug point {} to {} while its cells were fetched: pause it first",
                self.step, view.step
            )),
        }
    }

    fn rendered(&self, source: &Source) -> Result<Rgba, String> {
        let (parts, columns, quantity, colouring) = match self.picture.as_ref()? {
            Picture::Ready(picture) => return Ok(picture.clone()),
            Picture::Pending => return Err("the picture is still being rendered".into()),
            Picture::Slices { parts, columns, quantity, colouring } => (parts, *columns, *quantity, colouring),
        };
        let element = &self.array.element;
        let numbers = quantity.of(element).ok_or("cells have no such numbers")?;
        let gap = gap(parts, columns)?;
        let mut pictures = Vec::new();
        for (request, slices) in parts {
            let request = ViewRequest { numbers: Some(quantity.numbers), ..request.clone() };
            let values = Values::new(&self.fetch(source, &request, numbers.bytes())?, element, quantity)?;
            for slice in slices {
                source.go_on()?;
                pictures.push(paint(&values, slice, colouring)?);
            }
        }
        let whole = Rgba::tiled(&pictures, columns, gap, APART.nothing);
        let times = (EDGE / whole.width.max(whole.height).max(1)).max(1);
        Ok(whole.enlarged(times))
    }
}

/// Pixels between slices of which so many are in a row.
///
/// # Errors
/// The picture of all of them is too large. That is known before anything is fetched.
fn gap(parts: &[(ViewRequest, Vec<Slice>)], columns: usize) -> Result<usize, String> {
    let (mut edges, mut count) = ([1_usize; 2], 0_usize);
    for (request, slices) in parts {
        let extents = request.extents().ok_or("the box makes no sense")?;
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
    if width.max(height) > MOST_EDGE || width.saturating_mul(height) > MOST_PIXELS {
        return Err(format!(
            "a picture has at most {MOST_EDGE} pixels along an edge and {MOST_PIXELS} in all, and this one would be {width} × \
             {height}: save numbers, or less of it"
        ));
    }
    Ok(gap)
}
