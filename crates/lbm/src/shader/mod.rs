//! The kernels of a flow, written for its set of velocities and for how it keeps populations.

mod border;
mod collide;
mod cumulant;
pub mod fastest;
pub mod quantities;
mod text;

use std::fmt::Write;

use zippy::KernelSource;
use zippy::device::has_wide_vectors;

use self::collide::collision;
use self::text::{FLOW, along, begin, equilibrium, load, load_two, moments, number, store, store_two};
use crate::problem::{Collision, Problem};
use crate::sponge::Sponge;
use crate::velocities::VelocitySet;

/// What kernels are written for.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    pub set: VelocitySet,
    collision: Collision,
    /// With the viscosity of eddies that the lattice does not resolve.
    eddies: bool,
    /// With forces that differ from cell to cell.
    forced: bool,
    /// With more viscosity near open sides.
    sponge: Option<Sponge>,
    /// Two cells that lie half the lattice apart along this axis share a word of two halves.
    fold: Option<usize>,
    /// Words along that axis.
    words: i64,
    /// Cells of a workgroup along the first two axes.
    group: [i64; 2],
    /// How far apart the next cells along y and z and the next slot are, where all chunks of this rank have the same.
    strides: Option<[i64; 3]>,
}

impl Form {
    /// For a lattice that is cut into these parts, in words, and a device that is software or not.
    pub fn of(problem: &Problem, parts: &[Vec<i64>; 3], software: bool) -> Self {
        Self {
            group: if software { snug(parts) } else { [64, 1] },
            strides: None,
            set: problem.set,
            collision: problem.collision,
            eddies: problem.smagorinsky.is_some(),
            forced: problem.forces.is_some(),
            sponge: problem.sponge(),
            fold: problem.fold(),
            words: problem.fold().map_or(0, |axis| problem.words()[axis]),
        }
    }

    /// With the strides of this rank's chunks of populations, if they are all alike: numbers are quicker than variables.
    pub fn with_strides(self, strides: &[[i64; 3]]) -> Self {
        let alike = strides.windows(2).all(|pair| pair[0] == pair[1]);
        Self { strides: strides.first().copied().filter(|_| alike), ..self }
    }

    /// Of three texts the one for the neighbour from which population `q` + 1 comes: on the same side of the fold, or above
    /// or below on what may be the other one.
    fn across<'t>(&self, q: usize, [same, above, below]: [&'t str; 3]) -> &'t str {
        match self.fold.map(|axis| self.set.velocity(q)[axis]) {
            None | Some(0) => same,
            Some(1) => above,
            Some(_) => below,
        }
    }
}

/// What all kernels that see populations have in common: `Real` is a number for each cell that an invocation has.
fn head(form: &Form, access: &str, two: bool) -> String {
    let (word, real) = (if form.fold.is_some() { "u32" } else { "f32" }, if two { "vec2<f32>" } else { "f32" });
    let halves = if form.fold.is_some() { HALVES } else { "" };
    format!(
        "@group(0) @binding(0) var<storage, {access}> f: array<{word}>;
struct Parameters {{ odd: i32, fresh: i32, plus: f32, minus: f32, eddies: f32, magic: f32, lane: i32, first: i32,
    last: i32, step: i32, layer: i32, restore: f32, origin: vec3<i32>, force: vec3<f32> }}
@group(0) @binding(1) var<uniform> parameters: Parameters;
alias Real = {real};
struct Triple {{ x: Real, y: Real, z: Real }}
{halves}"
    )
}

/// Populations in 16 bits. They are multiplied by 2^15, as they are small and halves have few digits near zero, and rounded up
/// or down by chance, as far as they are from both: so a flow that is steady gets noise and no force. To the nearest half it
/// would be the same error in each step. Chance is a number that cell, population and step make, so it is the same on every
/// cut. What no half can be becomes no number at all, whatever the device packs it to.
const HALVES: &str = "fn two(word: u32) -> vec2<f32> { return unpack2x16float(word) * 0.000030517578125; }
fn half(word: u32, lane: i32) -> f32 {
    let both = two(word);
    return select(both.x, both.y, lane == 1);
}
fn seed_of(p: vec3<i32>) -> u32 {
    let at = vec3<u32>(p + parameters.origin) * vec3<u32>(0x8da6b343u, 0xd8163841u, 0xcb1ab31fu);
    let state = (at.x ^ at.y ^ at.z ^ (u32(parameters.step) * 0x9e3779b9u)) * 747796405u + 2891336453u;
    let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
    return (word >> 22u) ^ word;
}
fn chance(seed: u32, q: u32) -> u32 {
    var x = seed + q * 0x9e3779b9u;
    x = (x ^ (x >> 16u)) * 0x7feb352du;
    return x ^ (x >> 15u);
}
fn packed(values: vec2<f32>, chance: u32) -> u32 {
    let bits = bitcast<vec2<u32>>(values * 32768.0);
    let up = vec2<u32>(chance, chance >> 16u) & vec2<u32>(0x1fffu, 0x1fffu);
    let rounded = (bits + up) & vec2<u32>(0xffffe000u, 0xffffe000u);
    let lost = (bits & vec2<u32>(0x7fffffffu, 0x7fffffffu)) > vec2<u32>(0x477fe000u, 0x477fe000u);
    return pack2x16float(bitcast<vec2<f32>>(rounded)) | select(0u, 0x7e00u, lost.x) | select(0u, 0x7e000000u, lost.y);
}
fn merged(word: u32, values: vec2<f32>, mask: u32, chance: u32) -> u32 {
    return (word & ~mask) | (packed(values, chance) & mask);
}
fn with_half(word: u32, lane: i32, value: f32, chance: u32) -> u32 {
    return merged(word, vec2<f32>(value, value), select(0x0000ffffu, 0xffff0000u, lane == 1), chance);
}
fn turned(word: u32, turn: bool) -> u32 { return select(word, (word << 16u) | (word >> 16u), turn); }
";

/// The force on a cell.
fn force(form: &Form) -> (&'static str, &'static str) {
    match form.forced {
        false => ("", "    let force = parameters.force;\n"),
        true => (
            "@group(0) @binding(5) var<storage, read> forces: array<f32>;\n",
            "    let force = parameters.force + vec3<f32>(forces_load(vec4<i32>(p, 0)), forces_load(vec4<i32>(p, 1)),
        forces_load(vec4<i32>(p, 2)));\n",
        ),
    }
}

/// The same of two cells.
fn forces(form: &Form) -> (&'static str, String) {
    if !form.forced {
        return ("", "    let force = parameters.force;\n".into());
    }
    let of = |axis: usize| {
        let [a, b] = ["forces", "more_forces"].map(|name| format!("{name}_load(vec4<i32>(p, {axis}))"));
        format!("parameters.force.{} + vec2<f32>({a},\n        {b})", text::AXES[axis])
    };
    (
        "@group(0) @binding(5) var<storage, read> forces: array<f32>;
@group(0) @binding(6) var<storage, read> more_forces: array<f32>;\n",
        format!("    let force = Triple({}, {}, {});\n", of(0), of(1), of(2)),
    )
}

/// The names by which the texts know the parameters.
fn names(form: &Form, two: bool) -> String {
    let rates = match form.sponge {
        None => "    let plus = parameters.plus;
    let minus = parameters.minus;
    let magic = parameters.magic;
"
        .to_owned(),
        Some(sponge) => {
            let first = format!("p.{} + parameters.layer", text::AXES[sponge.axis]);
            let is_bgk = form.collision == Collision::Bgk;
            match form.fold == Some(sponge.axis) && two {
                // The second cell of a word is half the lattice further along.
                true => {
                    let both = format!("vec2<i32>({first}, {first} + {})", form.words);
                    sponge.rates(&both, ["vec2<i32>", "vec2<f32>"], is_bgk)
                }
                false => sponge.rates(&first, ["i32", "f32"], is_bgk),
            }
        }
    };
    "    let odd = parameters.odd;\n    let eddies = parameters.eddies;\n".to_owned() + &rates
}

/// A cell in a list; `links` has a bit for each population that comes to it from the fluid.
const BORDER: &str = "struct Border { cell: vec4<i32>, flow: vec4<f32>, normal: vec4<f32>, links: u32, beyond: u32, mirrored: u32, _pad: u32 }
";

/// One invocation for each cell of a list.
const MAIN_OF_LIST: &str = "@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let number = borders_position(id);
    if !borders_inside(number) { return; }
    let border = borders_load(number);
";

/// The cell itself.
const CELL: &str = "border.cell.xyz";
/// The cell before an outlet, or that which an image shows.
const NEXT: &str = "border.cell.xyz + vec3<i32>(border.normal.xyz)";

/// Cells of a workgroup so that few invocations have no cell: on software adapters those cost as much as others.
fn snug(parts: &[Vec<i64>; 3]) -> [i64; 2] {
    let filled = |group: &[i64; 2]| -> i64 {
        let along =
            |axis: usize| parts[axis].iter().map(|n| (n + group[axis] - 1) / group[axis] * group[axis]).sum::<i64>();
        along(0) * along(1)
    };
    [[64, 1], [32, 2], [16, 4], [8, 8]].into_iter().min_by_key(filled).unwrap_or([64, 1])
}

/// A kernel with one invocation for each cell of the array `over`, which it names `p`.
fn cells(form: &Form, over: &str, access: &str, declarations: &str, body: &str) -> String {
    let (binding, force) = force(form);
    kernel(form, over, &(head(form, access, false) + declarations + binding), &(names(form, false) + force + body))
}

fn kernel(form: &Form, over: &str, declarations: &str, body: &str) -> String {
    let [x, y] = form.group;
    format!(
        "{declarations}@compute @workgroup_size({x}, {y})
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = {over}_position(id);
    if !{over}_inside(p) {{ return; }}
{body}}}
"
    )
}

/// A kernel with one invocation for each cell of a list, which is about the cell `at`.
fn list(form: &Form, access: &str, borders: &str, declarations: &str, at: &str, body: &str) -> String {
    let (binding, force) = force(form);
    head(form, access, false)
        + BORDER
        + &format!("@group(0) @binding(2) var<storage, {borders}> borders: array<Border>;\n")
        + declarations
        + binding
        + MAIN_OF_LIST
        + &format!("    let p = {at};\n    let kind = border.cell.w;\n")
        + &names(form, false)
        + force
        + body
        + "}\n"
}

fn source(form: &Form, name: &str, text: String) -> KernelSource {
    let fold = if form.fold.is_some() { ".half" } else { "" };
    let source = KernelSource::text(format!("{name}.{}{fold}.wgsl", form.set.name().to_lowercase()), text);
    // Processors convert halves in one instruction, which native kernels do not have.
    source.prefer_driver(form.fold.is_some() || form.set.axes() == 3 && has_wide_vectors())
}

/// A step of all cells with fluid and nothing else: what arrives collides, and leaves.
pub fn step(form: &Form) -> KernelSource {
    let cells_of = "@group(0) @binding(2) var<storage, read> cells: array<u32>;\n";
    let text = match form.fold {
        None => {
            let body = format!(
                "    if cells_load(p) != 0u {{ return; }}\n{}{}{}",
                load(form),
                collision(form.set, form.collision, form.eddies),
                store(form)
            );
            cells(form, "cells", "read_write", cells_of, &body)
        }
        Some(_) => {
            let (binding, forces) = forces(form);
            let others = "@group(0) @binding(3) var<storage, read> others: array<u32>;\n";
            let mask = "    let mask = select(0u, 0x0000ffffu, cells_load(p) == 0u) | select(0u, 0xffff0000u, others_load(p) == 0u);
    if mask == 0u { return; }
";
            let names = names(form, true);
            let body =
                [mask, &names, &forces, &load_two(form), &collision(form.set, form.collision, form.eddies)].concat();
            kernel(
                form,
                "cells",
                &[&head(form, "read_write", true), cells_of, others, binding].concat(),
                &(body + &store_two(form)),
            )
        }
    };
    source(form, "step", text)
}

/// What walls that move do with populations.
pub fn moving(form: &Form) -> KernelSource {
    source(form, "moving", list(form, "read_write", "read", "", CELL, &border::moving(form)))
}

/// Populations that leave images beyond free-slip sides.
pub fn mirror(form: &Form) -> KernelSource {
    source(form, "mirror", list(form, "read_write", "read", "", NEXT, &border::mirror(form)))
}

/// A step of cells at open sides.
pub fn open(form: &Form) -> KernelSource {
    source(form, "open", list(form, "read_write", "read", "", CELL, &border::open(form)))
}

/// Populations from density and velocity: those of the equilibrium.
pub fn start(form: &Form) -> KernelSource {
    let mut body = String::from(
        "    let excess = excess_load(p);
    let density = 1.0 + excess;
    let u = vec3<f32>(velocity_load(vec4<i32>(p, 0)), velocity_load(vec4<i32>(p, 1)), velocity_load(vec4<i32>(p, 2)));
",
    );
    body += &equilibrium(form.set);
    body += "    let g0 = even0;\n";
    for q in form.set.firsts() {
        let pull = format!("{} * ({})", number(1.5 * form.set.weight(q)), along(form.set.velocity(q), "force"));
        _ = writeln!(body, "    let straight{q} = uneven{q} - {pull};");
        _ = writeln!(body, "    let g{q} = even{q} + straight{q};\n    let g{} = even{q} - straight{q};", q + 1);
    }
    body += &begin(form);
    let fields = "@group(0) @binding(2) var<storage, read> excess: array<f32>;
@group(0) @binding(3) var<storage, read> velocity: array<f32>;
";
    source(form, "start", cells(form, "excess", "read_write", fields, &body))
}

/// What the fluid does to the solid cells in a list in a step: force and torque, six numbers a cell.
pub fn pulls(form: &Form) -> KernelSource {
    let form = &Form { forced: false, ..*form };
    let mut text = load(form);
    text += "    var pull = vec3<f32>(0.0, 0.0, 0.0);
    var turn = vec3<f32>(0.0, 0.0, 0.0);
    let across = vec3<bool>((border.mirrored & 1u) != 0u, (border.mirrored & 2u) != 0u, (border.mirrored & 4u) != 0u);
    let side = select(vec3<f32>(1.0, 1.0, 1.0), vec3<f32>(-1.0, -1.0, -1.0), across);
";
    for q in 1..form.set.count() {
        let c = form.set.velocity(q);
        let vector = format!("vec3<f32>({:?}, {:?}, {:?})", c[0] as f32, c[1] as f32, c[2] as f32);
        let push = format!("{} * ({})", number(6.0 * form.set.weight(q)), along(c, "border.flow"));
        _ = writeln!(
            text,
            "    if (border.links & {}u) != 0u {{
        let way = side * {vector};
        let one = (2.0 * g{q} - {push}) * way;
        pull += one;
        turn += cross(border.normal.xyz - 0.5 * way, one);
    }}",
            1_u32 << q
        );
    }
    for (k, part) in ["pull.x", "pull.y", "pull.z", "turn.x", "turn.y", "turn.z"].iter().enumerate() {
        _ = writeln!(text, "    pulls_store(vec2<i32>(number, {k}), {part});");
    }
    let pulls = "@group(0) @binding(3) var<storage, read_write> pulls: array<f32>;\n";
    source(form, "pulls", list(form, "read", "read", pulls, CELL, &text))
}

/// Density and velocity of the cells before outlets, before these or those have made a step.
pub fn outlets(form: &Form) -> KernelSource {
    let mut text = load(form);
    text += &moments(form.set);
    text += FLOW;
    text += "    var next = border;
    next.flow = vec4<f32>(u.x, u.y, u.z, density);
    borders_store(number, next);
";
    source(form, "outlets", list(form, "read", "read_write", "", NEXT, &text))
}
