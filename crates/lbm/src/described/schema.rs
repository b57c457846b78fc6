//! The tables and keys of a case of one's own.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use toml::Spanned;

use super::beyond::Beyond;
use super::shape::Shape;

/// The whole text.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub name: Option<String>,
    pub steps: u64,
    pub every: Option<u64>,
    pub lattice: Spanned<Lattice>,
    pub units: Option<Spanned<UnitTable>>,
    pub fluid: Spanned<Fluid>,
    pub reference: Spanned<Reference>,
    #[serde(default)]
    pub sides: Sides,
    #[serde(default)]
    pub bodies: Vec<Spanned<Body>>,
    #[serde(default)]
    pub probes: Vec<Spanned<Probe>>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    #[serde(deserialize_with = "three")]
    pub cells: [i64; 3],
    pub velocities: Option<Velocities>,
    pub collision: Option<Relaxation>,
    pub magic: Option<f64>,
    pub smagorinsky: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub enum Velocities {
    D2Q9,
    D3Q19,
    D3Q27,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relaxation {
    Bgk,
    Trt,
    Cumulant,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct UnitTable {
    pub cell: f64,
    pub step: Option<f64>,
    pub lattice_speed: Option<f64>,
    pub density: f64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    pub viscosity: f64,
    #[serde(default, deserialize_with = "three")]
    pub acceleration: [f64; 3],
    #[serde(default, deserialize_with = "three")]
    pub velocity: [f64; 3],
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    pub length: f64,
    pub speed: f64,
    pub area: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sides {
    pub x: Option<Spanned<Axis>>,
    pub y: Option<Spanned<Axis>>,
    pub z: Option<Spanned<Axis>>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    pub below: Beyond,
    pub above: Beyond,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    pub shape: Shape,
    #[serde(default, deserialize_with = "three")]
    pub velocity: [f64; 3],
    #[serde(default, deserialize_with = "three")]
    pub spin: [f64; 3],
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    pub name: String,
    #[serde(deserialize_with = "three")]
    pub at: [f64; 3],
}

/// A number for each axis, and not more: what reads arrays of three stops there.
pub fn three<'de, T: Deserialize<'de>, D: Deserializer<'de>>(text: D) -> Result<[T; 3], D::Error> {
    let wrong = |all: Vec<T>| D::Error::custom(format!("{} numbers; there must be 3, one for each axis", all.len()));
    Vec::deserialize(text)?.try_into().map_err(wrong)
}

pub fn perhaps_three<'de, D: Deserializer<'de>>(text: D) -> Result<Option<[f64; 3]>, D::Error> {
    three(text).map(Some)
}
