//! [`Saving`]: what is shown, as a file.

use std::path::{Path, PathBuf};

use zippy::debug::protocol::{ArrayEntry, ViewRequest};
use zippy_io::write_whole;
use zippy_view::egui::{Button, Key, TextEdit, Ui};

use crate::app::errand::{Errand, Source};
use crate::app::store::Store;
use crate::app::words;
use crate::export::{Kind, MOST_EDGE, Sheet, csv, npy, png};
use crate::look::{APART, Colouring, Quantity, Rgba, Slice, Values, paint};

/// Pictures of fewer pixels along their edges are enlarged.
const EDGE: usize = 512;

/// Room for the buttons beside the name of a file.
const BUTTONS: f32 = 200.0;

/// What can be written of what is shown.
pub struct Content {
    pub array: ArrayEntry,
    /// All numbers of these cells, along these axes.
    pub cells: ViewRequest,
    pub axes: Vec<usize>,
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
    errand: Option<Errand<String>>,
    said: Option<Result<String, String>>,
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
        if let Some(done) = self.errand.as_mut().and_then(|errand| errand.go_on(&mut [store])) {
            (self.errand, self.said) = (None, Some(done));
        }
    }

    /// Shows the line, if it is open.
    pub fn show(&mut self, ui: &mut Ui, content: impl FnOnce() -> Content) {
        if let Some(errand) = &self.errand {
            let text = format!("saving … {} have come", words::bytes(errand.fetched as u64));
            let cancel = ui.horizontal(|ui| {
                ui.label(text);
                ui.button("Cancel").clicked()
            });
            if cancel.inner {
                (self.errand, self.said) = (None, Some(Err("nothing was written".into())));
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
                    self.start(path, content);
                } else if ui.button("Keep it").clicked() {
                    self.replaces = None;
                }
            }
            _ => {
                if ui.add_enabled(!text.trim().is_empty(), Button::new("Save")).clicked() || entered {
                    if path.exists() {
                        self.replaces = Some(path);
                    } else {
                        self.start(path, content);
                    }
                }
            }
        }
    }

    fn start(&mut self, path: PathBuf, content: Content) {
        self.replaces = None;
        let started = Kind::of(&path).and_then(|kind| Errand::start(move |source| write(source, &path, kind, content)));
        match started {
            Ok(errand) => (self.errand, self.said) = (Some(errand), None),
            Err(error) => self.said = Some(Err(error)),
        }
    }
}

/// Fetches and writes it: whole, or not at all.
fn write(source: &Source, path: &Path, kind: Kind, content: Content) -> Result<String, String> {
    let element = &content.array.element;
    let numbers = || source.cells(0, &content.cells, element.bytes as usize);
    let bytes = match kind {
        Kind::Npy => npy(&Sheet::new(&numbers()?, element, &content.axes)?, None)?,
        Kind::Csv => csv(&Sheet::new(&numbers()?, element, &content.axes)?, None)?.into_bytes(),
        Kind::Png => png(&picture(source, &content.array, content.picture?)?)?,
    };
    let shown = std::path::absolute(path).unwrap_or_else(|_| path.into());
    write_whole(path, &bytes).map_err(|error| error.to_string())?;
    Ok(format!("written to {}: {}", shown.display(), words::bytes(bytes.len() as u64)))
}

fn picture(source: &Source, array: &ArrayEntry, picture: Picture) -> Result<Rgba, String> {
    let (parts, columns, quantity, colouring) = match picture {
        Picture::Ready(picture) => return Ok(picture),
        Picture::Slices { parts, columns, quantity, colouring } => (parts, columns, quantity, colouring),
    };
    let numbers = quantity.of(&array.element).ok_or("cells have no such numbers")?;
    let mut pictures = Vec::new();
    for (request, slices) in parts {
        let request = ViewRequest { numbers: Some(quantity.numbers), ..request };
        let values = Values::new(&source.cells(0, &request, numbers.bytes())?, &array.element, quantity)?;
        for slice in slices {
            pictures.push(paint(&values, &slice, &colouring)?);
        }
    }
    let edge = pictures.iter().map(|picture| picture.width.max(picture.height)).max().unwrap_or(0);
    let gap = if pictures.len() > 1 { (edge / 32).max(1) } else { 0 };
    let rows = pictures.len().div_ceil(columns.max(1));
    if columns.max(rows) * (edge + gap) > MOST_EDGE {
        return Err(format!("a picture has at most {MOST_EDGE} pixels along an edge: save numbers, or less of it"));
    }
    let whole = Rgba::tiled(&pictures, columns, gap, APART.nothing);
    let times = (EDGE / whole.width.max(whole.height).max(1)).max(1);
    Ok(whole.enlarged(times))
}
