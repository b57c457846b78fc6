//! Results of a run, as text and as JSON.

use std::fmt::Write;

use serde_json::{Value, json};
use zippy_lbm::{Flow, Pull, Units};

use crate::compare::Ghia;
use crate::end_conditions::End;
use crate::prepared_case::PreparedCase;

pub struct Report {
    case: String,
    n: [i64; 3],
    lattice: &'static str,
    ranks: usize,
    reynolds: f64,
    mach: f64,
    relaxation_time: f64,
    warnings: Vec<String>,
    physical: Option<Physical>,
    /// Step of the flow, and number of steps of this run.
    steps: [u64; 2],
    cells: u64,
    secs: f64,
    /// 2 / (speed² × area), the factor from force to drag and lift coefficients.
    coefficient: Option<f64>,
    pub end: End,
    pub pulls: Vec<Pull>,
    pub mass: f64,
    /// Number of pictures, and their time in seconds.
    pub drawing: Option<(u64, f64)>,
    /// Largest error of the velocity, relative to the speed.
    pub exact_error: Option<f64>,
    pub ghia: Option<Ghia>,
    pub hash: Option<u64>,
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
    fn physical_pull(&self, pull: &Pull) -> [[f64; 3]; 2] {
        let (force, torque) = (self.units.force(self.is_plane), self.units.torque(self.is_plane));
        [pull.force.map(|x| x * force), pull.torque.map(|x| x * torque)]
    }
}

impl Report {
    pub fn new(prepared: &PreparedCase, flow: &Flow, ranks: usize, steps: u64, secs: f64) -> Self {
        let case = &prepared.case;
        let physical = prepared.units.map(|units| Physical {
            units,
            is_plane: case.problem.velocities().axes() == 2,
            length: case.length * units.cell,
            speed: case.speed * units.speed(),
            viscosity: case.speed * case.length / case.reynolds() * units.viscosity(),
        });
        Self {
            case: prepared.title.clone(),
            physical,
            n: flow.inside().map(|axis| axis.end - axis.start),
            lattice: case.problem.velocities().name(),
            ranks,
            reynolds: case.reynolds(),
            mach: case.mach(),
            relaxation_time: case.problem.relaxation_time(),
            warnings: case.warnings().into_iter().chain(prepared.warnings.clone()).collect(),
            steps: [flow.steps(), steps],
            cells: flow.fluid_cells(),
            secs,
            coefficient: case.area.map(|area| 2.0 / (case.speed * case.speed * area)),
            end: End::Steps,
            pulls: Vec::new(),
            mass: 0.0,
            drawing: None,
            exact_error: None,
            ghia: None,
            hash: None,
        }
    }

    /// Million cell updates per second of all ranks.
    fn mlups(&self) -> f64 {
        if self.secs > 0.0 { self.cells as f64 * self.steps[1] as f64 / self.secs / 1e6 } else { 0.0 }
    }

    fn coefficients(&self) -> Vec<[f64; 3]> {
        let coefficient = |pull: &Pull| pull.force.map(|x| x * self.coefficient.unwrap_or(0.0));
        if self.coefficient.is_some() { self.pulls.iter().map(coefficient).collect() } else { Vec::new() }
    }

    pub fn text(&self) -> String {
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
                self.steps[0] as f64 * units.step
            );
        }
        let [step, steps] = self.steps;
        let end = match self.end {
            End::Steps => "",
            End::Steady => ", steady",
            End::Unsteady => ", not yet steady",
            End::Signal => ", ended by a signal",
            End::Time => ", time budget used",
            End::Closed => ", window closed",
        };
        _ = write!(text, "  {steps} steps to step {step}{end}: {:.2} s, {:.2} MLUPS", self.secs, self.mlups());
        let coefficients = self.coefficients();
        for (body, pull) in self.pulls.iter().enumerate() {
            _ = write!(text, "\n  force {:?}", pull.force);
            if let Some(physical) = &self.physical {
                let [[x, y, z], _] = physical.physical_pull(pull);
                _ = write!(
                    text,
                    ", [{x:.4e}, {y:.4e}, {z:.4e}] N{}",
                    if physical.is_plane { " per metre" } else { "" }
                );
            }
            if let Some(c) = coefficients.get(body) {
                _ = write!(text, ", drag coefficient {:.5}, lift {:.6}", c[0], c[1]);
            }
        }
        if let Some((frames, secs)) = self.drawing {
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
                ghia.errors[0], ghia.errors[1], ghia.extremes[0], ghia.extremes[1], ghia.extremes[2]
            );
        }
        if let Some(hash) = self.hash {
            _ = write!(text, "\n  hash {hash:016x}");
        }
        text
    }

    pub fn json(&self) -> String {
        let ghia = self.ghia.as_ref().map(|ghia| {
            json!({
                "largest_error_u": ghia.errors[0],
                "largest_error_v": ghia.errors[1],
                "u_min": ghia.extremes[0],
                "v_max": ghia.extremes[1],
                "v_min": ghia.extremes[2],
            })
        });
        let forces: Vec<Value> =
            self.pulls.iter().map(|pull| json!({ "force": pull.force, "torque": pull.torque })).collect();
        let physical = self.physical.as_ref().map(|physical| {
            let Physical { units, is_plane, length, speed, viscosity } = physical;
            let pulls: Vec<Value> = self
                .pulls
                .iter()
                .map(|pull| {
                    let [force, torque] = physical.physical_pull(pull);
                    json!({ "force": force, "torque": torque })
                })
                .collect();
            json!({
                "cell_m": units.cell,
                "step_s": units.step,
                "density_kg_m3": units.density,
                "length_m": length,
                "speed_m_s": speed,
                "viscosity_m2_s": viscosity,
                "time_s": self.steps[0] as f64 * units.step,
                "bodies_N_and_Nm": pulls,
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
            "step": self.steps[0],
            "steps": self.steps[1],
            "seconds": self.secs,
            "mlups": self.mlups(),
            "ended_by": self.end.name(),
            "mass_beyond_1": self.mass,
            "pictures": self.drawing.map(|(frames, secs)| json!({ "frames": frames, "seconds": secs })),
            "bodies": forces,
            "physical": physical,
            "coefficients": self.coefficients(),
            "largest_error": self.exact_error,
            "ghia": ghia,
            "hash": self.hash.map(|hash| format!("{hash:016x}")),
        })
        .to_string()
    }
}
