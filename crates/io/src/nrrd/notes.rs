//! Header fields that do not affect the positions of voxels.

use serde_json::{Map, Value};

use crate::array::{Axis, Metadata};
use crate::voxels::{Claim, Stated, VoxelLayout};

/// Values of the fields; lists have one entry per axis of the file, or none.
#[derive(Default)]
pub(super) struct OtherFields {
    pub content: String,
    pub labels: Vec<String>,
    pub units: Vec<String>,
    /// One per dimension of space.
    pub space_units: Vec<String>,
    pub mins: Vec<f64>,
    pub maxs: Vec<f64>,
    pub centers: Vec<String>,
    pairs: Map<String, Value>,
}

impl OtherFields {
    /// Adds a key/value pair as a JSON value, or as a string if it is no JSON. The last of equal
    /// keys counts.
    pub(super) fn add_pair(&mut self, key: &str, value: &str) {
        let value = unescape(value);
        self.pairs.insert(unescape(key), serde_json::from_str(&value).unwrap_or(Value::String(value)));
    }

    /// Metadata of an array. `stated` is true if the header has a spacing or an origin.
    pub(super) fn metadata(self, grid: &VoxelLayout, stated: bool, component_axes: usize) -> Metadata {
        let axes = grid.shape.axes();
        let origin = grid.origin.as_deref().unwrap_or_default();
        let further_origin = origin.get(axes..).unwrap_or_default().to_vec();
        let position = Metadata { directions: unit_vectors(grid), further_origin, ..Metadata::default() };
        let word = |list: &[String], at: usize| list.get(at).filter(|word| !word.is_empty()).cloned();
        let has_all_units = self.space_units.len() == position.dimensions().max(origin.len()).max(axes);
        let unit_of_space = |axis| if has_all_units { word(&self.space_units, axis) } else { None };
        let axis = |axis: usize| Axis {
            name: word(&self.labels, axis + component_axes),
            unit: word(&self.units, axis + component_axes).or_else(|| unit_of_space(axis)),
            spacing: grid.spacing[axis],
            origin: origin.get(axis).copied().unwrap_or(0.0),
        };
        let mut found: Vec<Axis> = (0..axes).map(axis).collect();
        if !stated && found.iter().all(|axis| *axis == Axis::default()) {
            found.clear();
        }
        let name = Some(self.content).filter(|name| !name.is_empty());
        Metadata { name, axes: found, attributes: self.pairs, ..position }.in_smallest_space(axes)
    }

    /// Completes spacing, origin and directions of a claim from the ends of the axes (`axis mins`,
    /// `axis maxs`). Values of other fields take precedence.
    ///
    /// An axis whose first end is greater than its last end gets the opposite direction. A spacing
    /// of NaN is unknown. `component_axes` counts the component axes, which come first in the file.
    pub(super) fn complete_positions(&self, claim: &mut Claim, component_axes: usize) {
        let sizes = &claim.sizes;
        let stated =
            |axis: usize| claim.spacing.as_ref().map(|all| all.value[axis]).filter(|spacing| !spacing.is_nan());
        let position = |(axis, &voxels): (usize, &i64)| self.axis_position(axis + component_axes, voxels, stated(axis));
        let positions: Vec<AxisPosition> = sizes.value.iter().enumerate().map(position).collect();
        if claim.origin.is_none() && positions.iter().any(|axis| axis.first.is_some()) {
            let first = positions.iter().map(|axis| axis.first.unwrap_or_default()).collect();
            claim.origin = Some(Stated::new(first, sizes.at));
        }
        let steps: Vec<f64> =
            positions.iter().enumerate().map(|(axis, one)| one.step.or(stated(axis)).unwrap_or(1.0)).collect();
        let has_step = |is_wanted: fn(f64) -> bool| positions.iter().any(|axis| axis.step.is_some_and(is_wanted));
        if has_step(|step| step < 0.0) {
            let vector =
                |axis: usize| (0..steps.len()).map(|row| if row == axis { steps[axis] } else { 0.0 }).collect();
            claim.directions = Some((0..steps.len()).map(vector).collect());
        }
        if has_step(|_| true) {
            let lengths = positions.iter().zip(&steps).map(|(axis, step)| axis.step.map_or(*step, f64::abs));
            claim.spacing = Some(Stated::new(lengths.collect(), claim.spacing.as_ref().map_or(sizes.at, |all| all.at)));
        }
    }

    /// Position of an axis from its ends.
    ///
    /// The axis's entry in `centers` defines the ends: `node`, centres of voxels; `cell`, half a
    /// step outside of the outermost centres. Without one of these words the position is unknown.
    /// `spacing` is the spacing from another field and takes precedence over the ends.
    fn axis_position(&self, axis: usize, voxels: i64, spacing: Option<f64>) -> AxisPosition {
        let end = |list: &[f64]| list.get(axis).copied().filter(|end| end.is_finite());
        let (first, last) = (end(&self.mins), end(&self.maxs));
        let (steps, outside) = match self.centers.get(axis).map(String::as_str) {
            Some("node") => ((voxels - 1) as f64, 0.0),
            Some("cell") => (voxels as f64, 0.5),
            _ => return AxisPosition::default(),
        };
        let between = first.zip(last).filter(|_| spacing.is_none()).map(|(first, last)| (last - first) / steps);
        let step = between.filter(|step| step.is_finite() && *step != 0.0);
        let first = first.map(|first| first + outside * spacing.or(step).unwrap_or(1.0));
        AxisPosition { first, step }
    }
}

#[derive(Default)]
struct AxisPosition {
    /// Centre of the first voxel.
    first: Option<f64>,
    /// Signed distance from a voxel to the next one; `None` if the ends do not give it.
    step: Option<f64>,
}

fn unit_vectors(grid: &VoxelLayout) -> Option<Vec<Vec<f64>>> {
    let unit = |(axis, vector): (usize, &Vec<f64>)| vector.iter().map(|part| part / grid.spacing[axis]).collect();
    Some(grid.directions.as_ref()?.iter().enumerate().map(unit).collect())
}

/// Replaces the escape sequences `\n` and `\\`.
fn unescape(text: &str) -> String {
    let (mut out, mut letters) = (String::with_capacity(text.len()), text.chars());
    while let Some(letter) = letters.next() {
        match (letter, letters.as_str().chars().next()) {
            ('\\', Some(next @ ('\\' | 'n'))) => {
                out.push(if next == 'n' { '\n' } else { '\\' });
                letters.next();
            }
            _ => out.push(letter),
        }
    }
    out
}
