//! The tables and keys of a case of one's own.

use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// The whole text.
#[derive(Debug, Clone, Deserialize)]
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

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lattice {
    #[serde(deserialize_with = "three")]
    pub cells: [i64; 3],
    pub velocities: Option<Velocities>,
    pub collision: Option<Relaxation>,
    pub magic: Option<f64>,
    pub smagorinsky: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub enum Velocities {
    D2Q9,
    D3Q19,
    D3Q27,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relaxation {
    Bgk,
    Trt,
    Cumulant,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitTable {
    pub cell: f64,
    pub step: Option<f64>,
    pub lattice_speed: Option<f64>,
    pub density: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fluid {
    pub viscosity: f64,
    #[serde(default, deserialize_with = "three")]
    pub acceleration: [f64; 3],
    #[serde(default, deserialize_with = "three")]
    pub velocity: [f64; 3],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    pub length: f64,
    pub speed: f64,
    pub area: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sides {
    pub x: Option<Spanned<Axis>>,
    pub y: Option<Spanned<Axis>>,
    pub z: Option<Spanned<Axis>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    pub below: Beyond,
    pub above: Beyond,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beyond {
    Periodic,
    Wall,
    FreeSlip,
    #[serde(deserialize_with = "three")]
    MovingWall([f64; 3]),
    #[serde(deserialize_with = "three")]
    Velocity([f64; 3]),
    #[serde(deserialize_with = "three")]
    Parabola([f64; 3]),
    Pressure(f64),
    Outlet(f64),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    pub shape: Shape,
    #[serde(default, deserialize_with = "three")]
    pub velocity: [f64; 3],
    #[serde(default, deserialize_with = "three")]
    pub spin: [f64; 3],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    Sphere(Sphere),
    Box(Corners),
    Cylinder(Cylinder),
    Scan(Scan),
    Surface(Surface),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sphere {
    #[serde(deserialize_with = "three")]
    pub centre: [f64; 3],
    pub radius: f64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corners {
    #[serde(deserialize_with = "three")]
    pub from: [f64; 3],
    #[serde(deserialize_with = "three")]
    pub to: [f64; 3],
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cylinder {
    #[serde(deserialize_with = "three")]
    pub centre: [f64; 3],
    pub radius: f64,
    #[serde(default)]
    pub axis: Along,
    pub length: Option<f64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Along {
    X,
    Y,
    #[default]
    Z,
}

#[derive(Debug, Clone, Deserialize)]
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
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    pub file: PathBuf,
    #[serde(default, deserialize_with = "perhaps_three")]
    pub centre: Option<[f64; 3]>,
    pub size: Option<f64>,
    pub unit: Option<f64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    pub name: String,
    #[serde(deserialize_with = "three")]
    pub at: [f64; 3],
}

/// A number for each axis, and not more: what reads arrays of three stops there.
fn three<'de, T: Deserialize<'de>, D: Deserializer<'de>>(text: D) -> Result<[T; 3], D::Error> {
    let wrong = |all: Vec<T>| D::Error::custom(format!("{} numbers; there must be 3, one for each axis", all.len()));
    Vec::deserialize(text)?.try_into().map_err(wrong)
}

fn perhaps_three<'de, D: Deserializer<'de>>(text: D) -> Result<Option<[f64; 3]>, D::Error> {
    three(text).map(Some)
}
