//! Deserialization of one number for each axis.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// Reads exactly three numbers; the deserializer of `[T; 3]` would ignore further numbers.
pub(super) fn three<'de, T: Deserialize<'de>, D: Deserializer<'de>>(text: D) -> Result<[T; 3], D::Error> {
    let wrong = |all: Vec<T>| D::Error::custom(format!("{} numbers; there must be 3, one for each axis", all.len()));
    Vec::deserialize(text)?.try_into().map_err(wrong)
}

pub(super) fn some_three<'de, D: Deserializer<'de>>(text: D) -> Result<Option<[f64; 3]>, D::Error> {
    three(text).map(Some)
}
