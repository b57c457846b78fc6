//! [`SortKey`]: the types of sort keys.

use zippy::collective::CellSequence;
use zippy::element::Element;
use zippy::error::{ArrayError, Result};
use zippy::kernel::WgslComposer;

/// Element type of sort keys: `u32`, `i32`, `f32`, `u64`, `i64`, and `[u32; 2]`, which is compared
/// like a Rust array, the first word first.
///
/// `f32` is in total order ([`f32::total_cmp`]): −NaN, −∞, …, −0, +0, …, +∞, +NaN.
pub trait SortKey: Element + sealed::SortKey {
    #[doc(hidden)]
    const ORDER: KeyOrder;
}

mod sealed {
    pub trait SortKey {}
}

/// Order of a sort key: conversion of its words to one unsigned number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyOrder {
    /// Number of 32-bit words, one or two.
    pub words: usize,
    /// Index of the most significant word.
    pub top: usize,
    pub kind: KeyKind,
}

/// Type of the number in the words of a sort key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// An unsigned integer.
    Unsigned,
    /// A signed integer.
    Signed,
    /// A floating-point number of one word.
    Float,
}

macro_rules! keys {
    ($($ty:ty: $words:literal, $top:literal, $kind:ident;)*) => {$(
        impl sealed::SortKey for $ty {}
        impl SortKey for $ty {
            const ORDER: KeyOrder = KeyOrder { words: $words, top: $top, kind: KeyKind::$kind };
        }
    )*};
}
keys! {
    u32: 1, 0, Unsigned; i32: 1, 0, Signed; f32: 1, 0, Float; [u32; 2]: 2, 0, Unsigned; u64: 2, 1, Unsigned;
    i64: 2, 1, Signed;
}

const SIGN: u32 = 1 << 31;

impl KeyOrder {
    /// Converts the most significant word of a key to one that is compared as an unsigned number.
    pub fn ordered(self, word: u32) -> u32 {
        match self.kind {
            KeyKind::Unsigned => word,
            KeyKind::Signed => word ^ SIGN,
            KeyKind::Float if word & SIGN == 0 => word ^ SIGN,
            KeyKind::Float => !word,
        }
    }

    /// Restores the most significant word of a key, the reverse of [`ordered`](Self::ordered).
    pub fn restored(self, word: u32) -> u32 {
        match self.kind {
            KeyKind::Unsigned => word,
            KeyKind::Signed => word ^ SIGN,
            KeyKind::Float if word & SIGN != 0 => word ^ SIGN,
            KeyKind::Float => !word,
        }
    }

    /// Returns the index of the word of a digit, counted from the lowest digit, with `digits`
    /// digits per word.
    pub fn word_of(self, digit: usize, digits: usize) -> usize {
        let from_low = digit / digits;
        if self.top == 0 { self.words - 1 - from_low } else { from_low }
    }

    /// Returns WGSL that declares `WORDS`, `TOP`, and `ordered` for the word with the index `TOP`.
    pub fn declarations(self) -> WgslComposer {
        let ordered = match self.kind {
            KeyKind::Unsigned => "word",
            KeyKind::Signed => "word ^ 0x80000000u",
            KeyKind::Float => "word ^ select(0x80000000u, 0xffffffffu, (word >> 31u) == 1u)",
        };
        WgslComposer::new()
            .constant("WORDS", self.words as i32)
            .constant("TOP", self.top as i32)
            .generated(format!("fn ordered(word: u32) -> u32 {{ return {ordered}; }}\n"))
    }

    pub fn number(self, key: &[u32]) -> u64 {
        let top = u64::from(self.ordered(key[self.top]));
        match self.words {
            1 => top,
            _ => top << 32 | u64::from(key[1 - self.top]),
        }
    }

    /// Converts a number to the words of the key.
    pub fn key(self, number: u64) -> impl Iterator<Item = u32> {
        let top = if self.words == 1 { number as u32 } else { (number >> 32) as u32 };
        (0..self.words).map(move |word| if word == self.top { self.restored(top) } else { number as u32 })
    }

    /// Returns the number of leading sorted keys for which `comes` is true; reads O(log n) keys on
    /// the host.
    pub(crate) fn before(self, keys: &CellSequence, comes: impl Fn(u64) -> bool) -> Result<u64> {
        let (mut low, mut high) = (0, keys.len());
        let mut words = vec![0_u32; self.words];
        while low < high {
            let middle = low + (high - low) / 2;
            keys.read(middle..middle + 1, bytemuck::cast_slice_mut(&mut words))?;
            if comes(self.number(&words)) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

pub(crate) type SortedRun = (CellSequence, Option<CellSequence>);

/// Fails if positions of keys do not fit in 32 bits, as kernels that merge require.
pub(crate) fn check_positions(keys: &CellSequence) -> Result<()> {
    let most = u64::from(u32::MAX);
    if keys.parts().len() < 2 || keys.len() <= most {
        return Ok(());
    }
    let text = format!("{} has {} cells; at most {most} of one rank can be sorted or merged", keys.label(), keys.len());
    Err(ArrayError::Other(text).into())
}
