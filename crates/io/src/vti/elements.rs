//! XML elements and their attributes.

use std::path::Path;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use zippy_files::quoted;

use super::xml::Xml;
use crate::IoError;
use crate::text::{Keys, floats, integers};
use crate::voxels::Stated;

/// Next start of an element, and true if it is empty; `None` at the end of the document. Closed
/// elements are removed from `open`.
pub(crate) fn next_element(
    xml: &mut Xml<'_>,
    path: &Path,
    open: &mut Vec<String>,
) -> Result<Option<(Element, bool)>, IoError> {
    loop {
        match xml.next()? {
            (at, Event::Start(start)) => return Ok(Some((Element::new(path, at, &start)?, false))),
            (at, Event::Empty(start)) => return Ok(Some((Element::new(path, at, &start)?, true))),
            (_, Event::End(_)) => drop(open.pop()),
            (_, Event::Eof) => return Ok(None),
            _ => {}
        }
    }
}

pub(crate) struct Element {
    pub name: String,
    pub at: u64,
    attributes: Keys<String>,
}

impl Element {
    pub(crate) fn new(path: &Path, at: u64, start: &BytesStart<'_>) -> Result<Self, IoError> {
        let name = String::from_utf8_lossy(start.name().as_ref()).into_owned();
        let bad = |message: String| {
            IoError::malformed(path, at, format!("malformed attribute of {}: {message}", quoted(&name)))
        };
        let mut attributes = Keys::default();
        // The library's check for duplicates takes quadratic time.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|error| bad(error.to_string()))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| bad(error.to_string()))?;
            let key = String::from_utf8_lossy(attribute.key.as_ref());
            let added = attributes.add(&key, value.into_owned());
            added.map_err(|wrong| bad(format!("{} {wrong}", quoted(&key))))?;
        }
        Ok(Self { name, at, attributes })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    pub(crate) fn need(&self, path: &Path, name: &str) -> Result<&str, IoError> {
        let missing = || IoError::malformed(path, self.at, format!("{} has no attribute {name}", self.name));
        self.get(name).ok_or_else(missing)
    }

    pub(crate) fn floats(&self, path: &Path, name: &str, count: usize) -> Result<Option<Stated<Vec<f64>>>, IoError> {
        let parse = |value| Ok(Stated::new(floats(path, self.at, name, value, count)?, self.at));
        self.get(name).map(parse).transpose()
    }

    pub(crate) fn integer(&self, path: &Path, name: &str) -> Result<Option<i64>, IoError> {
        self.get(name).map(|value| Ok(integers(path, self.at, name, value, 1)?[0])).transpose()
    }

    /// First and last index along each axis.
    pub(crate) fn extent(&self, path: &Path, name: &str) -> Result<Stated<[(i64, i64); 3]>, IoError> {
        let values = integers(path, self.at, name, self.need(path, name)?, 6)?;
        Ok(Stated::new([0, 1, 2].map(|axis| (values[2 * axis], values[2 * axis + 1])), self.at))
    }
}
