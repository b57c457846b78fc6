//! [`Format`]: numbers as kernels load them.

/// Loading of a number of at most 32 bits in kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// The type of the number in memory.
    pub load: Load,
    /// Interpretation of the loaded bits.
    pub order: Order,
}

/// Type in memory of a number that a kernel loads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    /// A type of 32 bits.
    Word,
    /// A `u8`, one of four in a word.
    U8,
    /// An `i8`, one of four in a word.
    I8,
    /// A `u16`, one of two in a word.
    U16,
    /// An `i16`, one of two in a word.
    I16,
    /// An `f16`, one of two in a word.
    F16,
}

/// Interpretation of the bits that the device has loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A `u32`.
    Unsigned,
    /// An `i32`.
    Signed,
    /// An `f32`.
    Float,
}
