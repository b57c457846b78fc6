//! [`Shot`]: a slice of an array as a file.

use std::fmt::Write;
use std::path::PathBuf;

use serde::Deserialize;
use zippy_files::write_whole;
use zippy_protocol::{ArrayEntry, ScalarValue, View};

use crate::client::Client;
use crate::export::{CellGrid, FileFormat, MAX_EDGE, csv, npy, png};
use crate::imaging::{
    ColourMap, Colouring, MapKind, Norm, Quantity, Range, Scale, Share, Slice, Values, axis, axis_name, indices, paint,
};

/// Request for a file with a slice of an array: colours or exact numbers.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Shot {
    /// Name of the array.
    pub array: String,
    /// Rank of the array, if several ranks have an array of this name.
    pub rank: Option<u32>,
    /// Position of the slice: an index along each axis that is not shown, such as `z=0` or
    /// `2=0,w=3`. Negative indices count from the end. Default: the middle.
    pub slice: String,
    /// Axis to the right. Default: the first axis that `slice` does not name.
    pub across: Option<String>,
    /// Upward axis. Default: the next axis that `slice` does not name.
    pub up: Option<String>,
    /// Debug point of a recording. Default: the current debug point.
    pub step: Option<u64>,
    /// Number of a cell: `x`, `y` or `length` of a vector, or `velocity.x` of a record. Default:
    /// the length of a vector, the first number of a record; all numbers in .npy and .csv files.
    pub component: Option<String>,
    /// Distance of shown cells across and up, at least 1. Default: 1.
    pub stride: Option<i64>,
    /// Colour map. Default: viridis.
    pub map: Option<String>,
    /// Range of the colours: `min:max`, `p1:p99` by percentiles, `symmetric` about 0, or two
    /// numbers such as `-0.5:2`. Default: `min:max`.
    pub range: Option<String>,
    /// Norm of the colours: `linear`, `log`, or `symlog:SIZE`, which is linear up to SIZE on both
    /// sides of 0. Default: `linear`.
    pub norm: Option<String>,
    /// Pixels per cell along each edge, 1 to `MAX_SCALE`. Default: a picture about 512 pixels
    /// wide.
    pub scale: Option<usize>,
    /// Output file: .png for colours, .npy or .csv for exact numbers.
    pub output: PathBuf,
}

/// Maximum number of pixels per cell along each edge.
const MAX_SCALE: usize = 512;

impl Shot {
    /// Returns the slice of an array of this shape.
    fn parse_slice(&self, shape: &[i64]) -> Result<Slice, String> {
        let mut slice = Slice::new(shape);
        if shape.is_empty() {
            return Err("the array has no axis".into());
        }
        let fixed = indices(&self.slice, shape)?;
        for &(axis, at) in &fixed {
            slice.at[axis] = at;
        }
        let chosen = |name: &Option<String>| name.as_deref().map(|name| axis(name, shape.len())).transpose();
        let (across, up) = (chosen(&self.across)?, chosen(&self.up)?);
        let mut free = (0..shape.len())
            .filter(|axis| !fixed.iter().any(|(other, _)| other == axis) && Some(*axis) != across && Some(*axis) != up);
        slice.across =
            across.or_else(|| free.next()).ok_or("`slice` names every axis: leave one or two to be shown")?;
        slice.up = up.or_else(|| free.next());
        if slice.up == Some(slice.across) {
            return Err(format!("axis {} goes either across or up", axis_name(slice.across)));
        }
        if let Some((axis, _)) = fixed.iter().find(|(axis, _)| slice.shows(*axis)) {
            return Err(format!("axis {} is shown, and `slice` names it", axis_name(*axis)));
        }
        Ok(slice)
    }

    /// Writes the file, whole or not at all, and returns a description of the slice.
    ///
    /// # Errors
    /// The request is invalid, the array or debug point does not exist, or the cells cannot be
    /// fetched or written.
    pub fn take(&self, client: &mut Client) -> Result<String, String> {
        let kind = FileFormat::of(&self.output)?;
        let norm = self.norm.as_deref().map_or(Ok(Norm::Linear), Norm::parse)?;
        let range = self.range.as_deref().map_or(Ok(Range::Extremes), Range::parse)?;
        let map = self.map.as_deref().map_or_else(|| Ok(ColourMap::first()), ColourMap::named)?;
        if let Some(stride) = self.stride.filter(|&stride| stride < 1) {
            return Err(format!("a stride is at least 1, and not {stride}"));
        }
        if let Some(scale) = self.scale.filter(|scale| !(1..=MAX_SCALE).contains(scale)) {
            return Err(format!("a scale is from 1 to {MAX_SCALE}, and not {scale}"));
        }
        if let Some(step) = self.step {
            client.go_to(step)?;
        }
        let entry = client.array(&self.array, self.rank)?;
        let wanted = Quantity::named(&entry.element, self.component.as_deref())?;
        let slice = self.parse_slice(&entry.shape)?;
        let extents = slice.extents(&entry.shape);
        if entry.shape.iter().any(|&extent| extent < 1) {
            return Err(format!("`{}` has no cell: its shape is {:?}", entry.name, entry.shape));
        }
        let stride = self.stride.unwrap_or(1);
        let request = slice.request(entry.array, [[0, 0], extents], [stride; 2], None);
        let view = client.cells(&request, entry.element.bytes as usize)?;
        let values = Values::new(&view, &entry.element, wanted)?;
        let mut text = self.slice_heading(client, &entry, &slice, &view);
        let numbers = self.component.as_ref().map(|_| wanted);
        let bytes = match kind {
            FileFormat::Npy => npy(&CellGrid::new(&view, &entry.element, &slice.axes())?, numbers)?,
            FileFormat::Csv => {
                let mut text = Vec::new();
                csv(&CellGrid::new(&view, &entry.element, &slice.axes())?, numbers, &mut text)?;
                text
            }
            FileFormat::Png => {
                let scale = match (range.of(values.scalars(), norm), map.kind) {
                    (Some(ends), _) => Scale::new(norm, ends)?,
                    // There is no finite number to colour, or the map ignores the range.
                    (None, _) => Scale::new(Norm::Linear, (0.0, 0.0))?,
                };
                let picture = paint(&values, &slice, &Colouring { map, scale })?;
                let fitting = (512 / picture.width.max(picture.height).max(1)).max(1);
                let enlargement = self.scale.unwrap_or(fitting);
                self.add_colour_legend(&mut text, &values, map, scale);
                let edge = picture.width.max(picture.height).saturating_mul(enlargement);
                if edge > MAX_EDGE {
                    return Err(format!(
                        "a picture has at most {} pixels along an edge, and this one would have {edge}: take a smaller \
                         `scale`, or a `stride`",
                        MAX_EDGE
                    ));
                }
                png(&picture.enlarged(enlargement))?
            }
        };
        text.push_str(&describe_values(&values, &wanted.name(&entry.element)));
        write_whole(&self.output, &bytes).map_err(|error| error.to_string())?;
        let _ = write!(text, "\nwritten to {}: {} bytes", self.output.display(), bytes.len());
        Ok(text)
    }

    fn slice_heading(&self, client: &mut Client, entry: &ArrayEntry, slice: &Slice, view: &View) -> String {
        let point = client.point().filter(|point| point.step == view.step && !point.name.is_empty());
        let name = point.map(|point| format!(" ({})", point.name)).unwrap_or_default();
        let rank = entry.array.rank.map(|rank| format!(" of rank {rank}")).unwrap_or_default();
        let mut text = format!("{}{rank} at debug point {}{name}", entry.name, view.step);
        for axis in slice.fixed() {
            let _ = write!(text, ", {}={}", axis_name(axis), view.of.start[axis]);
        }
        let extents = view.of.extents().unwrap_or_default();
        let _ = write!(text, "\n{} across, {} cells", axis_name(slice.across), extents[slice.across]);
        if let Some(up) = slice.up {
            let _ = write!(text, "; {} up, {} cells", axis_name(up), extents[up]);
        }
        let _ = write!(text, "; {}", entry.element.name);
        let strides: Vec<i64> =
            [Some(slice.across), slice.up].into_iter().flatten().map(|axis| view.of.stride[axis]).collect();
        if strides.iter().any(|&stride| stride > 1) {
            let _ = write!(text, "; only every so-manyth cell: {strides:?}");
        }
        text
    }

    fn add_colour_legend(&self, text: &mut String, values: &Values, map: &ColourMap, scale: Scale) {
        if map.kind == MapKind::Categorical {
            let _ = write!(text, "\nclasses, {}", map.name);
            return;
        }
        let (low, high) = scale.range();
        let norm = match scale.norm() {
            Norm::Linear => "linear".into(),
            Norm::Log => "logarithmic".into(),
            Norm::SymLog(size) => format!("symlog, even up to {size}"),
        };
        let count = |wanted: Share| values.scalars().filter(|&value| scale.share(value) == wanted).count();
        let (low, high) = ScalarValue::pair(low, high);
        let (below, above) = (count(Share::Below), count(Share::Above));
        let _ = write!(text, "\ncolours from {low} to {high}, {norm}, {}", map.name);
        let _ = write!(text, "; {below} below, {above} above");
    }
}

/// Describes the smallest and the largest number, and counts numbers that are not finite.
fn describe_values(values: &Values, name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let ends = Range::Extremes.of(values.scalars(), Norm::Linear).map(|(low, high)| ScalarValue::pair(low, high));
    let ends = ends.map_or("no finite number".into(), |(low, high)| format!("min {low}, max {high}"));
    let count = |matches: fn(&f64) -> bool| values.numbers.iter().filter(|value| matches(value)).count();
    format!("\n{name}{ends}, {} NaN, {} infinite", count(|value| value.is_nan()), count(|value| value.is_infinite()))
}
