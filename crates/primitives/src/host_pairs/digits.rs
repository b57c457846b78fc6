//! Keys as unsigned numbers, and digits of these numbers.

use crate::sort_key::{KeyKind, KeyOrder};

/// Conversion of the words of a sort key to an unsigned number with the same order.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyForm {
    /// Number of bits by which a key of two words is rotated.
    rotation: u32,
    /// Mask of bits that are flipped in every key.
    flipped: u64,
    /// Mask of bits that are flipped in keys whose top bit is set.
    flipped_if_negative: u64,
}

impl KeyForm {
    pub(super) fn new(order: KeyOrder) -> Self {
        let top = 1 << (32 * order.words - 1);
        let (flipped, flipped_if_negative) = match order.kind {
            KeyKind::Unsigned => (0, 0),
            KeyKind::Signed => (top, 0),
            KeyKind::Float => (top, u64::MAX),
        };
        Self { rotation: if order.words == 2 && order.top == 0 { 32 } else { 0 }, flipped, flipped_if_negative }
    }
}

/// Type of the words of a sort key.
pub(super) trait Key: bytemuck::Pod + Default + Send + Sync {
    /// Converts the key to an unsigned number with the same order.
    fn number(self, form: KeyForm) -> u64;
}

impl Key for [u32; 1] {
    #[inline(always)]
    fn number(self, form: KeyForm) -> u64 {
        let negative = (self[0].cast_signed() >> 31).cast_unsigned();
        (self[0] ^ (negative & form.flipped_if_negative as u32 | form.flipped as u32)).into()
    }
}

impl Key for [u32; 2] {
    #[inline(always)]
    fn number(self, form: KeyForm) -> u64 {
        let number = (u64::from(self[1]) << 32 | u64::from(self[0])).rotate_left(form.rotation);
        let negative = (number.cast_signed() >> 63).cast_unsigned();
        number ^ (negative & form.flipped_if_negative | form.flipped)
    }
}

/// Type of values that move with their sort keys.
pub(super) trait Value: bytemuck::Pod + Default + Send + Sync {}

impl<V: bytemuck::Pod + Default + Send + Sync> Value for V {}

/// Digit of a sort key: consecutive bits of the key as a number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digit {
    pub shift: u32,
    pub width: u32,
}

impl Digit {
    #[inline(always)]
    pub(super) fn of(self, number: u64) -> usize {
        (number >> self.shift) as usize & (self.values() - 1)
    }

    /// Returns the number of different values of the digit.
    #[inline(always)]
    pub(super) fn values(self) -> usize {
        1 << self.width
    }
}

/// Bits that are set in any, and in all, of several numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommonBits {
    any: u64,
    all: u64,
}

impl CommonBits {
    pub(super) const OF_NONE: Self = Self { any: 0, all: u64::MAX };

    #[inline(always)]
    pub(super) fn with(self, number: u64) -> Self {
        Self { any: self.any | number, all: self.all & number }
    }

    pub(super) fn join(self, other: Self) -> Self {
        Self { any: self.any | other.any, all: self.all & other.all }
    }

    /// Returns the bits in which the numbers differ.
    pub(super) fn differing(self) -> u64 {
        self.any & !self.all
    }
}
