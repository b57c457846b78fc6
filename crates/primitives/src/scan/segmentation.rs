//! Segmentation of the cells of a scan: types that name it, and its data.

use std::marker::PhantomData;

use zippy::error::Result;

/// Segmentation type of a combination in which all cells are one segment.
#[derive(Debug, Clone, Copy)]
pub enum Whole {}

/// Segmentation type of a combination with segments by flags.
#[derive(Debug, Clone, Copy)]
pub enum ByFlag {}

/// Segmentation type of a combination with segments by keys of type `K`.
#[derive(Debug, Clone, Copy)]
pub struct ByKey<K>(PhantomData<K>);

/// Cells that define the segments of a scan, if there are any.
#[derive(Debug, Clone)]
pub(crate) enum Segmentation<C> {
    Whole,
    Flags(C),
    Keys(C),
}

impl<C> Segmentation<C> {
    pub(crate) fn cells(&self) -> Option<&C> {
        match self {
            Self::Whole => None,
            Self::Flags(cells) | Self::Keys(cells) => Some(cells),
        }
    }

    /// Returns the same kind of segments with other data.
    pub(crate) fn map<'c, D>(&'c self, f: impl FnOnce(&'c C) -> D) -> Segmentation<D> {
        match self {
            Self::Whole => Segmentation::Whole,
            Self::Flags(flags) => Segmentation::Flags(f(flags)),
            Self::Keys(keys) => Segmentation::Keys(f(keys)),
        }
    }

    /// Returns the name of a scan as a collective operation. Scans with other segments have other
    /// names, so that ranks whose segments differ are found.
    pub(crate) fn scan_verb(&self, is_exclusive: bool) -> &'static str {
        match (self, is_exclusive) {
            (Self::Whole, false) => "inclusive_scan",
            (Self::Whole, true) => "exclusive_scan",
            (Self::Flags(_), false) => "by_flag.inclusive_scan",
            (Self::Flags(_), true) => "by_flag.exclusive_scan",
            (Self::Keys(_), false) => "by_key.inclusive_scan",
            (Self::Keys(_), true) => "by_key.exclusive_scan",
        }
    }
}

impl<C> Segmentation<Result<C>> {
    /// Returns the cells by reference, or the error of an invalid selection.
    pub(crate) fn valid(&self) -> Result<Segmentation<&C>> {
        Ok(match self {
            Self::Whole => Segmentation::Whole,
            Self::Flags(flags) => Segmentation::Flags(flags.as_ref().map_err(Clone::clone)?),
            Self::Keys(keys) => Segmentation::Keys(keys.as_ref().map_err(Clone::clone)?),
        })
    }
}
