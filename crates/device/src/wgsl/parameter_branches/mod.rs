//! Search for branches of a naga module that depend on parameters only.
//!
//! Mesa's software driver (lavapipe 22.3) treats a uniform as a constant if a branch depends on
//! nothing else. It then compiles a kernel of ordinary size at every call and keeps every compiled
//! version. A branch has this effect if its condition is computed only from
//!
//! * uniforms read at a constant index, constants, and arithmetic on them;
//! * for the end of a loop, also a counter that starts and advances by such values, as in `for (var
//!   i = 0; i < n; i++)`;
//! * in a loop with a constant number of iterations, which drivers unroll, the loop's counter.
//!
//! Any other input in the condition prevents it: the id of the invocation or its workgroup, the
//! length of an array, a value loaded from storage, a uniform at an index that depends on these, or
//! a variable changed in a branch or a loop. To avoid such a branch, replace the condition by
//! arithmetic (`select`, a product with `clamp`), or start the counter at the index of an
//! invocation or a workgroup.

mod changes;
mod dependence;
#[cfg(test)]
mod tests;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use naga::Module;

use dependence::VARYING;
use walk::Walk;

/// True if branches on parameters are errors in this process. Cargo sets the environment variable
/// for the programs, tests and benchmarks of this project; kernels of users are not restricted.
static ARE_REFUSED: LazyLock<bool> =
    LazyLock::new(|| std::env::var("ZIPPY_REFUSE_PARAMETER_BRANCHES").is_ok_and(|value| value == "1"));

/// Checks a module for branches on parameters only, in a process that refuses them.
///
/// # Errors
/// The branches.
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

/// Checks a text that reaches the driver without the kernel composer for branches on parameters
/// only.
///
/// # Errors
/// The branches found; a text that naga cannot parse.
#[doc(hidden)]
pub fn check_text(text: &str) -> Result<(), String> {
    if !*ARE_REFUSED {
        return Ok(());
    }
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.to_string())?;
    check_parameter_branches(&module, text)
}

/// Returns the conditions that depend on parameters only: function, line and source text of each.
pub(crate) fn parameter_branches(module: &Module, text: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for point in &module.entry_points {
        let mut privates = BTreeMap::new();
        let arguments = vec![VARYING; point.function.arguments.len()];
        Walk::new(module, text, &point.function, arguments, &mut privates, &mut found).run();
    }
    found.into_iter().collect()
}
