//! Analysis of the cells that a kernel accesses through helpers, before the kernel runs.
//!
//! A kernel that loads and stores only at its position plus constants, as stencils do, can run in
//! parts, each over the memory around it. The analysis follows integers through naga's module:
//! constants, counters of loops with constant ends, and distances from the position of the
//! invocation. All other integers are unknown, and an unknown position may be anywhere.
//!
//! A kernel that uses `global_invocation_id` other than as an argument of helpers counts as
//! accessing all cells: its ids differ between one dispatch and several.

mod calls;
mod loops;
#[cfg(test)]
mod tests;
mod value;
mod walk;

use naga::{Binding, BuiltIn, Expression, FunctionArgument};

use super::parsed_module::ParsedModule;
use super::scan::SourceScan;
use super::signature::VarShape;
pub(super) use value::AccessRange;
#[cfg(test)]
use value::Interval;
use value::Value;
use walk::{AnalyzedKernel, Progress, Walk};

/// Maximum number of function calls that the analysis follows.
const MAX_CALLS: u32 = 1000;

/// Returns the access range of an entry point in the array of each storage variable.
pub(super) fn find_access_ranges(
    parsed: &ParsedModule,
    entry: &str,
    scan: &SourceScan,
    shapes: &[VarShape],
) -> Vec<AccessRange> {
    let mut progress =
        Progress { access_ranges: vec![AccessRange::Nothing; scan.storage.len()], calls_left: MAX_CALLS };
    let points = &parsed.module.entry_points;
    match points.iter().position(|point| point.name == entry).filter(|&at| uses_id_alone(parsed, at)) {
        Some(at) => {
            let arguments = points[at].function.arguments.iter();
            let value = |argument| if is_id(argument) { Value::InvocationId } else { Value::Any };
            let called = (&points[at].function, parsed.info.get_entry_point(at));
            let kernel = AnalyzedKernel { parsed, scan, shapes };
            Walk::new(kernel, called, arguments.map(value).collect(), &mut progress).run();
        }
        None => progress.give_up(),
    }
    progress.access_ranges
}

fn is_id(argument: &FunctionArgument) -> bool {
    argument.binding == Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId))
}

/// True for an entry point without arguments except `global_invocation_id`.
fn uses_id_alone(parsed: &ParsedModule, at: usize) -> bool {
    let (function, info) = (&parsed.module.entry_points[at].function, parsed.info.get_entry_point(at));
    function.expressions.iter().all(|(handle, expression)| match expression {
        Expression::FunctionArgument(number) => {
            is_id(&function.arguments[*number as usize]) || info[handle].ref_count == 0
        }
        _ => true,
    })
}
