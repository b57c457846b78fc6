//! Editors of clip planes and of the crop box.

use egui::{Slider, Ui};
use zippy_render::volume::{ClipPlane, Crop};

const AXIS_NAMES: [&str; 3] = ["x", "y", "z"];

/// Edits the clip planes of a volume: one plane across each axis, and one plane of any direction.
/// Further planes stay unchanged.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipEditor {
    /// Lower and upper bounds of the volume's coordinates.
    bounds: [[f64; 3]; 2],
    across: [AxisPlane; 3],
    free: FreePlane,
    others: Vec<ClipPlane>,
}

/// A clip plane perpendicular to an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
struct AxisPlane {
    is_on: bool,
    at: f64,
    /// True to keep the side below the plane.
    keeps_below: bool,
}

/// A clip plane with any normal.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FreePlane {
    is_on: bool,
    /// Direction of the normal in degrees: angle around the third axis, and angle above the plane
    /// of the first two axes.
    azimuth: f64,
    elevation: f64,
    /// Distance from the centre of the volume along the normal.
    offset: f64,
}

impl ClipEditor {
    /// Creates an editor for a volume with these lower and upper bounds and these clip planes.
    pub fn new(bounds: [[f64; 3]; 2], planes: &[ClipPlane]) -> Self {
        let across = |at: f64| AxisPlane { is_on: false, at, keeps_below: false };
        let free = FreePlane { is_on: false, azimuth: 0.0, elevation: 0.0, offset: 0.0 };
        let mut editor = Self { bounds, across: bounds[0].map(across), free, others: Vec::new() };
        planes.iter().for_each(|plane| editor.add_plane(*plane));
        editor
    }

    fn add_plane(&mut self, plane: ClipPlane) {
        let ClipPlane { normal, offset } = plane;
        let length = normal.iter().map(|part| part * part).sum::<f64>().sqrt();
        let axis = (0..3).find(|&axis| normal[axis].abs() == length && !self.across[axis].is_on);
        if let Some(axis) = axis {
            self.across[axis] = AxisPlane { is_on: true, at: offset / normal[axis], keeps_below: normal[axis] < 0.0 };
        } else if !self.free.is_on && length > 0.0 {
            let unit = normal.map(|part| part / length);
            let middle = self.centre_offset(unit);
            let elevation = unit[2].clamp(-1.0, 1.0).asin().to_degrees();
            let azimuth = unit[1].atan2(unit[0]).to_degrees();
            self.free = FreePlane { is_on: true, azimuth, elevation, offset: offset / length - middle };
        } else {
            self.others.push(plane);
        }
    }

    /// Offset of the plane with this normal that passes through the centre of the volume.
    fn centre_offset(&self, normal: [f64; 3]) -> f64 {
        let [low, high] = self.bounds;
        (0..3).map(|axis| normal[axis] * (low[axis] + high[axis]) / 2.0).sum()
    }

    /// Returns the active planes.
    pub fn planes(&self) -> Vec<ClipPlane> {
        let mut planes: Vec<ClipPlane> = Vec::new();
        for (axis, plane) in self.across.iter().enumerate().filter(|(_, plane)| plane.is_on) {
            let sign = if plane.keeps_below { -1.0 } else { 1.0 };
            let normal = std::array::from_fn(|other| if other == axis { sign } else { 0.0 });
            planes.push(ClipPlane { normal, offset: sign * plane.at });
        }
        if self.free.is_on {
            let (sin_a, cos_a) = self.free.azimuth.to_radians().sin_cos();
            let (sin_e, cos_e) = self.free.elevation.to_radians().sin_cos();
            let normal = [cos_e * cos_a, cos_e * sin_a, sin_e];
            planes.push(ClipPlane { normal, offset: self.centre_offset(normal) + self.free.offset });
        }
        planes.extend(&self.others);
        planes
    }

    /// Shows the editor and writes the active planes to `planes`. Returns true after a change.
    pub fn show(&mut self, ui: &mut Ui, planes: &mut Vec<ClipPlane>) -> bool {
        let before = self.clone();
        let [least, greatest] = self.bounds;
        for (axis, plane) in self.across.iter_mut().enumerate() {
            ui.horizontal(|ui| {
                ui.checkbox(&mut plane.is_on, AXIS_NAMES[axis]).on_hover_text("Clip across this axis");
                ui.add_enabled_ui(plane.is_on, |ui| {
                    let name = format!("clip {}", AXIS_NAMES[axis]);
                    ui.add(Slider::new(&mut plane.at, least[axis]..=greatest[axis])).accessible_name(name);
                    ui.checkbox(&mut plane.keeps_below, "keep below");
                });
            });
        }
        ui.checkbox(&mut self.free.is_on, "free plane");
        if self.free.is_on {
            let max_offset = (0..3).map(|axis| (greatest[axis] - least[axis]).powi(2)).sum::<f64>().sqrt() / 2.0;
            ui.add(Slider::new(&mut self.free.azimuth, -180.0..=180.0).suffix("°").text("azimuth"));
            ui.add(Slider::new(&mut self.free.elevation, -90.0..=90.0).suffix("°").text("elevation"));
            ui.add(Slider::new(&mut self.free.offset, -max_offset..=max_offset).text("offset"));
        }
        let changed = *self != before;
        if changed {
            *planes = self.planes();
        }
        changed
    }
}

/// Shows the crop box of a volume of `size`. Returns true after a change.
pub fn crop(ui: &mut Ui, size: [f64; 3], crop: &mut Option<Crop>) -> bool {
    let before = *crop;
    let mut is_on = crop.is_some();
    ui.checkbox(&mut is_on, "crop to a box");
    if is_on {
        let found = crop.get_or_insert(Crop { low: [0.0; 3], high: size });
        for (axis, name) in AXIS_NAMES.iter().enumerate() {
            let (low, high) = (&mut found.low[axis], &mut found.high[axis]);
            let old_low = *low;
            let bound = |value, end: &str| Slider::new(value, 0.0..=size[axis]).text(format!("{name} {end}"));
            ui.add(bound(low, "from"));
            ui.add(bound(high, "to"));
            // The moved end pushes the other one.
            if *low != old_low { *high = high.max(*low) } else { *low = low.min(*high) }
        }
    } else {
        *crop = None;
    }
    *crop != before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn editor_returns_given_planes() {
        let given = [
            ClipPlane { normal: [0.0, 0.0, 2.0], offset: 10.0 },
            ClipPlane { normal: [-1.0, 0.0, 0.0], offset: -30.0 },
            ClipPlane { normal: [3.0, 4.0, 0.0], offset: 100.0 },
            ClipPlane { normal: [1.0, 1.0, 1.0], offset: 7.0 },
        ];
        let planes = ClipEditor::new([[0.0; 3], [40.0, 60.0, 80.0]], &given).planes();
        assert_eq!(planes[0], ClipPlane { normal: [-1.0, 0.0, 0.0], offset: -30.0 });
        assert_eq!(planes[1], ClipPlane { normal: [0.0, 0.0, 1.0], offset: 5.0 });
        let free = planes[2];
        for (found, expected) in free.normal.iter().chain([&free.offset]).zip([0.6, 0.8, 0.0, 20.0]) {
            assert!((found - expected).abs() < 1e-9, "{free:?}");
        }
        assert_eq!(planes[3], given[3]);
        assert_eq!(planes.len(), 4);
        assert!(ClipEditor::new([[0.0; 3], [1.0; 3]], &[]).planes().is_empty());
    }
}
