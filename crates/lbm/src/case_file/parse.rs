//! Parses and checks a case file.

use super::body_warnings::{cut_off_warnings, small_body_warnings, surface_velocities};
use super::check_bodies::check_bodies;
use super::check_sides::check_sides;
use super::inflow_balance::inflow_imbalance;
use super::probe::{Probe, resolve_probes};
use super::resolve_units::resolve_units;
use super::schema::{CaseTables, CollisionName, LatticeTable, VelocitySetName};
use super::sides::side_velocities;
use super::source_text::SourceText;
use crate::error::FlowError;
use crate::units::Units;
use crate::velocity_set::VelocitySet;

const MAX_CELLS: i64 = 1 << 24;

const MAX_QUOTED_CHARS: usize = 60;

/// A valid case file.
#[derive(Debug, Clone)]
pub struct CaseFile {
    pub(super) tables: CaseTables,
    /// Units of the file; lattice units without a table `units`.
    pub(super) units: Units,
    probes: Vec<Probe>,
    warnings: Vec<String>,
}

impl CaseFile {
    /// Parses the text of a file. Local.
    ///
    /// # Errors
    /// [`FlowError::CaseFile`] with the line and the key of an invalid entry.
    pub fn parse(text: &str) -> Result<Self, FlowError> {
        let tables: CaseTables = toml::from_str(text).map_err(|error| {
            let line = SourceText(text).line(error.span().map_or(0, |span| span.start));
            let quoted = text.lines().nth(line - 1).unwrap_or_default().trim();
            let key = format!("`{}`", quoted.chars().take(MAX_QUOTED_CHARS).collect::<String>());
            FlowError::CaseFile { line, key, message: error.message().to_owned() }
        })?;
        let text = &SourceText(text);
        check_numbers(text, &tables)?;
        let units = resolve_units(text, &tables)?;
        check_sides(text, &tables, &units)?;
        check_bodies(text, &tables, &units)?;
        let probes = resolve_probes(text, &tables, &units)?;
        let warnings = find_warnings(&tables, &units);
        Ok(Self { tables, units, probes, warnings })
    }

    /// Name of the case.
    pub fn name(&self) -> &str {
        self.tables.name.as_deref().unwrap_or("described")
    }

    /// Units of the file; `None` without a table `units`.
    pub fn units(&self) -> Option<Units> {
        self.tables.units.as_ref().map(|_| self.units)
    }

    /// Steps between lines of tables.
    pub fn every(&self) -> Option<u64> {
        self.tables.every
    }

    /// Probes of the file.
    pub fn probes(&self) -> &[Probe] {
        &self.probes
    }

    /// Warnings in addition to [`Case::warnings`](crate::cases::Case::warnings): high speeds,
    /// bodies that are small or cut off, fluid without a way out.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

fn check_numbers(text: &SourceText<'_>, tables: &CaseTables) -> Result<(), FlowError> {
    let CaseTables { lattice, fluid, reference, .. } = tables;
    let LatticeTable { cells, magic, collision, .. } = lattice.get_ref();
    if let Some(n) = cells.iter().find(|n| !(1..=MAX_CELLS).contains(*n)) {
        return Err(text.error(lattice, "lattice.cells", format!("{n} in it must be between 1 and 2^24")));
    }
    if magic.is_some() && !matches!(collision, None | Some(CollisionName::Trt)) {
        return Err(text.error(lattice, "lattice.magic", "it belongs to the collision \"trt\""));
    }
    if tables.every == Some(0) {
        return Err(text.error(lattice, "every", "it must be at least 1"));
    }
    text.check_positive(reference, "reference.length", reference.get_ref().length)?;
    text.check_positive(reference, "reference.speed", reference.get_ref().speed)?;
    if let Some(area) = reference.get_ref().area {
        text.check_positive(reference, "reference.area", area)?;
    }
    text.check_positive(fluid, "fluid.viscosity", fluid.get_ref().viscosity)?;
    text.check_finite(fluid, "fluid.acceleration", &fluid.get_ref().acceleration)?;
    text.check_finite(fluid, "fluid.velocity", &fluid.get_ref().velocity)
}

fn find_warnings(tables: &CaseTables, units: &Units) -> Vec<String> {
    let initial = ("fluid.velocity".to_owned(), tables.fluid.get_ref().velocity);
    let velocities = side_velocities(tables).into_iter().chain(surface_velocities(tables)).chain([initial]);
    let fast = velocities.filter_map(|(key, u)| {
        let mach = u.iter().map(|u| u * u).sum::<f64>().sqrt() / units.speed() * 3.0_f64.sqrt();
        let warning = || format!("{key} has Mach number {mach:.2}: above 0.3 the fluid is no longer incompressible");
        (mach > 0.3).then(warning)
    });
    let axes = velocity_set(tables.lattice.get_ref()).axes();
    let small = small_body_warnings(tables, units);
    fast.chain(small).chain(cut_off_warnings(tables, units, axes)).chain(inflow_imbalance(tables, units)).collect()
}

pub(super) fn velocity_set(lattice: &LatticeTable) -> VelocitySet {
    match lattice.velocities {
        Some(VelocitySetName::D2Q9) => VelocitySet::D2Q9,
        Some(VelocitySetName::D3Q27) => VelocitySet::D3Q27,
        Some(VelocitySetName::D3Q19) => VelocitySet::D3Q19,
        None if lattice.cells[2] == 1 => VelocitySet::D2Q9,
        None if lattice.collision == Some(CollisionName::Cumulant) => VelocitySet::D3Q27,
        None => VelocitySet::D3Q19,
    }
}
