use std::collections::HashSet;

use crate::ir::{Definition, Kernel, Memory, Statement, Value};

pub(crate) fn guards(kernel: &Kernel) -> HashSet<Value> {
    fn collect(body: &[Statement], into: &mut HashSet<Value>) {
        for statement in body {
            match statement {
                Statement::Store(access, _) => into.extend(access.guard),
                Statement::If { accept, reject, .. } => {
                    collect(accept, into);
                    collect(reject, into);
                }
                Statement::Block { body, .. } | Statement::Loop { body, .. } => collect(body, into),
                _ => {}
            }
        }
    }
    let mut into = HashSet::new();
    for (_, definition) in &kernel.values {
        if let Definition::Load(access) = definition {
            into.extend(access.guard);
        }
    }
    collect(&kernel.body, &mut into);
    into
}

/// True if invocations of a kernel can run twice with the same result: without atomic
/// operations, and without loads from memory that it writes.
pub(crate) fn is_repeatable(kernel: &Kernel) -> bool {
    fn has_atomics(body: &[Statement]) -> bool {
        body.iter().any(|statement| match statement {
            Statement::Atomic(_) | Statement::Barrier => true,
            Statement::If { accept, reject, .. } => has_atomics(accept) || has_atomics(reject),
            Statement::Block { body, .. } | Statement::Loop { body, .. } => has_atomics(body),
            _ => false,
        })
    }
    fn is_constant_load(kernel: &Kernel, value: Value) -> bool {
        match kernel.definition(value) {
            Definition::Load(access) => match access.memory {
                Memory::Binding(number) => !kernel.bindings[number].writable,
                Memory::Workgroup => false,
                Memory::Frame => true,
            },
            _ => true,
        }
    }
    fn loads_constants(kernel: &Kernel, body: &[Statement]) -> bool {
        body.iter().all(|statement| match statement {
            Statement::Let(value) => is_constant_load(kernel, *value),
            Statement::If { accept, reject, .. } => loads_constants(kernel, accept) && loads_constants(kernel, reject),
            Statement::Block { body, .. } | Statement::Loop { body, .. } => loads_constants(kernel, body),
            _ => true,
        })
    }
    !has_atomics(&kernel.body) && loads_constants(kernel, &kernel.body)
}

/// True if a body writes to memory. Writes to the frame count only if frames are `kept`.
pub(crate) fn writes(body: &[Statement], kept: bool) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Store(access, _) => access.memory != Memory::Frame || kept,
        Statement::Atomic(_) | Statement::Barrier => true,
        Statement::If { accept, reject, .. } => writes(accept, kept) || writes(reject, kept),
        Statement::Block { body, .. } | Statement::Loop { body, .. } => writes(body, kept),
        _ => false,
    })
}
