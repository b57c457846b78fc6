//! [`Comparison`]: the options and the work of the command `compare`.

use std::fmt::Write;

use clap::Args;
use zippy_protocol::{ArrayEntry, View, ViewRequest};

use crate::client::Client;
use crate::imaging::{Differences, Quantity, TypedView, cell};

/// Options of the command `compare`.
#[derive(Args, Debug, Clone, Default)]
#[group(skip)]
pub struct Comparison {
    /// Name of the array
    #[arg(long, value_name = "NAME")]
    pub array: String,

    /// Name of the other array. Default: the same name
    #[arg(long, value_name = "NAME")]
    pub other_array: Option<String>,

    /// Rank of the arrays, if several ranks have arrays of these names
    #[arg(long, value_name = "RANK")]
    pub rank: Option<u32>,

    /// Debug point, for a recording. Default: the first debug point
    #[arg(long, value_name = "N", value_parser = parse_step)]
    pub step: Option<u64>,

    /// Debug point of the other side, for a recording. Default: the value of --step
    #[arg(long, value_name = "N", value_parser = parse_step)]
    pub other_step: Option<u64>,

    /// Number of a cell to compare: x, y or length of a vector, or velocity.x of a record. Default:
    /// the length of a vector, the first number of a record
    #[arg(long, value_name = "NAME")]
    pub component: Option<String>,
}

fn parse_step(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a whole number from 0 on"))
}

impl Comparison {
    /// Compares all cells. Returns true if all bits are equal, and a text. Waits for both sides.
    ///
    /// # Errors
    /// An array or debug point does not exist; types, shapes or recorded cells differ; or the cells
    /// cannot be fetched.
    pub fn make(&self, one: &mut Client, other: &mut Client) -> Result<(bool, String), String> {
        let name = self.other_array.as_ref().unwrap_or(&self.array);
        // A running program has no earlier debug points to go to.
        let other_step = self.other_step.or(self.step.filter(|_| !other.steps().is_empty()));
        let step = self.step.filter(|_| !one.steps().is_empty() || self.other_step.is_some());
        let (one, one_view) = fetch_array(one, &self.array, self.rank, step)?;
        let (other, other_view) = fetch_array(other, name, self.rank, other_step)?;
        if one.shape != other.shape {
            return Err(format!("`{}` has the shape {:?}, and `{name}` {:?}", self.array, one.shape, other.shape));
        }
        let quantity = Quantity::named(&one.element, self.component.as_deref())?;
        let one_side = TypedView { view: &one_view, element: &one.element };
        let other_side = TypedView { view: &other_view, element: &other.element };
        let found = Differences::new(one_side, other_side, quantity)?;
        let count = one_view.of.extents().unwrap_or_default().iter().product::<i64>();
        let (steps, array) = ([one_view.step, other_view.step], &self.array);
        let mut text = format!("{array} at debug point {}, {name} at debug point {}", steps[0], steps[1]);
        if one_view.of.stride.iter().any(|&stride| stride > 1) {
            let _ = write!(text, "; only every so-manyth cell: {:?}", one_view.of.stride);
        }
        let Some(first) = &found.first else {
            let _ = write!(text, "\nnone of {count} cells differs");
            return Ok((true, text));
        };
        let _ = write!(text, "\n{} of {count} cells differ, the first one at {first:?}: ", found.cells);
        let values =
            [(&one_view, &one), (&other_view, &other)].map(|(view, entry)| exact_numbers_text(view, entry, first));
        let _ = write!(text, "{}", values.join(" and "));
        let of = quantity.name(&one.element);
        let of = if of.is_empty() { String::new() } else { format!("{of}: ") };
        if let (Some(absolute), Some(relative), Some(ulp)) = (found.largest, found.largest_relative, found.largest_ulp)
        {
            let _ = write!(text, "\n{of}at most {absolute} apart, relative to the larger one {relative}, {ulp} ULP");
        }
        let _ = write!(text, "\n{of}{} cells are NaN in one of them only", found.nans);
        Ok((false, text))
    }
}

fn fetch_array(
    client: &mut Client,
    name: &str,
    rank: Option<u32>,
    step: Option<u64>,
) -> Result<(ArrayEntry, View), String> {
    if let Some(step) = step {
        client.go_to(step)?;
    }
    let entry = client.array(name, rank)?;
    let view = client.cells(&ViewRequest::whole(&entry), entry.element.bytes as usize)?;
    Ok((entry, view))
}

/// Returns a text with all numbers of a cell and their bits.
fn exact_numbers_text(view: &View, entry: &ArrayEntry, at: &[i64]) -> String {
    let members = cell(view, &entry.element, at).unwrap_or_default().into_iter();
    let all = members.flat_map(|member| {
        let name = if member.name.is_empty() { String::new() } else { format!("{} ", member.name) };
        let each: Vec<String> =
            member.components.iter().map(|exact| format!("{} ({})", exact.text, exact.bits)).collect();
        [format!("{name}{}", each.join(", "))]
    });
    all.collect::<Vec<_>>().join("; ")
}
