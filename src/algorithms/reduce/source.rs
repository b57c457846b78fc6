//! The text of a reduction's kernel: how cells are walked, read and ordered, and what is done with them.

use super::number::{Format, Number, Order};

const WALK: &str = include_str!("../../../shaders/reduce/walk.wgsl");
const LOAD: &str = include_str!("../../../shaders/reduce/load.wgsl");

/// What is done with cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// The kernel's name for messages.
    pub name: &'static str,
    /// Its own text.
    pub text: &'static str,
    /// The words that a workgroup writes.
    pub words: usize,
}

/// Sums of floating-point numbers: 18 digits, then NaNs, +infinities, −infinities.
pub const SUM_FLOAT: Work =
    Work { name: "sum", text: include_str!("../../../shaders/reduce/sum_float.wgsl"), words: 21 };
/// Sums of integers: two digits.
pub const SUM_INTEGER: Work =
    Work { name: "sum", text: include_str!("../../../shaders/reduce/sum_integer.wgsl"), words: 2 };
/// Smallest and largest key, and NaNs.
pub const EXTREMES: Work =
    Work { name: "extremes", text: include_str!("../../../shaders/reduce/extremes.wgsl"), words: 3 };

/// The section of the loading text behind the mark `//@ name`.
fn part(name: &str) -> &'static str {
    let marked = LOAD.split("//@ ").find(|part| part.lines().next() == Some(name));
    marked.map_or("", |part| &part[name.len()..])
}

/// The name and the text of the kernel for cells of type `T`; `None` where the host does the work.
pub fn kernel<T: Number>(work: &Work) -> Option<(String, impl Fn() -> String)> {
    let Format::Device(load, order) = T::FORMAT else { return None };
    let order = match order {
        Order::Unsigned => "unsigned",
        Order::Signed => "signed",
        Order::Float => "float",
    };
    let text = work.text;
    let name = format!("{} of {}", work.name, T::INFO.name);
    Some((name, move || [WALK, part(load), part(order), text].join("\n")))
}
