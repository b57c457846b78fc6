//! [`Domain`]: what a kernel runs over.

use std::fmt::Display;

use super::argument::KernelArgument;
use super::binding::Binding;
use crate::extents::{Index, MAX_AXES};

/// What a kernel runs over, given to [`Call::over`](super::Call::over): a section, plain extents, or a number of
/// invocations that is on the device.
///
/// * A section, of whatever array: one invocation a cell. Where it is of the index space of a bound array, positions count from
///   the start of the first section that is written there, else of the first one that is read.
/// * Extents, as `[n]` or `[n, m, 3]`, of any integer type: so many invocations along each axis, axis 0 along the
///   dispatch's x, axis 1 along y, the others folded into z. A workgroup for each of `b` blocks is `[b * 256]` with
///   `@workgroup_size(256)`.
/// * [`counted`](Self::counted): `[n]`, where `n` has been written by a kernel.
///
/// The kernel asks by `domain_position` and its like, see [the module](super#what-a-kernel-runs-over). An extent of 0 is
/// nothing to do. Mistakes (an extent that is negative or beyond 31 bits) are kept and reported by
/// [`Call::run`](super::Call::run).
#[derive(Debug, Clone)]
pub struct Domain(pub(super) Given);

#[derive(Debug, Clone)]
pub(super) enum Given {
    Section(Binding),
    /// Or what is wrong with them.
    Extents(Result<Index, String>),
    Counted {
        count: Binding,
        most: u64,
    },
}

/// The most invocations along an axis.
pub(super) const MOST: u64 = i32::MAX as u64;

impl Domain {
    /// As `[n]`, where `n` is the number in the one cell of `count`, a section of `u32`, but at most `most`.
    ///
    /// The number is read on the device, by a dispatch of one invocation, after everything queued before; nothing waits for
    /// it. What is beyond `most` is not run; who has to know of it compares the cell with `most`.
    pub fn counted(count: impl KernelArgument, most: u64) -> Self {
        Self(Given::Counted { count: count.into(), most })
    }

    /// Extents of a number of axes that is known at run time only.
    pub fn extents<I: Copy + Display + TryInto<i64>>(extents: &[I]) -> Self {
        Self(Given::Extents(checked(extents)))
    }
}

fn checked<I: Copy + Display + TryInto<i64>>(extents: &[I]) -> Result<Index, String> {
    let axes = extents.len();
    if axes == 0 || axes > MAX_AXES {
        return Err(format!("the number of axes is {axes}; 1 to {MAX_AXES} are possible"));
    }
    let mut out = Index::zeros(axes);
    for (axis, &extent) in extents.iter().enumerate() {
        let valid = extent.try_into().ok().filter(|n| (0..=MOST as i64).contains(n));
        out[axis] =
            valid.ok_or_else(|| format!("{extent} invocations along axis {axis} are not possible, 0 to {MOST} are"))?;
    }
    Ok(out)
}

/// A domain of a kernel: a section of a chunk or of a local array, extents such as `[n, m]`, or a [`Domain`].
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
        Self(Given::Section(section.into()))
    }
}

impl<I: Copy + Display + TryInto<i64>, const D: usize> From<[I; D]> for Domain {
    fn from(extents: [I; D]) -> Self {
        Self::extents(&extents)
    }
}
