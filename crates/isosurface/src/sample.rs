//! [`Sample`]: sample types of fields.

use half::f16;
use zippy::Element;

/// Sample type of a field. Values are compared and interpolated as `f32`; integers of more than 24
/// bits are rounded.
pub trait Sample: Element {
    /// Value as `f32`.
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
