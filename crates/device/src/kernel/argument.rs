//! [`KernelArgument`]: cells that can be bound to a kernel call.

use super::binding::Binding;

/// Cells of this rank that a kernel call can bind: a section of a chunk or local array, or a
/// reference to a chunk or array for all its cells (`&chunk`, `&local`).
#[diagnostic::on_unimplemented(
    message = "a kernel cannot be called with `{Self}`",
    label = "not cells of this rank alone",
    note = "kernels read local chunks: pass `chunk` of `zippy::zip_chunks((&a, &b))?` or of `array.chunks()`, as \
            `chunk.all()` or `chunk.at((0..4, ..))`, so that no data moves between ranks in a kernel call"
)]
pub trait KernelArgument: Into<Binding> {}

impl KernelArgument for Binding {}
