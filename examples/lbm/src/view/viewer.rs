//! [`Viewer`]: content of the window of `--view`.

use zippy_render::volume::{Distribution, Look, TransferFunction};
use zippy_view::TransferEditor;
use zippy_view::egui::{Align2, Color32, FontId, Key, Rect, Ui, vec2};
use zippy_view::live::{StatusLine, View};

use crate::legend::format_short;
use crate::scene::{DrawMode, Scene, ShownQuantity, scale};

const HELP: &str =
    "space: pause or continue   s: one step   drag: turn   right drag: move   wheel: zoom   double click: back";
const SLICE_HELP: &str = "space: pause or continue   s: one step";

/// Settings of a picture and of the run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FlowSettings {
    pub scene: Scene,
    /// False while the run is paused.
    pub is_running: bool,
    /// Number of requests for a single step so far.
    pub single_steps: u64,
    /// Number of time steps between two pictures.
    pub steps_per_frame: u64,
    /// Speed that drives the flow, in cells per step.
    pub speed: f64,
    /// Number of requests for the distribution of the values so far.
    pub distributions: u64,
}

/// Initial state of the window.
#[derive(Debug, Clone)]
pub(crate) struct ViewerSetup {
    /// Case, size and number of ranks, for the status line.
    pub title: String,
    pub scene: Scene,
    /// Values of the first and the last colour for each quantity.
    pub ranges: [[f64; 2]; 4],
    /// Number of cells along each axis.
    pub cells: [i64; 3],
    pub is_plane: bool,
    /// Length of the Reynolds number in cells.
    pub length: f64,
    /// Viscosity in lattice units.
    pub viscosity: f64,
    pub speed: f64,
    /// True if a speed or a force drives the flow.
    pub is_driven: bool,
    pub steps_per_frame: u64,
}

/// Progress of the flow at a picture.
pub(crate) struct Progress {
    pub steps: u64,
    /// Million cell updates per second since the last picture; 0 if there were no steps.
    pub mlups: f64,
}

/// Event that the ranks send to the window.
pub(crate) enum FlowEvent {
    /// Distribution of the values of a quantity over the range of the colours, and the smallest and
    /// the largest value.
    Values(ShownQuantity, Box<Distribution>, [f64; 2]),
    /// The flow cannot continue for this reason; the window stays open.
    Stopped(String),
}

/// State of the window after the flow is set up.
pub(crate) struct Viewer {
    pub(super) setup: ViewerSetup,
    pub(super) settings: FlowSettings,
    /// Transfer function and range of the colours of each quantity, from the last time it was
    /// shown.
    looks: [(TransferFunction, [f64; 2]); 4],
    pub(super) editor: TransferEditor,
    /// Distribution of the shown quantity, and its smallest and largest value, after they arrive
    /// from the ranks.
    pub(super) values: Option<(ShownQuantity, Distribution, [f64; 2])>,
    progress: Progress,
    /// Reason for which the flow cannot continue.
    pub(super) stopped: Option<String>,
}

impl View for Viewer {
    type Setup = ViewerSetup;
    type Settings = FlowSettings;
    type Details = Progress;
    type Event = FlowEvent;

    const LOADING: &'static str = "Setting up the flow …";
    const MIN_SIDE: f32 = 16.0;
    const HELP_CORNER: Align2 = Align2::LEFT_TOP;

    fn new(setup: ViewerSetup) -> Self {
        let looks = ShownQuantity::ALL.map(|quantity| {
            let (mut scene, range) = (setup.scene.clone(), setup.ranges[quantity as usize]);
            scene.set_range(range, setup.length);
            (scene.look.transfer, range)
        });
        let settings = FlowSettings {
            scene: setup.scene.clone(),
            is_running: true,
            single_steps: 0,
            steps_per_frame: setup.steps_per_frame,
            speed: setup.speed,
            distributions: 0,
        };
        Self {
            editor: TransferEditor::new(empty_distribution(setup.scene.range)),
            setup,
            settings,
            looks,
            values: None,
            progress: Progress { steps: 0, mlups: 0.0 },
            stopped: None,
        }
    }

    fn look(&mut self) -> &mut Look {
        &mut self.settings.scene.look
    }

    fn requested(&self) -> Option<FlowSettings> {
        self.stopped.is_none().then(|| self.settings.clone())
    }

    fn update(&mut self, Progress { steps, mlups }: Progress) {
        let mlups = if mlups > 0.0 { mlups } else { self.progress.mlups };
        self.progress = Progress { steps, mlups };
    }

    fn handle_event(&mut self, event: FlowEvent) {
        match event {
            FlowEvent::Values(quantity, values, extremes) => self.set_values(quantity, *values, extremes),
            FlowEvent::Stopped(message) => {
                self.settings.is_running = false;
                self.stopped = Some(message);
            }
        }
    }

    /// Handles keys, unless the flow has stopped or a widget has the keyboard focus.
    fn handle_keys(&mut self, ui: &Ui) {
        if self.stopped.is_some() || ui.memory(|memory| memory.focused()).is_some() {
            return;
        }
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if pressed(Key::Space) {
            self.settings.is_running = !self.settings.is_running;
        }
        if pressed(Key::S) {
            self.request_single_step();
        }
    }

    fn show_settings(&mut self, ui: &mut Ui) {
        self.show_panel(ui);
    }

    fn status(&self, rate: String, resolution: String) -> StatusLine {
        let Progress { steps, mlups } = self.progress;
        let state = match &self.stopped {
            Some(_) => "unstable",
            None if self.settings.is_running => "runs",
            None => "paused",
        };
        StatusLine {
            state: format!("step {steps} · {state}"),
            facts: format!("{mlups:.1} MLUPS · {rate}"),
            note: resolution,
            title: self.setup.title.clone(),
        }
    }

    fn moves_camera(&self) -> bool {
        self.settings.scene.mode != DrawMode::Slice
    }

    fn help(&self) -> &'static str {
        if self.settings.scene.mode == DrawMode::Slice { SLICE_HELP } else { HELP }
    }

    fn draw_over(&self, ui: &Ui, area: Rect) {
        self.draw_legend(ui, area);
        self.draw_stop_reason(ui, area);
    }
}

impl Viewer {
    fn set_values(&mut self, quantity: ShownQuantity, values: Distribution, extremes: [f64; 2]) {
        if quantity == self.settings.scene.quantity && [values.min, values.max] == self.settings.scene.range {
            self.editor.set_values(values.clone());
            self.values = Some((quantity, values, extremes));
        }
    }

    /// Shows another quantity with its last settings.
    pub(super) fn show_quantity(&mut self, quantity: ShownQuantity) {
        let scene = &mut self.settings.scene;
        if quantity == scene.quantity {
            return;
        }
        self.looks[scene.quantity as usize] = (scene.look.transfer.clone(), scene.range);
        let (transfer, range) = self.looks[quantity as usize].clone();
        (scene.look.transfer, scene.range, scene.iso) = (transfer, range, None);
        (scene.quantity, scene.surface_range) = (quantity, self.looks[quantity.surface_quantity() as usize].1);
        self.reset_distribution();
    }

    pub(super) fn set_range(&mut self, range: [f64; 2]) {
        self.settings.scene.set_range(range, self.setup.length);
        self.reset_distribution();
    }

    /// Discards the distribution and requests it again.
    fn reset_distribution(&mut self) {
        self.values = None;
        self.editor = TransferEditor::new(empty_distribution(self.settings.scene.range));
        self.settings.distributions += 1;
    }

    fn draw_legend(&self, ui: &Ui, area: Rect) {
        let scene = &self.settings.scene;
        let (name, [low, high]) = match scene.mode {
            DrawMode::Surface => (
                format!("{} on {}", scene.quantity.surface_quantity().name(), scene.quantity.name()),
                scene.surface_range,
            ),
            _ => (scene.quantity.name().to_owned(), scene.range),
        };
        let on_surfaces = TransferFunction { colour: scale(scene.surface_range), ..scene.look.transfer.clone() };
        let colours = if scene.mode == DrawMode::Surface { &on_surfaces } else { &scene.look.transfer };
        let (font, ink, painter) = (FontId::proportional(13.0), ui.visuals().text_color(), ui.painter());
        let mut at = area.left_bottom() + vec2(12.0, -18.0);
        let text = |at, text: String| painter.text(at, Align2::LEFT_CENTER, text, font.clone(), ink).right() + 8.0;
        at.x = text(at, name);
        at.x = text(at, format_short(low));
        for step in 0..64_u8 {
            let share = f64::from(step) / 63.0;
            let bytes = colours.colour_at(low + (high - low) * share).map(|part| (part * 255.0) as u8);
            let square = Rect::from_min_size(at + vec2(3.0 * f32::from(step), -6.0), vec2(3.5, 12.0));
            painter.rect_filled(square, 0.0, Color32::from_rgb(bytes[0], bytes[1], bytes[2]));
        }
        at.x += 64.0 * 3.0 + 8.0;
        _ = text(at, format_short(high));
    }

    /// Draws the reason for which the flow stopped over the picture.
    fn draw_stop_reason(&self, ui: &Ui, area: Rect) {
        let Some(message) = &self.stopped else { return };
        let text = format!("{message}\n\nThis is the last valid picture. Closing the window ends the program.");
        let (font, width) = (FontId::proportional(15.0), (area.width() - 80.0).clamp(100.0, 640.0));
        let text = ui.painter().layout(text, font, Color32::from_rgb(255, 225, 215), width);
        let frame = Rect::from_center_size(area.center_top() + vec2(0.0, 60.0 + 0.5 * text.size().y), text.size());
        ui.painter().rect_filled(frame.expand(14.0), 6.0, Color32::from_rgba_unmultiplied(90, 20, 15, 235));
        ui.painter().galley(frame.min, text, Color32::WHITE);
    }

    pub(super) fn request_single_step(&mut self) {
        self.settings.is_running = false;
        self.settings.single_steps += 1;
    }
}

fn empty_distribution([min, max]: [f64; 2]) -> Distribution {
    Distribution { min, max, counts: vec![0] }
}
