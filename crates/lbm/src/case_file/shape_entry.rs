//! The shape of a body in a case file.

use std::fmt::{self, Formatter};
use std::path::PathBuf;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::three_numbers::{some_three, three};

/// Shape of a body, in the units of the file.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ShapeEntry {
    Sphere(SphereEntry),
    Box(BoxEntry),
    Cylinder(CylinderEntry),
    Scan(ScanEntry),
    Surface(SurfaceEntry),
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SphereEntry {
    #[serde(deserialize_with = "three")]
    pub centre: [f64; 3],
    pub radius: f64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BoxEntry {
    #[serde(deserialize_with = "three")]
    pub from: [f64; 3],
    #[serde(deserialize_with = "three")]
    pub to: [f64; 3],
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CylinderEntry {
    #[serde(deserialize_with = "three")]
    pub centre: [f64; 3],
    pub radius: f64,
    #[serde(default)]
    pub axis: AxisName,
    pub length: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AxisName {
    X,
    Y,
    #[default]
    Z,
}

impl AxisName {
    pub(super) fn index(self) -> usize {
        match self {
            Self::X => 0,
            Self::Y => 1,
            Self::Z => 2,
        }
    }
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScanEntry {
    pub file: PathBuf,
    pub above: f64,
    pub below: Option<f64>,
    pub axes: Option<String>,
    #[serde(deserialize_with = "three")]
    pub centre: [f64; 3],
    pub size: Option<f64>,
    pub unit: Option<f64>,
    #[serde(default)]
    pub thicken: bool,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SurfaceEntry {
    pub file: PathBuf,
    #[serde(default, deserialize_with = "some_three")]
    pub centre: Option<[f64; 3]>,
    pub size: Option<f64>,
    pub unit: Option<f64>,
    #[serde(default)]
    pub thicken: bool,
}

const NAMES: [&str; 5] = ["sphere", "box", "cylinder", "scan", "surface"];

impl<'de> Deserialize<'de> for ShapeEntry {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        text.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = ShapeEntry;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "one shape, as in shape.sphere = {{ centre = [8, 8, 8], radius = 4 }}")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<ShapeEntry, E> {
        if NAMES.contains(&name) {
            Err(E::custom(format!("a {name} needs its numbers: shape.{name} = {{ … }}")))
        } else {
            Err(E::unknown_variant(name, &NAMES))
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ShapeEntry, A::Error> {
        let no_name = || A::Error::custom(format!("a body needs a shape: one of {}", NAMES.join(", ")));
        let name: String = map.next_key()?.ok_or_else(no_name)?;
        let shape = match &*name {
            "sphere" => ShapeEntry::Sphere(map.next_value()?),
            "box" => ShapeEntry::Box(map.next_value()?),
            "cylinder" => ShapeEntry::Cylinder(map.next_value()?),
            "scan" => ShapeEntry::Scan(map.next_value()?),
            "surface" => ShapeEntry::Surface(map.next_value()?),
            _ => return Err(A::Error::unknown_variant(&name, &NAMES)),
        };
        match map.next_key::<String>()? {
            None => Ok(shape),
            Some(other) => Err(A::Error::custom(format!(
                "a body has one shape, and here are two, {name} and {other}: give each of them a [[bodies]] of its own"
            ))),
        }
    }
}
