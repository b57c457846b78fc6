//! The text of a reduction's kernel: traversal, loading, ordering and reduction of cells.

use super::number::{Format, Order};
use crate::element::ElementInfo;

const WALK: &str = include_str!("../../../shaders/reduce/walk.wgsl");
const LOAD: &str = include_str!("../../../shaders/reduce/load.wgsl");

/// The operation of a reduction kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// The kernel's name for error messages.
    pub name: &'static str,
    /// The text of the operation.
    pub text: &'static str,
    /// Number of words that a workgroup writes.
    pub words: usize,
}

/// A [`Work`] that computes sums. Its first words are 16-bit digits from exponent `lowest` on; the
/// optional next words are the numbers of NaNs, +infinities and −infinities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SumWork {
    pub work: Work,
    pub digits: usize,
    /// The exponent of the lowest digit.
    pub lowest: i32,
}

pub(super) const SUM_FLOAT: SumWork = SumWork {
    work: Work { name: "sum", text: include_str!("../../../shaders/reduce/sum_float.wgsl"), words: 21 },
    digits: 18,
    lowest: -149,
};
pub(super) const SUM_INTEGER: SumWork = SumWork {
    work: Work { name: "sum", text: include_str!("../../../shaders/reduce/sum_integer.wgsl"), words: 2 },
    digits: 2,
    lowest: 0,
};
pub(super) const DOT_FLOAT: SumWork = SumWork {
    work: Work { name: "dot", text: include_str!("../../../shaders/reduce/dot_float.wgsl"), words: 39 },
    digits: 36,
    lowest: -298,
};
pub(super) const DOT_INTEGER: SumWork = SumWork {
    work: Work { name: "dot", text: include_str!("../../../shaders/reduce/dot_integer.wgsl"), words: 4 },
    digits: 4,
    lowest: 0,
};
/// Minimum and maximum key, and the number of ignored numbers.
pub(super) const EXTREMES: Work =
    Work { name: "extremes", text: include_str!("../../../shaders/reduce/extremes.wgsl"), words: 3 };
/// Counts of numbers before the first edge, in bins, and from the last edge on; NaNs in the last
/// word.
pub(super) const HISTOGRAM: Work =
    Work { name: "histogram", text: include_str!("../../../shaders/reduce/histogram.wgsl"), words: 1024 };

pub(super) const DIFFERING: Work =
    Work { name: "differing", text: include_str!("../../../shaders/reduce/differing.wgsl"), words: 1 };

/// The section of the loading text after the mark `//@ name`.
fn part(name: &str) -> &'static str {
    let marked = LOAD.split("//@ ").find(|part| part.lines().next() == Some(name));
    marked.map_or("", |part| &part[name.len()..])
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Self::Unsigned => "unsigned",
            Self::Signed => "signed",
            Self::Float => "float",
        }
    }
}

/// The name and the text of the kernel for the lengths of vectors with this number of components.
pub(super) fn kernel_of_lengths(
    work: &Work,
    element: &ElementInfo,
    format: Format,
    components: usize,
) -> (String, impl Fn() -> String) {
    let text = work.text;
    let source = move || {
        let number = part(format.load).replace("fn load(", "fn load_number(");
        let size = part(&format!("size of {}", format.order.name()));
        let count = format!("const COMPONENTS = {components}u;");
        [WALK, &count, &number, size, part("length"), part(Order::Float.name()), text].join("\n")
    };
    (format!("{} of {components} {}", work.name, element.name), source)
}

/// The name and the text of the kernel for cells of a type and its format.
pub(super) fn kernel(work: &Work, element: &ElementInfo, format: Format) -> (String, impl Fn() -> String) {
    let order = format.order.name();
    let text = work.text;
    let second = move || part(format.load).replace("fn load(", "fn load_second(").replace("first[", "second[");
    let source = move || [WALK, part(format.load), &second(), part(order), text].join("\n");
    (format!("{} of {}", work.name, element.name), source)
}
