//! [`Domain`]: the index space of a kernel call.

use std::fmt::Display;

use super::argument::KernelArgument;
use super::binding::Binding;
use crate::extents::{Index, MAX_AXES};

/// Index space of a kernel call, for [`Call::over`](super::Call::over): a section, extents, or a
/// number of invocations in device memory.
///
/// * A section of any array: one invocation per cell. If the section is in the index space of a
///   bound array, positions count from the start of the first section written in that space, or of
///   the first one read if none is written.
/// * Extents, as `[n]` or `[n, m, 3]`, of any integer type: the number of invocations along each
///   axis, with axis 0 along the dispatch's x, axis 1 along y, and the other axes folded into z.
///   For `b` workgroups, use `[b * 256]` with `@workgroup_size(256)`.
/// * [`counted`](Self::counted): `[n]`, where a kernel has written `n`.
///
/// The kernel uses `domain_position` and similar helpers, see [the
/// module](super#domain-of-a-call). With an extent of 0, the call has no effect.
/// [`Call::run`](super::Call::run) reports extents that are negative or exceed 31 bits.
#[derive(Debug, Clone)]
pub struct Domain(pub(super) DomainKind);

#[derive(Debug, Clone)]
pub(super) enum DomainKind {
    Section(Binding),
    /// Extents in invocations, or the error text of invalid ones.
    Extents(Result<Index, String>),
    Counted {
        count: Binding,
        max_count: u64,
    },
}

/// Maximum number of invocations of a domain along an axis.
pub(super) const MAX_INVOCATIONS: u64 = i32::MAX as u64;

impl Domain {
    /// Creates a domain `[min(n, max_count)]`, where `n` is the number in the only cell of `count`,
    /// a section of `u32`.
    ///
    /// A dispatch of one invocation reads the number on the device, after all previously queued
    /// work; the host does not wait. Invocations beyond `max_count` do not run; compare the cell
    /// with `max_count` to detect this.
    pub fn counted(count: impl KernelArgument, max_count: u64) -> Self {
        Self(DomainKind::Counted { count: count.into(), max_count })
    }

    /// Creates a domain with extents whose number of axes is known only at run time.
    pub fn extents<I: Copy + Display + TryInto<i64>>(extents: &[I]) -> Self {
        Self(DomainKind::Extents(check_extents(extents)))
    }
}

fn check_extents<I: Copy + Display + TryInto<i64>>(extents: &[I]) -> Result<Index, String> {
    let axes = extents.len();
    if axes == 0 || axes > MAX_AXES {
        return Err(format!("the number of axes is {axes}; 1 to {MAX_AXES} are possible"));
    }
    let mut out = Index::zeros(axes);
    for (axis, &extent) in extents.iter().enumerate() {
        let valid = extent.try_into().ok().filter(|n| (0..=MAX_INVOCATIONS as i64).contains(n));
        out[axis] = valid.ok_or_else(|| {
            format!("{extent} invocations along axis {axis} are not possible, 0 to {MAX_INVOCATIONS} are")
        })?;
    }
    Ok(out)
}

/// Domain of a kernel as an argument: a section of a chunk or local array, extents such as `[n,
/// m]`, or a [`Domain`].
#[diagnostic::on_unimplemented(
    message = "a kernel cannot run over `{Self}`",
    label = "neither cells of this rank nor extents",
    note = "a kernel runs over cells of this rank (`chunk.all()`, `local.at(..)`), extents (`[n, m]`) or `Domain::counted(..)`"
)]
pub trait IntoDomain: Into<Domain> {}

impl IntoDomain for Domain {}

impl<A: KernelArgument> IntoDomain for A {}

impl<I: Copy + Display + TryInto<i64>, const D: usize> IntoDomain for [I; D] {}

impl<A: KernelArgument> From<A> for Domain {
    fn from(section: A) -> Self {
        Self(DomainKind::Section(section.into()))
    }
}

impl<I: Copy + Display + TryInto<i64>, const D: usize> From<[I; D]> for Domain {
    fn from(extents: [I; D]) -> Self {
        Self::extents(&extents)
    }
}
