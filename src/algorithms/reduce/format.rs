//! [`Format`]: numbers as kernels load them.

/// Number of at most 32 bits, as kernels load it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Format {
    /// Type of the number in memory.
    pub load: Load,
    /// Interpretation of the loaded bits.
    pub order: Order,
}

/// Type of a number in memory.
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

/// Type of the bits that a kernel has loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A `u32`.
    Unsigned,
    /// An `i32`.
    Signed,
    /// An `f32`.
    Float,
}
