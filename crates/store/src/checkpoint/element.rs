//! [`SavedType`]: element type of a saved array.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use zippy::element::{ElementInfo, ElementKind};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SavedType {
    name: String,
    pub bytes: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fields: Vec<SavedField>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SavedField {
    name: String,
    offset: u64,
    element: SavedType,
}

impl SavedType {
    pub(super) fn of(info: &ElementInfo) -> Self {
        let fields = match info.kind {
            ElementKind::Record(fields) => fields,
            _ => &[],
        };
        let field = |field: &zippy::element::Field| SavedField {
            name: field.name.to_string(),
            offset: field.offset as u64,
            element: Self::of(&field.info),
        };
        Self { name: info.name.to_string(), bytes: info.bytes as u64, fields: fields.iter().map(field).collect() }
    }

    /// True for types of the same layout. Names of records are ignored, names of fields are
    /// compared.
    pub(super) fn has_layout_of(&self, other: &Self) -> bool {
        let same_field = |(a, b): (&SavedField, &SavedField)| {
            a.name == b.name && a.offset == b.offset && a.element.has_layout_of(&b.element)
        };
        self.bytes == other.bytes
            && self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(same_field)
            && (!self.fields.is_empty() || self.name == other.name)
    }
}

impl Display for SavedType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (index, field) in self.fields.iter().enumerate() {
            write!(f, "{}{}: {}", if index == 0 { " { " } else { ", " }, field.name, field.element)?;
        }
        f.write_str(if self.fields.is_empty() { "" } else { " }" })
    }
}
