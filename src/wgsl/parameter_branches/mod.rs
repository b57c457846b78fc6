//! Branches that depend on parameters alone, found in naga's module.
//!
//! Mesa's software driver (lavapipe 22.3) takes a uniform for a constant where nothing else decides a branch. It then
//! compiles a kernel of ordinary size anew at every call and keeps all that it has compiled. These decide a branch alone:
//!
//! * uniforms that are read at a constant index, and arithmetic on them and on constants;
//! * for the end of a loop also a counter, one that begins and proceeds by such values, as in `for (var i = 0; i < n; i++)`;
//! * in a loop with a constant number of iterations, which drivers unroll, its counter.
//!
//! Anything else in the condition prevents it: the id of the invocation or of its workgroup, the length of an array, a value
//! loaded from storage, a uniform at an index that depends on these, a variable changed by a branch or a loop. So a condition becomes arithmetic (`select`, a product with `clamp`), or a counter begins at the number of an
//! invocation or a workgroup.

mod changes;
mod dependence;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use naga::Module;

use dependence::MORE;
use walk::Walk;

/// Whether every kernel text with such a branch is an error in this process. Cargo sets the variable for the programs, tests
/// and benchmarks of this project; a user's kernels may branch as they like.
static ARE_REFUSED: LazyLock<bool> =
    LazyLock::new(|| std::env::var("ZIPPY_REFUSE_PARAMETER_BRANCHES").is_ok_and(|value| value == "1"));

/// Checks a module for branches on parameters alone, in a process that [refuses](ARE_REFUSED) them.
///
/// # Errors
/// The branches that [`parameter_branches`] finds.
pub fn check_parameter_branches(module: &Module, text: &str) -> Result<(), String> {
    let found = if *ARE_REFUSED { parameter_branches(module, text) } else { Vec::new() };
    if found.is_empty() {
        return Ok(());
    }
    Err(format!(
        "parameters alone decide {}: software drivers compile such a kernel at every call. Choose by select(), or unset \
         ZIPPY_REFUSE_PARAMETER_BRANCHES",
        found.join("; ")
    ))
}

/// Checks a text that goes to the driver without the kernel composer for branches on parameters alone.
///
/// # Errors
/// The branches that are found; a text that naga refuses.
pub fn check_text(text: &str) -> Result<(), String> {
    if !*ARE_REFUSED {
        return Ok(());
    }
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.to_string())?;
    check_parameter_branches(&module, text)
}

/// Finds the conditions that parameters alone decide: function, line and words of each, from `text`.
pub fn parameter_branches(module: &Module, text: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for point in &module.entry_points {
        let mut privates = BTreeMap::new();
        let arguments = vec![MORE; point.function.arguments.len()];
        Walk::new(module, text, &point.function, arguments, &mut privates, &mut found).run();
    }
    found.into_iter().collect()
}
