//! Results of a run, as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};
use zippy_lbm::{BodyForce, Flow, Units};

use crate::compare::GhiaComparison;
use crate::end_conditions::End;
use crate::frame_writer::DrawingTime;
use crate::prepared_case::PreparedCase;

pub(crate) struct Report {
    case: String,
    n: [i64; 3],
    lattice: &'static str,
    ranks: usize,
    reynolds: f64,
    mach: f64,
    relaxation_time: f64,
    warnings: Vec<String>,
    physical: Option<Physical>,
    /// Step of the flow at the end of the run.
    step: u64,
    /// Number of steps that this run has advanced.
    steps: u64,
    cells: u64,
    secs: f64,
    /// 2 / (speed² × area), the factor from force to drag and lift coefficients.
    coefficient: Option<f64>,
    pub end: End,
    pub body_forces: Vec<BodyForce>,
    pub mass: f64,
    pub drawing: Option<DrawingTime>,
    /// Largest error of the velocity, relative to the speed.
    pub exact_error: Option<f64>,
    pub ghia: Option<GhiaComparison>,
    pub hash: Option<u64>,
}

/// Number of steps of a run, and their time.
pub(crate) struct RunTime {
    pub steps: u64,
    pub secs: f64,
}

/// Units and scales in m, s and kg.
struct Physical {
    units: Units,
    is_plane: bool,
    length: f64,
    speed: f64,
    viscosity: f64,
}

impl Physical {
    /// Force in N and torque in N m; in two dimensions, per metre of depth.
    fn to_physical_units(&self, body: &BodyForce) -> BodyForce {
        let (force, torque) = (self.units.force(self.is_plane), self.units.torque(self.is_plane));
        BodyForce { force: body.force.map(|x| x * force), torque: body.torque.map(|x| x * torque) }
    }
}

impl Report {
    pub(crate) fn new(prepared: &PreparedCase, flow: &Flow<'_>, ranks: usize, time: RunTime) -> Self {
        let case = &prepared.case;
        let physical = prepared.units.map(|units| Physical {
            units,
            is_plane: case.problem.velocity_set().axes() == 2,
            length: case.length * units.cell,
            speed: case.speed * units.speed(),
            viscosity: case.speed * case.length / case.reynolds() * units.viscosity(),
        });
        Self {
            case: prepared.title.clone(),
            physical,
            n: flow.box_ranges().map(|axis| axis.end - axis.start),
            lattice: case.problem.velocity_set().name(),
            ranks,
            reynolds: case.reynolds(),
            mach: case.mach(),
            relaxation_time: case.problem.relaxation_time(),
            warnings: case.warnings().into_iter().chain(prepared.warnings.clone()).collect(),
            step: flow.steps(),
            steps: time.steps,
            cells: flow.fluid_cells(),
            secs: time.secs,
            coefficient: case.area.map(|area| 2.0 / (case.speed * case.speed * area)),
            end: End::Steps,
            body_forces: Vec::new(),
            mass: 0.0,
            drawing: None,
            exact_error: None,
            ghia: None,
            hash: None,
        }
    }

    /// Million cell updates per second of all ranks.
    fn mlups(&self) -> f64 {
        if self.secs > 0.0 { self.cells as f64 * self.steps as f64 / self.secs / 1e6 } else { 0.0 }
    }

    fn force_coefficients(&self) -> Vec<[f64; 3]> {
        let Some(coefficient) = self.coefficient else { return Vec::new() };
        self.body_forces.iter().map(|body| body.force.map(|x| x * coefficient)).collect()
    }

    pub(crate) fn text(&self) -> String {
        let [x, y, z] = self.n;
        let mut text = format!(
            "{}: {x} x {y} x {z} cells ({} of fluid), {}, {} ranks; Re {:.4}, Mach {:.3}, relaxation time {:.4}\n",
            self.case, self.cells, self.lattice, self.ranks, self.reynolds, self.mach, self.relaxation_time
        );
        if let Some(Physical { units, length, speed, viscosity, .. }) = &self.physical {
            _ = writeln!(
                text,
                "  a cell is {:.4e} m, a step {:.4e} s; length {length:.4e} m, speed {speed:.4e} m/s, viscosity {viscosity:.4e} m²/s, \
                 density {:.4e} kg/m³; {:.4e} s so far",
                units.cell,
                units.step,
                units.density,
                self.step as f64 * units.step
            );
        }
        let Self { step, steps, .. } = self;
        let end = match self.end {
            End::Steps => "",
            End::Steady => ", steady",
            End::Unsteady => ", not yet steady",
            End::Signal => ", ended by a signal",
            End::Time => ", time budget used",
            End::Closed => ", window closed",
        };
        _ = write!(text, "  {steps} steps to step {step}{end}: {:.2} s, {:.2} MLUPS", self.secs, self.mlups());
        let coefficients = self.force_coefficients();
        for (index, body) in self.body_forces.iter().enumerate() {
            _ = write!(text, "\n  force {:?}", body.force);
            if let Some(physical) = &self.physical {
                let [x, y, z] = physical.to_physical_units(body).force;
                _ = write!(
                    text,
                    ", [{x:.4e}, {y:.4e}, {z:.4e}] N{}",
                    if physical.is_plane { " per metre" } else { "" }
                );
            }
            if let Some([drag, lift, _]) = coefficients.get(index) {
                _ = write!(text, ", drag coefficient {drag:.5}, lift {lift:.6}");
            }
        }
        if let Some(DrawingTime { frames, secs }) = self.drawing {
            _ = write!(text, "\n  {frames} pictures: {secs:.2} s");
        }
        if let Some(error) = self.exact_error {
            _ = write!(text, "\n  largest error of the velocity: {error:.3e} of the speed");
        }
        if let Some(ghia) = &self.ghia {
            _ = write!(
                text,
                "\n  table of Ghia et al.: largest error {:.4} (u), {:.4} (v); u min {:.6}, v max {:.6}, v min {:.6} (spectral: \
                 -0.214042, 0.179573, -0.253803)",
                ghia.error_u, ghia.error_v, ghia.u_min, ghia.v_max, ghia.v_min
            );
        }
        if let Some(hash) = self.hash {
            _ = write!(text, "\n  hash {hash:016x}");
        }
        text
    }

    pub(crate) fn json(&self) -> String {
        let ghia = self.ghia.as_ref().map(|ghia| {
            json!({
                "largest_error_u": ghia.error_u,
                "largest_error_v": ghia.error_v,
                "u_min": ghia.u_min,
                "v_max": ghia.v_max,
                "v_min": ghia.v_min,
            })
        });
        let to_json = |body: &BodyForce| json!({ "force": body.force, "torque": body.torque });
        let forces: Vec<Value> = self.body_forces.iter().map(to_json).collect();
        let physical = self.physical.as_ref().map(|physical| {
            let Physical { units, is_plane, length, speed, viscosity } = physical;
            let forces: Vec<Value> =
                self.body_forces.iter().map(|body| to_json(&physical.to_physical_units(body))).collect();
            json!({
                "cell_m": units.cell,
                "step_s": units.step,
                "density_kg_m3": units.density,
                "length_m": length,
                "speed_m_s": speed,
                "viscosity_m2_s": viscosity,
                "time_s": self.step as f64 * units.step,
                "bodies_N_and_Nm": forces,
                "for_a_metre_of_depth": is_plane,
            })
        });
        json!({
            "case": self.case,
            "n": self.n,
            "lattice": self.lattice,
            "ranks": self.ranks,
            "reynolds": self.reynolds,
            "mach": self.mach,
            "relaxation_time": self.relaxation_time,
            "warnings": self.warnings,
            "fluid_cells": self.cells,
            "step": self.step,
            "steps": self.steps,
            "seconds": self.secs,
            "mlups": self.mlups(),
            "ended_by": self.end.name(),
            "mass_beyond_1": self.mass,
            "pictures": self.drawing.map(|time| json!({ "frames": time.frames, "seconds": time.secs })),
            "bodies": forces,
            "physical": physical,
            "coefficients": self.force_coefficients(),
            "largest_error": self.exact_error,
            "ghia": ghia,
            "hash": self.hash.map(|hash| format!("{hash:016x}")),
        })
        .to_string()
    }
}
