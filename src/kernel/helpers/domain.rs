//! What a kernel runs over: the place of an invocation in it, the number of a workgroup.

use std::fmt::Write;

use super::axes::Axes;
use super::look::{INVOCATION, NOBODY};
use super::nowhere::{NOWHERE, nowhere};
use crate::kernel::geometry::{COUNT, DomainMap, GEOMETRY, Tuple};
use crate::kernel::scan::SourceScan;
use crate::kernel::signature::{Signature, Space, Watch};

/// What the helpers of the domain begin with, before `_`.
const DOMAIN: &str = "domain";

/// Their endings.
pub const DOMAIN_HELPERS: [&str; 4] = ["position", "inside", "extent", "workgroup"];

/// Which helper of the domain this name is.
fn helper_of(name: &str) -> Option<&str> {
    name.strip_prefix(DOMAIN)?.strip_prefix('_')
}

/// Why a kernel cannot declare this name, beside arrays of these names.
pub fn taken(name: &str, arrays: &[&str]) -> Option<String> {
    if helper_of(name).is_some_and(|helper| DOMAIN_HELPERS.contains(&helper)) {
        return Some(format!(
            "`{name}` cannot be declared: it is the name of a helper of what a kernel runs over; take another name"
        ));
    }
    (name == DOMAIN && arrays.contains(&name)).then(|| {
        format!(
            "`{name}` cannot be declared as an array: {name}_position and its like are helpers of what a kernel runs \
             over; take another name"
        )
    })
}

/// What helpers there are, where `name` could be one and is not.
pub fn hint(name: &str) -> Option<String> {
    helper_of(name)?;
    let names = DOMAIN_HELPERS.map(|helper| format!("{DOMAIN}_{helper}"));
    Some(format!("the helpers of what a kernel runs over are {}", names.join(", ")))
}

/// What the helper `name` takes.
pub fn takes(name: &str, axes: usize) -> Option<String> {
    match helper_of(name)? {
        "position" => Some(format!("{name} takes global_invocation_id, a vec3<u32>")),
        "workgroup" => Some(format!("{name} takes workgroup_id, a vec3<u32>")),
        "inside" => {
            let ty = Axes::new(axes, 0).ty();
            Some(format!(
                "{name} takes a position of type {ty}: the number of axes of what the kernel runs over is {axes}"
            ))
        }
        _ => None,
    }
}

/// The type of a workgroup's number.
fn workgroup_type(axes: usize) -> String {
    Axes::new(axes.min(3), 0).ty()
}

/// `domain_position`, `domain_inside`, `domain_extent`, `domain_workgroup`, as far as they are used; tells whether the
/// shared part of positions is needed. Geometry of the domain starts at vector `at`.
pub fn domain(out: &mut String, scan: &SourceScan, signature: &Signature, at: usize) -> bool {
    let [position, inside, extent, workgroup] =
        DOMAIN_HELPERS.map(|helper| scan.words.contains(&format!("{DOMAIN}_{helper}")));
    if signature.space == Space::Counted {
        let text = counted(at, signature.watch != Watch::Off);
        for (line, _) in text.iter().zip([position, inside, extent, workgroup]).filter(|(_, wanted)| *wanted) {
            let _ = writeln!(out, "{line}");
        }
        return false;
    }
    let axes = Axes::new(signature.domain_axes, at);
    let ty = axes.ty();
    if position {
        let step = format!("{GEOMETRY}[{at}].y");
        let first = |name: &str| axes.part(name, 0);
        let _ = writeln!(out, "fn {DOMAIN}_position($id: vec3<u32>) -> {ty} {{\n  var $p = $position($id);");
        let _ = writeln!(out, "  if {} != {NOWHERE} {{", first("$p"));
        if axes.count <= 4 {
            let _ = writeln!(out, "    $p -= {};", axes.geometry(Tuple::DomainLo));
        } else {
            for axis in 0..axes.count {
                let _ = writeln!(out, "    $p[{axis}] -= {};", axes.geometry_part(Tuple::DomainLo, axis));
            }
        }
        let _ = writeln!(out, "    {} /= {step};\n  }}\n  return $p;\n}}", first("$p"));
    }
    if inside {
        let test = axes.within("$p", None, Tuple::DomainExtent, 0);
        let _ = writeln!(out, "fn {DOMAIN}_inside($p: {ty}) -> bool {{ return {test}; }}");
    }
    if extent {
        let _ = writeln!(out, "fn {DOMAIN}_extent() -> {ty} {{ return {}; }}", axes.geometry(Tuple::DomainExtent));
    }
    if workgroup {
        let (ty, parts) = (workgroup_type(axes.count), &".xyz"[..1 + axes.count.min(3)]);
        let size = format!("{GEOMETRY}[{}].xyz", at + DomainMap::new(axes.count).workgroup);
        let _ = writeln!(out, "fn {DOMAIN}_workgroup($workgroup: vec3<u32>) -> {ty} {{");
        let _ = writeln!(out, "  let $first = $workgroup * vec3<u32>({size});\n  let $b = $box($first.z);");
        let _ = writeln!(out, "  let $e = {GEOMETRY}[$b];\n  let $i = vec3<i32>($first) - vec3<i32>(0, 0, $e.w);");
        let _ = writeln!(out, "  let $n = ($i + {GEOMETRY}[$b + 1u].xyz) / {size};");
        let outside = "any(vec3<u32>($i) >= vec3<u32>($e.xyz))";
        let _ = writeln!(out, "  return select($n{parts}, {}, {outside});\n}}", nowhere(axes.count.min(3)));
    }
    position || workgroup
}

/// The same of a counted domain, whose workgroups stand in rows along x, one after the other along z.
fn counted(at: usize, watched: bool) -> [String; 4] {
    let (args, size) = (format!("{COUNT}[1]"), format!("vec3<u32>({GEOMETRY}[{at}].xyz)"));
    let nowhere = nowhere(1);
    let noted = if watched { format!("{INVOCATION} = $id; {NOBODY} = $outside;\n  ") } else { String::new() };
    [
        format!(
            "fn {DOMAIN}_position($id: vec3<u32>) -> i32 {{\n  let $size = {size};\n  let $row = $id.z / $size.z;\n  \
             let $i = $id.x + $row * {args}.y;\n  \
             let $outside = ($id.y != 0u) | ($id.z != $row * $size.z) | ($i >= {args}.x);\n  \
             {noted}return select(i32($i), {nowhere}, $outside);\n}}"
        ),
        format!("fn {DOMAIN}_inside($p: i32) -> bool {{ return u32($p) < {args}.x; }}"),
        format!("fn {DOMAIN}_extent() -> i32 {{ return i32({args}.x); }}"),
        format!(
            "fn {DOMAIN}_workgroup($workgroup: vec3<u32>) -> i32 {{\n  let $n = $workgroup.x + $workgroup.z * {args}.z;\n  \
             return select(i32($n), {nowhere}, $n * {size}.x >= {args}.x);\n}}"
        ),
    ]
}
