//! What a header says beside where the voxels are.

use serde_json::{Map, Value};

use crate::array::{Axis, Metadata};
use crate::store::VoxelLayout;

/// What the fields say in words; lists have an entry for each axis of the file, or none at all.
#[derive(Default)]
pub struct Notes {
    pub content: String,
    pub labels: Vec<String>,
    pub units: Vec<String>,
    /// One for each dimension of space.
    pub space_units: Vec<String>,
    pub mins: Vec<f64>,
    pub centers: Vec<String>,
    pairs: Map<String, Value>,
}

impl Notes {
    /// A pair of a key and a value: what is JSON is taken for that, other text as it is. Of equal keys the last one counts.
    pub fn pair(&mut self, key: &str, value: &str) {
        let value = unescaped(value);
        self.pairs.insert(unescaped(key), serde_json::from_str(&value).unwrap_or(Value::String(value)));
    }

    /// What an array has of it. `stated`: the header says a spacing or an origin; `before`: axes of components.
    pub fn metadata(self, grid: &VoxelLayout, stated: bool, before: usize) -> Metadata {
        let axes = grid.shape.axes();
        let word = |list: &[String], at: usize| list.get(at).filter(|word| !word.is_empty()).cloned();
        let of_space = |axis| if self.space_units.len() == axes { word(&self.space_units, axis) } else { None };
        let axis = |axis: usize| Axis {
            name: word(&self.labels, axis + before),
            unit: word(&self.units, axis + before).or_else(|| of_space(axis)),
            spacing: grid.spacing[axis],
            origin: grid.origin.as_ref().map_or(0.0, |origin| origin[axis]),
        };
        let mut found: Vec<Axis> = (0..axes).map(axis).collect();
        if !stated && found.iter().all(|axis| *axis == Axis::default()) {
            found.clear();
        }
        let name = Some(self.content).filter(|name| !name.is_empty());
        Metadata { name, axes: found, directions: unit_vectors(grid), attributes: self.pairs }
    }

    /// Position of the first voxel by the least positions of the axes, as far as these and `centers` say it; `None`: of
    /// no axis. `spacing` has a number for each axis of voxels.
    pub fn origin(&self, spacing: &[f64], before: usize) -> Option<Vec<f64>> {
        let along = |axis: usize| {
            let least = self.mins.get(axis + before).copied().filter(|least| least.is_finite())?;
            match self.centers.get(axis + before)?.as_str() {
                "node" => Some(least),
                "cell" => Some(least + spacing[axis] / 2.0),
                _ => None,
            }
        };
        let found: Vec<Option<f64>> = (0..spacing.len()).map(along).collect();
        let is_any = found.iter().any(Option::is_some);
        is_any.then(|| found.into_iter().map(Option::unwrap_or_default).collect())
    }
}

/// Directions of length 1; `None` where they are the axes of space.
fn unit_vectors(grid: &VoxelLayout) -> Option<Vec<Vec<f64>>> {
    let unit = |(axis, vector): (usize, &Vec<f64>)| vector.iter().map(|part| part / grid.spacing[axis]).collect();
    let units: Vec<Vec<f64>> = grid.directions.as_ref()?.iter().enumerate().map(unit).collect();
    let found = Metadata { directions: Some(units), ..Metadata::default() };
    if found.is_along_space() { None } else { found.directions }
}

/// The text with line feeds and backslashes in place of what stands for them.
fn unescaped(text: &str) -> String {
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
