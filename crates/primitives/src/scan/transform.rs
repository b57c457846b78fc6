//! Transformation of cells before they are combined, without a separate pass.

use zippy::World;
use zippy::element::{ElementInfo, ElementKind};
use zippy::error::{ErrorKind, KernelError, Result};
use zippy::kernel::{Kernel, KernelSource};

/// Returns the WGSL type of a cell in an expression.
fn value_type(element: &ElementInfo) -> &'static str {
    match element.kind {
        ElementKind::Packed(packed) if packed.is_signed() => "i32",
        ElementKind::Packed(_) => "u32",
        _ => element.name,
    }
}

/// Fails unless an expression converts cells of type `from` to cells of type `to`. Compiles the
/// expression separately, so that errors have its own line numbers.
pub(super) fn check(
    world: &World,
    from: &'static ElementInfo,
    expression: &str,
    to: &'static ElementInfo,
) -> Result<()> {
    let mut records = from.declarations();
    if from != to {
        records += &to.declarations();
    }
    let (x, result) = (value_type(from), value_type(to));
    if let ElementKind::Packed(_) = to.kind {
        let problem = format!("a transform to cells of {} is not possible; make u32 or i32 of them", to.name);
        return Err(KernelError::Other(problem).into());
    }
    let before = format!("{records}fn zippy_transform(x: {x}) -> {result} {{ return (\n");
    let text = format!("{before}{expression}\n); }}\n@compute @workgroup_size(1)\nfn zippy_main() {{}}\n");
    let name = format!("transform {expression:?}");
    let lines = before.matches('\n').count();
    let Err(error) = Kernel::new(world.gpu(), &KernelSource::composed(&name, text)) else { return Ok(()) };
    match error.kind().clone() {
        ErrorKind::Kernel(KernelError::Wgsl { line, column, message, excerpt, .. })
            if line > lines && line <= lines + 1 + expression.matches('\n').count() =>
        {
            let excerpt = excerpt.replacen(&format!("\n{line} | "), &format!("\n{} | ", line - lines), 1);
            Err(KernelError::Wgsl { file: name, line: line - lines, column, message, excerpt }.into())
        }
        ErrorKind::Kernel(KernelError::Wgsl { message, .. }) => {
            Err(KernelSource::text(name, expression).ends_early(&message).into())
        }
        _ => Err(error),
    }
}
