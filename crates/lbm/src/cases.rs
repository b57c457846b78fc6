//! Flows that everybody knows, by name.

use std::f64::consts::PI;
use std::rc::Rc;

use crate::error::FlowError;
use crate::problem::{Collision, Place, Problem, Side, is_open};
use crate::solids::{Placement, Shape, Solid};
use crate::storage::Storage;
use crate::velocities::VelocitySet;

/// The velocity at a place after so many steps.
pub type Exact = Rc<dyn Fn(Place, u64) -> [f64; 3]>;

/// A problem with the numbers by which it is known.
#[derive(Clone)]
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What flows.
    pub problem: Problem,
    /// The length of its Reynolds number, in cells.
    pub length: f64,
    /// The speed of its Reynolds number, in cells a step.
    pub speed: f64,
    /// How long it takes until there is something to see, in steps.
    pub steps: u64,
    /// The velocity, where it is known.
    pub exact: Option<Exact>,
    /// What the stream sees of the body, in cells or cells²: drag and lift coefficients count by it.
    pub area: Option<f64>,
    /// Warnings about parts of bodies that have no cells.
    pub body_warnings: Vec<String>,
}

/// What can be chosen of a case; what is left out is as the case has it.
#[derive(Debug, Clone, Default)]
pub struct Choices {
    /// Cells along each axis, or the one number by which a case is sized in `n[0]`, with zeros behind it.
    pub n: [i64; 3],
    /// The Reynolds number.
    pub reynolds: Option<f64>,
    /// The speed, in cells a step.
    pub speed: Option<f64>,
    /// The velocities.
    pub set: Option<VelocitySet>,
    /// The collision.
    pub collision: Option<Collision>,
    /// Smagorinsky's constant.
    pub smagorinsky: Option<f64>,
    /// How populations are kept.
    pub storage: Storage,
    /// Of the case "object", what stands in the stream: see [`Choices::placement`].
    pub solid: Option<Solid>,
}

impl Choices {
    /// Where the case "object" has a shape, with the longest edge of its box so many cells long, or else two fifths of the
    /// stream's height.
    pub fn placement(&self, shape: &dyn Shape, longest: Option<f64>) -> Placement {
        let extents = self.stream();
        let share = |axis: usize, share: f64| extents[axis] as f64 * share - 0.5;
        shape.placed(longest.unwrap_or(0.4 * extents[1] as f64), [share(0, 0.3), share(1, 0.5), share(2, 0.5)])
    }

    /// The box of a stream past a body.
    pub fn stream(&self) -> [i64; 3] {
        match (self.n, self.set) {
            ([0, ..], Some(VelocitySet::D2Q9)) => [160, 80, 1],
            ([0, ..], _) => [160, 80, 80],
            ([n, 0, _], Some(VelocitySet::D2Q9)) => [n, n / 2, 1],
            ([n, 0, _], _) => [n, n / 2, n / 2],
            (n, _) => n,
        }
    }
}

/// A case's name, what it is, and what `--n` means there.
pub const NAMES: [(&str, &str); 10] = [
    ("shear", "a wave of shear in a periodic square that dies away; n cells a side"),
    ("taylor-green2d", "vortices in a periodic square that die away; n cells a side"),
    ("taylor-green3d", "vortices in a periodic cube that break up; n cells a side"),
    ("couette", "fluid between a wall at rest and one that moves, n cells apart"),
    ("poiseuille", "fluid between two walls n cells apart, pulled along by a force"),
    ("cavity2d", "a square box whose lid moves; n cells a side"),
    ("cavity3d", "a cubic box whose lid moves; n cells a side"),
    ("cylinder", "a cylinder in a channel (Schäfer and Turek 1996, 2D-1); n cells a diameter"),
    ("sphere", "a sphere in a stream; n cells along each axis, a fifth of the second one its diameter"),
    ("object", "a solid from a file, a scan or a surface, in a stream; n cells along each axis"),
];

impl Case {
    /// A case by its name.
    ///
    /// # Errors
    /// No case has this name; it is sized by other numbers; a number that cannot be.
    pub fn named(name: &str, choices: &Choices) -> Result<Self, FlowError> {
        let make = match name {
            "shear" => shear,
            "taylor-green2d" => taylor_green_2d,
            "taylor-green3d" => taylor_green_3d,
            "couette" => couette,
            "poiseuille" => poiseuille,
            "cavity2d" => cavity_2d,
            "cavity3d" => cavity_3d,
            "cylinder" => cylinder,
            "sphere" => sphere,
            "object" => object,
            _ => return Err(FlowError::Case(name.to_owned(), NAMES.map(|(name, _)| name).join(", "))),
        };
        sized(name, choices)?;
        let mut case = make(choices)?;
        case.problem = case.problem.storage(choices.storage);
        if let Some(collision) = choices.collision {
            case.problem = case.problem.collision(collision);
        }
        if let Some(constant) = choices.smagorinsky {
            case.problem = case.problem.smagorinsky(constant);
        }
        Ok(case)
    }

    /// Reynolds number: speed × length / viscosity.
    pub fn reynolds(&self) -> f64 {
        self.speed * self.length / self.problem.viscosity
    }

    /// Mach number: speed over that of sound, 1/√3.
    pub fn mach(&self) -> f64 {
        self.speed * 3.0_f64.sqrt()
    }

    /// Warnings about numbers outside the valid range of the method, and about parts of bodies
    /// without cells.
    pub fn warnings(&self) -> Vec<String> {
        let (mach, time) = (self.mach(), self.problem.relaxation_time());
        let mut all = self.body_warnings.clone();
        if mach > 0.3 {
            all.push(format!(
                "Mach number {mach:.2}: above 0.3 the fluid is no longer incompressible; lower the speed"
            ));
        }
        let is_open = self.problem.sides.iter().flatten().any(is_open);
        if is_open && time < LEAST_OPEN {
            all.push(format!(
                "relaxation time {time:.4}: sides where fluid comes or goes are stable from {LEAST_OPEN} on; take more cells at \
                 the same Reynolds number, or a higher viscosity"
            ));
        } else if time < LEAST {
            all.push(format!(
                "relaxation time {time:.4}: so near to 1/2 the flow may become unstable; take more cells"
            ));
        }
        if let (layers @ 1.., Some(sponge)) = (self.problem.sponge_layers(), self.problem.sponge()) {
            let sides = sponge.open.iter().filter(|is_open| **is_open).count() as i64;
            let advice = match layers * sides >= sponge.cells {
                true => format!(
                    "they fill the box of {} cells along axis {}, so that the viscosity is nowhere what was given: take more \
                     cells, or a higher viscosity",
                    sponge.cells, sponge.axis
                ),
                false => "keep bodies further away".to_owned(),
            };
            all.push(format!(
                "relaxation time {time:.4}: the viscosity is raised in {layers} layers of cells at sides where fluid comes or \
                 goes, to a relaxation time of 0.56 next to them; {advice}"
            ));
        }
        if time > 2.0 && self.problem.collision == Collision::Bgk {
            all.push(format!(
                "relaxation time {time:.2}: with BGK walls seem to slip above 2; take TRT or fewer cells"
            ));
        }
        all
    }
}

/// Least relaxation time of flows that are stable in most cases, and that of flows with open sides.
const LEAST: f64 = 0.505;
const LEAST_OPEN: f64 = 0.506;

/// Whether a case is sized by as many numbers as are given; zeros stand for those that are not.
fn sized(name: &str, choices: &Choices) -> Result<(), FlowError> {
    let plane = choices.set == Some(VelocitySet::D2Q9);
    let (three, wanted) = match (name, plane) {
        ("sphere" | "object", false) => (true, "one number or three, as 160 or 160x80x80"),
        ("sphere" | "object", true) => (true, "one number or three, the third one 1, as 160 or 160x80x1"),
        _ => (false, "one number, as 64"),
    };
    let right = match choices.n {
        [_, 0, 0] => true,
        [x, y, z] => three && [x, y, z].iter().all(|&n| n != 0),
    };
    let given = || choices.n.iter().take_while(|&&n| n != 0).map(i64::to_string).collect::<Vec<_>>().join("x");
    match right {
        true => Ok(()),
        false => Err(FlowError::Size { case: name.to_owned(), given: given(), wanted }),
    }
}

/// The numbers of a case: cells, Reynolds number, speed.
fn numbers(choices: &Choices, n: i64, reynolds: f64, speed: f64) -> Result<(i64, f64, f64), FlowError> {
    let n = if choices.n[0] == 0 { n } else { choices.n[0] };
    let positive = |what, value: f64| match value > 0.0 && value.is_finite() {
        true => Ok(value),
        false => Err(FlowError::Number { what, value, wanted: "a finite number above 0" }),
    };
    let reynolds = positive("the Reynolds number", choices.reynolds.unwrap_or(reynolds))?;
    Ok((n, reynolds, positive("the speed", choices.speed.unwrap_or(speed))?))
}

/// A case with its length and speed, and without a known exact velocity.
fn known(name: &'static str, problem: Problem, [length, speed]: [f64; 2], steps: u64) -> Case {
    Case { name, problem, length, speed, steps, exact: None, area: None, body_warnings: Vec::new() }
}

/// The velocities of a case in space.
fn space(choices: &Choices) -> VelocitySet {
    choices.set.unwrap_or(VelocitySet::D3Q19)
}

/// The velocities of a case in the plane.
fn plane(choices: &Choices) -> VelocitySet {
    choices.set.unwrap_or(VelocitySet::D2Q9)
}

fn shear(choices: &Choices) -> Result<Case, FlowError> {
    let n = if choices.n[0] == 0 { 64 } else { choices.n[0] };
    let (n, reynolds, speed) = numbers(choices, n, 50.0, 1.6 / n as f64)?;
    let (viscosity, k) = (speed * n as f64 / reynolds, 2.0 * PI / n as f64);
    let wave = move |y: i64| speed * (k * y as f64).sin();
    let problem =
        Problem::new(plane(choices), [n, n, 1]).viscosity(viscosity).start(|_| 1.0, move |at| [wave(at[1]), 0.0, 0.0]);
    let exact: Exact = Rc::new(move |at, steps| [wave(at[1]) * (-viscosity * k * k * steps as f64).exp(), 0.0, 0.0]);
    let steps = (1.0 / (viscosity * k * k)).round() as u64;
    Ok(Case { exact: Some(exact), ..known("shear", problem, [n as f64, speed], steps) })
}

fn taylor_green_2d(choices: &Choices) -> Result<Case, FlowError> {
    // Velocities as small as cells, so that errors of compressibility become smaller like the others.
    let n = if choices.n[0] == 0 { 64 } else { choices.n[0] };
    let (n, reynolds, speed) = numbers(choices, n, 32.0, 0.64 / n as f64)?;
    let (viscosity, k) = (speed * n as f64 / reynolds, 2.0 * PI / n as f64);
    let wave = move |at: Place| [k * at[0] as f64, k * at[1] as f64];
    let velocity = move |at: Place, left: f64| {
        let [x, y] = wave(at);
        [-speed * left * x.cos() * y.sin(), speed * left * x.sin() * y.cos(), 0.0]
    };
    let density = move |at: Place| {
        let [x, y] = wave(at);
        1.0 - 0.75 * speed * speed * ((2.0 * x).cos() + (2.0 * y).cos())
    };
    let problem =
        Problem::new(plane(choices), [n, n, 1]).viscosity(viscosity).start(density, move |at| velocity(at, 1.0));
    let exact: Exact = Rc::new(move |at, steps| velocity(at, (-2.0 * viscosity * k * k * steps as f64).exp()));
    let steps = (2.0_f64.ln() / (4.0 * viscosity * k * k)).round() as u64;
    Ok(Case { exact: Some(exact), ..known("taylor-green2d", problem, [n as f64, speed], steps) })
}

fn taylor_green_3d(choices: &Choices) -> Result<Case, FlowError> {
    let (n, reynolds, speed) = numbers(choices, 64, 100.0, 0.05)?;
    let (length, k) = (n as f64 / (2.0 * PI), 2.0 * PI / n as f64);
    let wave = move |at: Place| [0, 1, 2].map(|axis| k * (at[axis] as f64 + 0.5));
    let density = move |at: Place| {
        let [x, y, z] = wave(at);
        1.0 + 3.0 * speed * speed / 16.0 * ((2.0 * x).cos() + (2.0 * y).cos()) * ((2.0 * z).cos() + 2.0)
    };
    let velocity = move |at: Place| {
        let [x, y, z] = wave(at);
        [speed * x.sin() * y.cos() * z.cos(), -speed * x.cos() * y.sin() * z.cos(), 0.0]
    };
    let problem = Problem::new(space(choices), [n, n, n]).viscosity(speed * length / reynolds).start(density, velocity);
    let steps = (10.0 * length / speed).round() as u64;
    Ok(known("taylor-green3d", problem, [length, speed], steps))
}

fn couette(choices: &Choices) -> Result<Case, FlowError> {
    let (n, reynolds, speed) = numbers(choices, 32, 10.0, 0.05)?;
    let viscosity = speed * n as f64 / reynolds;
    let problem = Problem::new(plane(choices), [4, n, 1])
        .sides(1, Side::Wall, Side::MovingWall([speed, 0.0, 0.0]))
        .viscosity(viscosity);
    let exact: Exact = Rc::new(move |at, _| [speed * (at[1] as f64 + 0.5) / n as f64, 0.0, 0.0]);
    let steps = (3.0 * (n as f64 * n as f64) / viscosity).round() as u64;
    Ok(Case { exact: Some(exact), ..known("couette", problem, [n as f64, speed], steps) })
}

fn poiseuille(choices: &Choices) -> Result<Case, FlowError> {
    let (n, reynolds, speed) = numbers(choices, 32, 10.0, 0.05)?;
    let (viscosity, height) = (speed * n as f64 / reynolds, n as f64);
    let problem = Problem::new(plane(choices), [4, n, 1])
        .sides(1, Side::Wall, Side::Wall)
        .viscosity(viscosity)
        .force([8.0 * viscosity * speed / (height * height), 0.0, 0.0]);
    let exact: Exact = Rc::new(move |at, _| {
        let y = (at[1] as f64 + 0.5) / height;
        [4.0 * speed * y * (1.0 - y), 0.0, 0.0]
    });
    let steps = (3.0 * height * height / viscosity).round() as u64;
    Ok(Case { exact: Some(exact), ..known("poiseuille", problem, [height, speed], steps) })
}

fn cavity_2d(choices: &Choices) -> Result<Case, FlowError> {
    let (n, reynolds, speed) = numbers(choices, 128, 100.0, 0.1)?;
    let problem = Problem::new(plane(choices), [n, n, 1])
        .sides(0, Side::Wall, Side::Wall)
        .sides(1, Side::Wall, Side::MovingWall([speed, 0.0, 0.0]))
        .viscosity(speed * n as f64 / reynolds);
    let steps = (20.0 * n as f64 / speed).round() as u64;
    Ok(known("cavity2d", problem, [n as f64, speed], steps))
}

fn cavity_3d(choices: &Choices) -> Result<Case, FlowError> {
    let (n, reynolds, speed) = numbers(choices, 64, 100.0, 0.1)?;
    let problem = Problem::new(space(choices), [n, n, n])
        .sides(0, Side::Wall, Side::Wall)
        .sides(1, Side::Wall, Side::MovingWall([speed, 0.0, 0.0]))
        .sides(2, Side::Wall, Side::Wall)
        .viscosity(speed * n as f64 / reynolds);
    let steps = (20.0 * n as f64 / speed).round() as u64;
    Ok(known("cavity3d", problem, [n as f64, speed], steps))
}

fn cylinder(choices: &Choices) -> Result<Case, FlowError> {
    // Of a channel of 22 x 4.1 diameters; the cylinder's middle is 2 diameters from the lower wall and, but for half a cell, from
    // the inlet. Inlet and outlet are in the middles of cells, walls at their edges.
    let (n, reynolds, speed) = numbers(choices, 20, 20.0, 0.05)?;
    let diameter = n as f64;
    let (width, height) = (((22.0 * diameter).round() as i64).saturating_add(1), (4.1 * diameter).round() as i64);
    let profile = move |at: Place| {
        let y = (at[1] as f64 + 0.5) / height as f64;
        [1.5 * speed * 4.0 * y * (1.0 - y), 0.0, 0.0]
    };
    let middle = [2.0 * diameter - 0.5, 2.0 * diameter - 0.5, 0.0];
    // The density falls by friction (Poiseuille), and by the cylinder's drag at Reynolds number 20; it is 1 at the inlet, by
    // which coefficients count.
    let fall = speed * speed * (36.0 * 22.0 / (4.1 * 4.1 * reynolds) + 2.0);
    let density = move |at: Place| 1.0 - fall * at[0] as f64 / (width - 1) as f64;
    let inside = move |at: Place| {
        let far = [at[0] as f64 - middle[0], at[1] as f64 - middle[1]];
        far[0] * far[0] + far[1] * far[1] < diameter * diameter / 4.0
    };
    let problem = Problem::new(plane(choices), [width, height, 1])
        .sides(0, Side::Velocity(Rc::new(profile)), Side::Outlet(1.0 - fall))
        .sides(1, Side::Wall, Side::Wall)
        .viscosity(speed * diameter / reynolds)
        .body(middle, inside)
        .start(density, profile);
    let steps = (100.0 * diameter / speed).round() as u64;
    Ok(Case { area: Some(diameter), ..known("cylinder", problem, [diameter, speed], steps) })
}

fn sphere(choices: &Choices) -> Result<Case, FlowError> {
    let (_, reynolds, speed) = numbers(choices, 160, 100.0, 0.05)?;
    let extents = choices.stream();
    let diameter = (extents[1] as f64 / 5.0).max(1.0);
    let middle = [extents[0] as f64 / 4.0 - 0.5, extents[1] as f64 / 2.0 - 0.5, extents[2] as f64 / 2.0 - 0.5];
    let inside = move |at: Place| {
        let square: f64 = (0..3).map(|axis| (at[axis] as f64 - middle[axis]).powi(2)).sum();
        square < diameter * diameter / 4.0
    };
    let stream = move |_| [speed, 0.0, 0.0];
    let problem = Problem::new(space(choices), extents)
        .sides(0, Side::Velocity(Rc::new(stream)), Side::Outlet(1.0))
        .sides(1, Side::FreeSlip, Side::FreeSlip)
        .sides(2, Side::FreeSlip, Side::FreeSlip)
        .viscosity(speed * diameter / reynolds)
        .body(middle, inside)
        .start(|_| 1.0, stream);
    let area = Some(PI * diameter * diameter / 4.0);
    let steps = (3.0 * extents[0] as f64 / speed).round() as u64;
    Ok(Case { area, ..known("sphere", problem, [diameter, speed], steps) })
}

fn object(choices: &Choices) -> Result<Case, FlowError> {
    let (_, reynolds, speed) = numbers(choices, 160, 100.0, 0.05)?;
    let solid = choices.solid.as_ref().ok_or(FlowError::NoSolid("object"))?;
    let extents = choices.stream();
    if extents.iter().try_fold(1_i64, |product, &n| product.checked_mul(n)) == i64::try_from(solid.cells()).ok() {
        return Err(FlowError::Solid(format!(
            "it fills the whole box of {extents:?} cells; it must leave some to the fluid"
        )));
    }
    let [_, y, z] = solid.bounds();
    let length = (y.end - y.start).max(z.end - z.start) as f64;
    let stream = move |_| [speed, 0.0, 0.0];
    let mut problem = Problem::new(space(choices), extents)
        .sides(0, Side::Velocity(Rc::new(stream)), Side::Outlet(1.0))
        .sides(1, Side::FreeSlip, Side::FreeSlip)
        .viscosity(speed * length / reynolds)
        .body(solid.middle(), solid.inside())
        .start(|_| 1.0, stream);
    if space(choices) != VelocitySet::D2Q9 {
        problem = problem.sides(2, Side::FreeSlip, Side::FreeSlip);
    }
    let area = Some(solid.shadow(0) as f64);
    let steps = (3.0 * extents[0] as f64 / speed).round() as u64;
    let body_warnings = solid.warnings().to_vec();
    Ok(Case { area, body_warnings, ..known("object", problem, [length, speed], steps) })
}
