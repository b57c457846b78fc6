//! Sections as arguments: sections by value or by reference, and whole arrays by reference.

use super::{ChunkRef, GlobalArray, GlobalSection, Growable, LocalArray, LocalSection};
use crate::element::Element;
use crate::kernel::{Binding, KernelArgument};

/// Section of a global array as an argument: `a.at(..)`, `&a.at(..)`, or `&a` for all cells of `a`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a section of a global array",
    label = "not a global section",
    note = "pass `&array` for all its cells, or a section such as `array.at((0..4, ..))`, by value or by reference"
)]
pub trait IntoGlobalSection<T, const D: usize>: Into<GlobalSection<T, D>> {}

/// Section of this rank as an argument: a section of a chunk or of a local or growable array, or a
/// reference to a chunk or array for all its cells.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a section of this rank",
    label = "not a local section",
    note = "pass `local.at(..)` or `chunk.at(..)`, or all cells of a local array or of a chunk: `&local`, `&chunk`"
)]
pub trait IntoLocalSection<T, const D: usize>: Into<LocalSection<T, D>> {}

impl<T, const D: usize> IntoGlobalSection<T, D> for GlobalSection<T, D> {}

impl<T: Clone, const D: usize> IntoGlobalSection<T, D> for &GlobalSection<T, D> {}

impl<T: Clone, const D: usize> From<&GlobalSection<T, D>> for GlobalSection<T, D> {
    fn from(section: &GlobalSection<T, D>) -> Self {
        section.clone()
    }
}

impl<T: Element, const D: usize> IntoGlobalSection<T, D> for &GlobalArray<T, D> {}

impl<T: Element, const D: usize> From<&GlobalArray<T, D>> for GlobalSection<T, D> {
    fn from(array: &GlobalArray<T, D>) -> Self {
        array.at(..)
    }
}

impl<T, const D: usize> IntoLocalSection<T, D> for LocalSection<T, D> {}

impl<T: Element, const D: usize> KernelArgument for LocalSection<T, D> {}

/// Implements the conversion of a reference to each of these types into the local section of all
/// its cells.
macro_rules! local {
    ($([$($generics:tt)*] $type:ty, $axes:tt: $all:expr;)*) => {$(
        impl<T: Element, $($generics)*> IntoLocalSection<T, $axes> for &$type {}

        impl<T: Element, $($generics)*> From<&$type> for LocalSection<T, $axes> {
            fn from(cells: &$type) -> Self {
                let all: fn(&$type) -> Self = $all;
                all(cells)
            }
        }

        impl<T: Element, $($generics)*> KernelArgument for &$type {}

        impl<T: Element, $($generics)*> From<&$type> for Binding {
            fn from(cells: &$type) -> Self {
                LocalSection::from(cells).into()
            }
        }
    )*};
}
local! {
    [const D: usize] LocalSection<T, D>, D: Clone::clone;
    [const D: usize] LocalArray<T, D>, D: |array| array.all();
    [const D: usize] ChunkRef<T, D>, D: |chunk| chunk.all();
    [] Growable<T>, 1: |array| array.all();
}
