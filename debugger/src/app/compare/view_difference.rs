//! [`ViewDifference`]: differences of two views, computed once per pair of views.

use std::rc::Rc;

use zippy_protocol::{Answer, ArrayEntry, View};
use zippy_view::egui::{Ui, vec2};

use crate::app::format;
use crate::app::slices::{Difference, ViewState};
use crate::app::store::CachedAnswer;
use crate::imaging::{Differences, Measure, Quantity, TypedView};

/// Measures of differences, with the names of their buttons.
pub(super) const MEASURES: [(&str, Measure); 4] = [
    ("absolute", Measure::Absolute),
    ("signed", Measure::Signed),
    ("relative", Measure::Relative),
    ("ULP", Measure::Ulp),
];

/// Differences of two views, as numbers and as a picture.
#[derive(Default)]
pub(super) struct ViewDifference {
    pub measure: Measure,
    computed: Option<ComputedDifferences>,
    picture: Difference,
    /// True if the differences that this frame shows have a picture.
    has_picture: bool,
}

/// Differences of one pair of answers. They are cached, because a comparison of 4 MiB takes longer
/// than a frame.
struct ComputedDifferences {
    answers: [Rc<Answer>; 2],
    quantity: Quantity,
    measure: Measure,
    differences: Result<Differences, String>,
}

impl ViewDifference {
    /// Shows the buttons that select the measure.
    pub(super) fn measures(&mut self, ui: &mut Ui) {
        for (name, measure) in MEASURES {
            ui.radio_value(&mut self.measure, measure, name);
        }
    }

    /// Shows the differences of two requested views. `steps` has the required step of each view.
    /// Until both views of these steps have arrived, a note reports that they are loading.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        array: &ArrayEntry,
        found: [&CachedAnswer; 2],
        steps: [u64; 2],
        view_state: &ViewState,
    ) {
        for error in found.iter().filter_map(|found| found.error.as_ref()) {
            ui.colored_label(ui.visuals().error_fg_color, error);
        }
        let is_complete =
            found.iter().zip(steps).all(|(found, step)| found.view().is_some_and(|view| view.step == step));
        if let ([Some(first), Some(second)], true) = (found.map(CachedAnswer::answer), is_complete) {
            self.pair(ui, array, [first, second], view_state);
        } else if found.iter().all(|found| found.error.is_none()) {
            ui.weak("loading …");
        }
    }

    /// Shows the differences between two answers, which must be views.
    pub(super) fn pair(&mut self, ui: &mut Ui, array: &ArrayEntry, answers: [&Rc<Answer>; 2], view_state: &ViewState) {
        self.compute(array, answers, view_state);
        let Some(ComputedDifferences { differences, .. }) = &self.computed else { return };
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
        self.has_picture = true;
    }

    /// Draws the picture of the differences that this frame has shown, in all remaining space.
    pub(super) fn picture(&mut self, ui: &mut Ui, array: &ArrayEntry) {
        if std::mem::take(&mut self.has_picture) {
            let size = ui.available_size().max(vec2(40.0, 40.0));
            self.picture.show(ui, size, array);
        }
    }

    fn compute(&mut self, array: &ArrayEntry, answers: [&Rc<Answer>; 2], view_state: &ViewState) {
        let (slice, quantity) = view_state.slice();
        let same = |computed: &ComputedDifferences| {
            let alike = computed.answers.iter().zip(answers).all(|(old, new)| Rc::ptr_eq(old, new));
            alike && computed.quantity == quantity && computed.measure == self.measure
        };
        if self.computed.as_ref().is_some_and(same) {
            return;
        }
        let views = answers.map(|answer| view(answer).map(|view| TypedView { view, element: &array.element }));
        let differences = match views {
            [Some(first), Some(second)] => Differences::new(first, second, quantity),
            _ => Err("the answer has no cells".into()),
        };
        if let Ok(differences) = &differences {
            self.picture.set(array, slice, quantity, differences.values(self.measure));
        }
        let (answers, measure) = (answers.map(Rc::clone), self.measure);
        self.computed = Some(ComputedDifferences { answers, quantity, measure, differences });
    }
}

pub(super) fn view(answer: &Answer) -> Option<&View> {
    match answer {
        Answer::View(view) => Some(view),
        _ => None,
    }
}

/// Shows the largest difference by each measure.
pub(super) fn largest(ui: &mut Ui, differences: &Differences) {
    let shown = |value: Option<f64>| value.map_or_else(|| "none".into(), format::short);
    ui.weak(format!("largest: {}", shown(differences.largest)));
    ui.weak(format!("relative {}", shown(differences.largest_relative)));
    ui.weak(format!("ULP {}", shown(differences.largest_ulp)));
    if differences.nans > 0 {
        ui.colored_label(ui.visuals().warn_fg_color, format!("NaN on one side: {}", differences.nans));
    }
}
