//! Metadata of an image: texts in its field data.

use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::elements::Element;
use crate::IoError;
use crate::array::{Axis, Metadata};
use crate::voxels::{Encoding, Segment, prefix};

/// Name of the text with metadata for which VTK has no format.
pub(crate) const ZIPPY_TEXT: &str = "zippy";

const MAX_TEXT_BYTES: u64 = 16 << 20;

/// JSON in the text "zippy".
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ZippyNotes {
    /// Name of the array, if its fields are separate arrays.
    pub name: Option<String>,
    /// Names and units of the axes; empty if there are none.
    pub names: Vec<Option<String>>,
    pub units: Vec<Option<String>>,
}

/// Texts by name, each with the byte range of its character codes.
#[derive(Default)]
pub(crate) struct FieldTexts {
    found: Vec<(String, Range<u64>)>,
}

impl FieldTexts {
    /// Adds a text; ignores other arrays and texts outside of their element.
    pub(crate) fn add(&mut self, element: &Element, text: Option<Range<u64>>) {
        let is_text = element.get("type") == Some("String") && element.get("format") == Some("ascii");
        if let (true, Some(name), Some(text)) = (is_text, element.get("Name"), text) {
            self.found.push((name.to_string(), text));
        }
    }

    /// Adds the texts to the metadata of an image, as JSON values or else as strings.
    pub(crate) fn add_to(&self, path: &Path, metadata: &mut Metadata) -> Result<(), IoError> {
        let mut remaining = MAX_TEXT_BYTES;
        for (name, at) in &self.found {
            let length = at.end - at.start;
            remaining = remaining.checked_sub(length).ok_or_else(|| {
                let message = format!("texts of field data of more than {MAX_TEXT_BYTES} bytes are not read");
                IoError::unsupported(path, at.start, message)
            })?;
            let text = decode_text(path, at)?;
            if *name == ZIPPY_TEXT
                && let Ok(notes) = serde_json::from_str::<ZippyNotes>(&text)
            {
                notes.add_to(metadata);
                continue;
            }
            let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            metadata.attributes.insert(name.clone(), value);
        }
        Ok(())
    }
}

impl ZippyNotes {
    /// Notes for an array; `None` if there is nothing to store.
    pub(crate) fn new(metadata: &Metadata, name: Option<&str>) -> Option<Self> {
        let all = |word: fn(&Axis) -> &Option<String>| -> Vec<Option<String>> {
            let words: Vec<_> = metadata.axes.iter().map(|axis| word(axis).clone()).collect();
            if words.iter().all(Option::is_none) { Vec::new() } else { words }
        };
        let notes = Self { name: name.map(String::from), names: all(|axis| &axis.name), units: all(|axis| &axis.unit) };
        Some(notes).filter(|notes| *notes != Self::default())
    }

    fn add_to(self, metadata: &mut Metadata) {
        metadata.name = self.name.or(metadata.name.take());
        if metadata.axes.is_empty() {
            metadata.axes = vec![Axis::default(); self.names.len().max(self.units.len()).min(3)];
        }
        metadata.axes.iter_mut().zip(self.names).for_each(|(axis, name)| axis.name = name);
        metadata.axes.iter_mut().zip(self.units).for_each(|(axis, unit)| axis.unit = unit);
    }
}

pub(crate) fn texts(metadata: &Metadata, name: Option<&str>) -> Map<String, Value> {
    let mut all = metadata.attributes.clone();
    if let Some(notes) = ZippyNotes::new(metadata, name) {
        all.insert(ZIPPY_TEXT.into(), serde_json::json!(notes));
    }
    all
}

/// Decodes a text from decimal UTF-8 bytes, up to a zero.
fn decode_text(path: &Path, at: &Range<u64>) -> Result<String, IoError> {
    let (start, end) = (at.start, at.end);
    let (path, encoding, bytes) = (path.to_path_buf(), Encoding::Raw, end - start);
    let text = Segment { path, start, end, base64: false, encoding, lead: 0, bytes, open_ended: false, surplus: 0 };
    let numbers = prefix(&text)?;
    let path = &text.path;
    let wrong = || IoError::malformed(path, start, "a text of field data must be numbers of bytes, up to 255");
    let numbers = String::from_utf8(numbers).map_err(|_| wrong())?;
    let mut text = Vec::new();
    for word in numbers.split_ascii_whitespace() {
        match word.parse::<u8>().map_err(|_| wrong())? {
            0 => break,
            letter => text.push(letter),
        }
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
