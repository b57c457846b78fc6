//! [`Seen`]: where two views differ, computed once for each pair of them.

use std::rc::Rc;

use zippy::debug::protocol::{Answer, ArrayEntry, View};
use zippy_view::egui::{Ui, vec2};

use crate::app::slices::{Difference, Look};
use crate::app::store::Found;
use crate::app::words;
use crate::look::{Differences, Measure, Quantity};

/// Ways to hold numbers against each other.
pub const MEASURES: [(&str, Measure); 4] = [
    ("absolute", Measure::Absolute),
    ("signed", Measure::Signed),
    ("relative", Measure::Relative),
    ("ULP", Measure::Ulp),
];

/// Of what is seen of two arrays: how it differs, as numbers and as a picture.
#[derive(Default)]
pub struct Seen {
    pub measure: Measure,
    made: Option<Made>,
    picture: Difference,
    /// Whether there is a difference to be seen in this frame.
    there: bool,
}

/// Kept while nothing of it changes: views of 4 MiB take longer to compare than a frame may.
struct Made {
    from: [Rc<Answer>; 2],
    quantity: Quantity,
    measure: Measure,
    differences: Result<Differences, String>,
}

impl Seen {
    /// The choice of how numbers are held against each other.
    pub fn measures(&mut self, ui: &mut Ui) {
        for (name, measure) in MEASURES {
            ui.radio_value(&mut self.measure, measure, name);
        }
    }

    /// Tells how the second one differs from the first one, once both have come, each of its step.
    pub fn show(&mut self, ui: &mut Ui, array: &ArrayEntry, found: [&Found; 2], steps: [u64; 2], look: &Look) {
        for error in found.iter().filter_map(|found| found.error.as_ref()) {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        let there = found.iter().zip(steps).all(|(found, step)| found.view().is_some_and(|view| view.step == step));
        if let ([Some(one), Some(other)], true) = (found.map(Found::answer), there) {
            self.pair(ui, array, [one, other], look);
        } else if found.iter().all(|found| found.error.is_none()) {
            ui.weak("asking …");
        }
    }

    /// The same of what has come at some time.
    pub fn pair(&mut self, ui: &mut Ui, array: &ArrayEntry, from: [&Rc<Answer>; 2], look: &Look) {
        self.make(array, from, look);
        let Some(Made { differences, .. }) = &self.made else { return };
        let differences = match differences {
            Ok(differences) => differences,
            Err(error) => {
                ui.colored_label(ui.visuals().error_fg_color, error);
                return;
            }
        };
        ui.horizontal_wrapped(|ui| {
            ui.label(format!("{} cells differ of those seen", differences.cells));
            largest(ui, differences);
        });
        self.there = true;
    }

    /// Shows the picture of what was told in this frame, in all the room that there is.
    pub fn picture(&mut self, ui: &mut Ui, array: &ArrayEntry) {
        if std::mem::take(&mut self.there) {
            let size = ui.available_size().max(vec2(40.0, 40.0));
            self.picture.show(ui, size, array);
        }
    }

    fn make(&mut self, array: &ArrayEntry, from: [&Rc<Answer>; 2], look: &Look) {
        let (slice, quantity) = look.slice();
        let same = |made: &Made| {
            let alike = made.from.iter().zip(from).all(|(old, new)| Rc::ptr_eq(old, new));
            alike && made.quantity == quantity && made.measure == self.measure
        };
        if self.made.as_ref().is_some_and(same) {
            return;
        }
        let element = &array.element;
        let views = from.map(|answer| view(answer));
        let differences = match views {
            [Some(one), Some(other)] => Differences::new((one, element), (other, element), quantity),
            _ => Err("these are no cells".into()),
        };
        if let Ok(differences) = &differences {
            self.picture.set(array, slice, quantity, differences.values(self.measure));
        }
        let (from, measure) = (from.map(Rc::clone), self.measure);
        self.made = Some(Made { from, quantity, measure, differences });
    }
}

/// The cells of an answer.
pub fn view(answer: &Answer) -> Option<&View> {
    match answer {
        Answer::View(view) => Some(view),
        _ => None,
    }
}

/// The largest differences, by each measure.
pub fn largest(ui: &mut Ui, differences: &Differences) {
    let shown = |value: Option<f64>| value.map_or_else(|| "none".into(), words::short);
    ui.weak(format!("largest: {}", shown(differences.largest)));
    ui.weak(format!("relative {}", shown(differences.largest_relative)));
    ui.weak(format!("ULP {}", shown(differences.largest_ulp)));
    if differences.nans > 0 {
        ui.colored_label(ui.visuals().warn_fg_color, format!("NaN on one side: {}", differences.nans));
    }
}
