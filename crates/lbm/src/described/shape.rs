//! The shape of a body.

use std::fmt::{self, Formatter};
use std::path::PathBuf;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::schema::{perhaps_three, three};

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    Sphere(Sphere),
    Box(Corners),
    Cylinder(Cylinder),
    Scan(Scan),
    Surface(Surface),
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    #[serde(deserialize_with = "three")]
    pub centre: [f64; 3],
    pub radius: f64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Corners {
    #[serde(deserialize_with = "three")]
    pub from: [f64; 3],
    #[serde(deserialize_with = "three")]
    pub to: [f64; 3],
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    #[serde(deserialize_with = "three")]
    pub centre: [f64; 3],
    pub radius: f64,
    #[serde(default)]
    pub axis: Along,
    pub length: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Along {
    X,
    Y,
    #[default]
    Z,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scan {
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
pub struct Surface {
    pub file: PathBuf,
    #[serde(default, deserialize_with = "perhaps_three")]
    pub centre: Option<[f64; 3]>,
    pub size: Option<f64>,
    pub unit: Option<f64>,
    #[serde(default)]
    pub thicken: bool,
}

/// Names of shapes, as texts have them.
const NAMES: [&str; 5] = ["sphere", "box", "cylinder", "scan", "surface"];

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        text.deserialize_any(OneShape)
    }
}

struct OneShape;

impl<'de> Visitor<'de> for OneShape {
    type Value = Shape;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "one shape, as in shape.sphere = {{ centre = [8, 8, 8], radius = 4 }}")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Shape, E> {
        match NAMES.contains(&name) {
            true => Err(E::custom(format!("a {name} needs its numbers: shape.{name} = {{ … }}"))),
            false => Err(E::unknown_variant(name, &NAMES)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let wanted = || A::Error::custom(format!("a body needs a shape: one of {}", NAMES.join(", ")));
        let name: String = map.next_key()?.ok_or_else(wanted)?;
        let shape = match &*name {
            "sphere" => Shape::Sphere(map.next_value()?),
            "box" => Shape::Box(map.next_value()?),
            "cylinder" => Shape::Cylinder(map.next_value()?),
            "scan" => Shape::Scan(map.next_value()?),
            "surface" => Shape::Surface(map.next_value()?),
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
