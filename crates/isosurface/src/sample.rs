//! [`Sample`]: types of fields.

use half::f16;
use zippy::Element;

/// A type of which an isosurface can be extracted. Values are compared and interpolated as `f32`; 32-bit integers of more
/// than 24 bits are rounded to it.
pub trait Sample: Element {
    /// Its value.
    fn value(self) -> f32;
}

macro_rules! samples {
    ($($type:ty: $value:expr;)*) => {$(
        impl Sample for $type {
            #[inline]
            fn value(self) -> f32 {
                let value: fn($type) -> f32 = $value;
                value(self)
            }
        }
    )*};
}
samples! {
    u8: f32::from;
    i8: f32::from;
    u16: f32::from;
    i16: f32::from;
    u32: |value| value as f32;
    i32: |value| value as f32;
    f16: f16::to_f32;
    f32: |value| value;
}
