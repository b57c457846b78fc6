//! Guards and writes of a kernel.

use std::collections::HashSet;

use crate::ir::{Definition, Kernel, Memory, Statement, Value};

/// Values that guard accesses.
pub fn guards(kernel: &Kernel) -> HashSet<Value> {
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

/// True where a body writes to memory. Writes to the frame count only if frames are `kept`.
pub fn writes(body: &[Statement], kept: bool) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Store(access, _) => access.memory != Memory::Frame || kept,
        Statement::Atomic(_) | Statement::Barrier => true,
        Statement::If { accept, reject, .. } => writes(accept, kept) || writes(reject, kept),
        Statement::Block { body, .. } | Statement::Loop { body, .. } => writes(body, kept),
        _ => false,
    })
}
