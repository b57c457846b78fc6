//! The kernels of a flow, written for its set of velocities.

mod border;
mod collide;
mod cumulant;
mod text;

use std::fmt::Write;

use zippy::KernelSource;

use self::collide::collision;
use self::text::{FLOW, along, equilibrium, load, moments, place, store};
use crate::cell::OPEN;
use crate::problem::Collision;
use crate::velocities::VelocitySet;

/// What all kernels that see populations have in common.
const POPULATIONS: &str = "@group(0) @binding(0) var<storage, ACCESS> f: array<f32>;
struct Parameters { odd: i32, fresh: i32, plus: f32, minus: f32, eddies: f32, magic: f32, force: vec3<f32> }
@group(0) @binding(1) var<uniform> parameters: Parameters;
";

/// The names by which the texts know the parameters.
const NAMES: &str = "    let odd = parameters.odd;
    let plus = parameters.plus;
    let minus = parameters.minus;
    let eddies = parameters.eddies;
    let magic = parameters.magic;
    let force = parameters.force;
";

/// A cell in a list; `links` has a bit for each population that comes to it from the fluid.
const BORDER: &str = "struct Border { cell: vec4<i32>, flow: vec4<f32>, normal: vec4<f32>, links: u32, beyond: u32, _pad0: u32, _pad1: u32 }
";

/// One invocation for each cell of a list.
const MAIN_OF_LIST: &str = "@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let number = borders_position(id);
    if !borders_inside(number) { return; }
    let border = borders_load(number);
    let p = border.cell.xyz;
";

/// A kernel with one invocation for each cell of the array `over`, which it names `p`.
fn cells(over: &str, access: &str, declarations: &str, body: &str) -> String {
    let head = POPULATIONS.replace("ACCESS", access);
    format!(
        "{head}{declarations}@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
    let p = {over}_position(id);
    if !{over}_inside(p) {{ return; }}
{NAMES}{body}}}
"
    )
}

fn source(set: VelocitySet, name: &str, text: String) -> KernelSource {
    KernelSource::text(format!("{name}.{}.wgsl", set.name().to_lowercase()), text)
}

/// A step of all cells with fluid and nothing else: what arrives collides, and leaves.
pub fn step(set: VelocitySet, kind: Collision, eddies: bool) -> KernelSource {
    let body = format!(
        "    if cells_load(p) != 0u {{ return; }}\n{}{}{}",
        load(set),
        collision(set, kind, eddies),
        store(set)
    );
    let cells_of = "@group(0) @binding(2) var<storage, read> cells: array<u32>;\n";
    source(set, "step", cells("cells", "read_write", cells_of, &body))
}

/// The same of the cells in a list.
pub fn borders(set: VelocitySet, kind: Collision, eddies: bool) -> KernelSource {
    let mut text = POPULATIONS.replace("ACCESS", "read_write") + BORDER;
    text += "@group(0) @binding(2) var<storage, read> borders: array<Border>;\n";
    text += MAIN_OF_LIST;
    text += NAMES;
    text += "    let kind = border.cell.w;\n";
    text += &border::borders(set, kind, eddies);
    source(set, "borders", text)
}

/// Populations from density and velocity: those of the equilibrium.
pub fn start(set: VelocitySet) -> KernelSource {
    let mut body = String::from(
        "    let excess = excess_load(p);
    let density = 1.0 + excess;
    let u = vec3<f32>(velocity_load(vec4<i32>(p, 0)), velocity_load(vec4<i32>(p, 1)), velocity_load(vec4<i32>(p, 2)));
",
    );
    body += &equilibrium(set);
    body += "    let g0 = even0;\n";
    for q in set.firsts() {
        let pull = format!("{} * ({})", text::number(1.5 * set.weight(q)), along(set.velocity(q), "force"));
        _ = writeln!(body, "    let straight{q} = uneven{q} - {pull};");
        _ = writeln!(body, "    let g{q} = even{q} + straight{q};\n    let g{} = even{q} - straight{q};", q + 1);
    }
    body += &place(set);
    let fields = "@group(0) @binding(2) var<storage, read> excess: array<f32>;
@group(0) @binding(3) var<storage, read> velocity: array<f32>;
";
    source(set, "start", cells("excess", "read_write", fields, &body))
}

/// Density beyond 1 and velocity of every cell of fluid but those at open sides; elsewhere zero.
pub fn fields(set: VelocitySet) -> KernelSource {
    let body = format!(
        "{}{}{FLOW}    let fluid = cells_load(p) == 0u;
    excess_store(p, select(0.0, excess, fluid));
    velocity_store(vec4<i32>(p, 0), select(0.0, u.x, fluid));
    velocity_store(vec4<i32>(p, 1), select(0.0, u.y, fluid));
    velocity_store(vec4<i32>(p, 2), select(0.0, u.z, fluid));
",
        load(set),
        moments(set)
    );
    let fields = "@group(0) @binding(2) var<storage, read> cells: array<u32>;
@group(0) @binding(3) var<storage, read_write> excess: array<f32>;
@group(0) @binding(4) var<storage, read_write> velocity: array<f32>;
";
    source(set, "fields", cells("excess", "read", fields, &body))
}

/// Density and velocity of cells at open sides, where not all populations are known.
pub fn open_fields(set: VelocitySet) -> KernelSource {
    let mut text = POPULATIONS.replace("ACCESS", "read") + BORDER;
    text += "@group(0) @binding(2) var<storage, read> borders: array<Border>;
@group(0) @binding(3) var<storage, read_write> excess: array<f32>;
@group(0) @binding(4) var<storage, read_write> velocity: array<f32>;
";
    text += MAIN_OF_LIST;
    text += NAMES;
    _ = writeln!(text, "    let kind = border.cell.w;\n    if kind < {OPEN} {{ return; }}");
    text += &load(set);
    text += &border::open_flow(set);
    text += "    excess_store(p, density - 1.0);
    velocity_store(vec4<i32>(p, 0), u.x);
    velocity_store(vec4<i32>(p, 1), u.y);
    velocity_store(vec4<i32>(p, 2), u.z);
}
";
    source(set, "open_fields", text)
}

/// What the fluid does to the solid cells in a list in a step: force and torque, six numbers a cell.
pub fn pulls(set: VelocitySet) -> KernelSource {
    let mut text = POPULATIONS.replace("ACCESS", "read") + BORDER;
    text += "@group(0) @binding(2) var<storage, read> borders: array<Border>;
@group(0) @binding(3) var<storage, read_write> pulls: array<f32>;
";
    text += MAIN_OF_LIST;
    text += NAMES;
    text += &load(set);
    text += "    var pull = vec3<f32>(0.0, 0.0, 0.0);\n    var turn = vec3<f32>(0.0, 0.0, 0.0);\n";
    for q in 1..set.count() {
        let c = set.velocity(q);
        let vector = format!("vec3<f32>({:?}, {:?}, {:?})", c[0] as f32, c[1] as f32, c[2] as f32);
        let push = format!("{} * ({})", text::number(6.0 * set.weight(q)), along(c, "border.flow"));
        _ = writeln!(
            text,
            "    if (border.links & {}u) != 0u {{
        let one = (2.0 * g{q} - {push}) * {vector};
        pull += one;
        turn += cross(border.normal.xyz - 0.5 * {vector}, one);
    }}",
            1_u32 << q
        );
    }
    for (k, part) in ["pull.x", "pull.y", "pull.z", "turn.x", "turn.y", "turn.z"].iter().enumerate() {
        _ = writeln!(text, "    pulls_store(vec2<i32>(number, {k}), {part});");
    }
    source(set, "pulls", text + "}\n")
}

/// Density and velocity of the cells before outlets, before these or those have made a step.
pub fn outlets(set: VelocitySet) -> KernelSource {
    let mut text = POPULATIONS.replace("ACCESS", "read") + BORDER;
    text += "@group(0) @binding(2) var<storage, read_write> borders: array<Border>;\n";
    text += &MAIN_OF_LIST.replace("border.cell.xyz", "border.cell.xyz + vec3<i32>(border.normal.xyz)");
    text += NAMES;
    text += &load(set);
    text += &moments(set);
    text += FLOW;
    text += "    var next = border;
    next.flow = vec4<f32>(u, density);
    borders_store(number, next);
}
";
    source(set, "outlets", text)
}
