//! Tables and keys of a case file.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::shape_entry::ShapeEntry;
use super::side_entry::SideEntry;
use super::three_numbers::three;

/// All tables and keys of a case file.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseTables {
    pub name: Option<String>,
    pub steps: u64,
    pub every: Option<u64>,
    pub lattice: Spanned<LatticeTable>,
    pub units: Option<Spanned<UnitTable>>,
    pub fluid: Spanned<FluidTable>,
    pub reference: Spanned<ReferenceTable>,
    #[serde(default)]
    pub sides: SideTables,
    #[serde(default)]
    pub bodies: Vec<Spanned<BodyTable>>,
    #[serde(default)]
    pub probes: Vec<Spanned<ProbeTable>>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LatticeTable {
    #[serde(deserialize_with = "three")]
    pub cells: [i64; 3],
    pub velocities: Option<VelocitySetName>,
    pub collision: Option<CollisionName>,
    pub magic: Option<f64>,
    pub smagorinsky: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
pub(super) enum VelocitySetName {
    D2Q9,
    D3Q19,
    D3Q27,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CollisionName {
    Bgk,
    Trt,
    Cumulant,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnitTable {
    pub cell: f64,
    pub step: Option<f64>,
    pub lattice_speed: Option<f64>,
    pub density: f64,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FluidTable {
    pub viscosity: f64,
    #[serde(default, deserialize_with = "three")]
    pub acceleration: [f64; 3],
    #[serde(default, deserialize_with = "three")]
    pub velocity: [f64; 3],
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReferenceTable {
    pub length: f64,
    pub speed: f64,
    pub area: Option<f64>,
}

#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SideTables {
    pub x: Option<Spanned<AxisTable>>,
    pub y: Option<Spanned<AxisTable>>,
    pub z: Option<Spanned<AxisTable>>,
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AxisTable {
    pub below: SideEntry,
    pub above: SideEntry,
}

impl AxisTable {
    pub(super) const PERIODIC: Self = Self { below: SideEntry::Periodic, above: SideEntry::Periodic };
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BodyTable {
    pub shape: ShapeEntry,
    #[serde(default, deserialize_with = "three")]
    pub velocity: [f64; 3],
    #[serde(default, deserialize_with = "three")]
    pub spin: [f64; 3],
}

#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProbeTable {
    pub name: String,
    #[serde(deserialize_with = "three")]
    pub at: [f64; 3],
}
