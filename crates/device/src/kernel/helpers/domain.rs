//! Helpers of the domain: position of an invocation, and index of a workgroup.

use std::fmt::Write;

use super::access_report::{INVOCATION, IS_FILLER};
use super::axes::position_type;
use super::outside_position::{OUTSIDE_COORDINATE, outside_position};
use super::position::Positions;
use crate::kernel::geometry::{COUNT, DomainMap, Tuple};
use crate::kernel::scan::SourceScan;
use crate::kernel::signature::{BoxForm, Signature, Space};

/// Prefix of the names of the domain's helpers, before `_`.
const DOMAIN: &str = "domain";

pub(crate) const DOMAIN_HELPER_SUFFIXES: [&str; 4] = ["position", "inside", "extent", "workgroup"];

/// Returns the suffix of a domain helper's name; `None` for other names.
fn helper_of(name: &str) -> Option<&str> {
    name.strip_prefix(DOMAIN)?.strip_prefix('_')
}

pub(crate) fn is_domain_helper(name: &str) -> bool {
    helper_of(name).is_some_and(|helper| DOMAIN_HELPER_SUFFIXES.contains(&helper))
}

/// Explains why a kernel with arrays of the names `arrays` cannot declare `name`; `None` if it can.
pub(super) fn taken(name: &str, arrays: &[&str]) -> Option<String> {
    if is_domain_helper(name) {
        return Some(format!(
            "`{name}` cannot be declared: it is the name of a helper of the domain; take another name"
        ));
    }
    (name == DOMAIN && arrays.contains(&name)).then(|| {
        format!(
            "`{name}` cannot be declared as an array: {name}_position and its like are helpers of the domain; \
             take another name"
        )
    })
}

/// Returns a list of the domain's helpers, for a name that begins like one but is not.
pub(super) fn explain_missing_helper(name: &str) -> Option<String> {
    helper_of(name)?;
    let names = DOMAIN_HELPER_SUFFIXES.map(|helper| format!("{DOMAIN}_{helper}"));
    Some(format!("the helpers of the domain are {}", names.join(", ")))
}

/// Returns the position type that the domain helper `name` expects, as an error text.
pub(super) fn expected_position_type(name: &str, axes: usize) -> Option<String> {
    match helper_of(name)? {
        "position" => Some(format!("{name} takes global_invocation_id, a vec3<u32>")),
        "workgroup" => Some(format!("{name} takes workgroup_id, a vec3<u32>")),
        "inside" => {
            let ty = position_type(axes);
            Some(format!("{name} takes a position of type {ty}: the number of axes of the domain is {axes}"))
        }
        _ => None,
    }
}

fn workgroup_type(axes: usize) -> String {
    position_type(axes.min(3))
}

/// Writes those of the helpers `domain_position`, `domain_inside`, `domain_extent` and
/// `domain_workgroup` that the kernel uses.
pub(super) fn domain(out: &mut String, scan: &SourceScan, signature: &Signature, positions: &Positions<'_>) {
    let [position, inside, extent, workgroup] =
        DOMAIN_HELPER_SUFFIXES.map(|helper| scan.words.contains(&format!("{DOMAIN}_{helper}")));
    let Positions { axes, used, at, form, .. } = *positions;
    if signature.space == Space::Counted {
        let text = counted(&used.variable(at), positions.is_watched);
        for (line, _) in text.iter().zip([position, inside, extent, workgroup]).filter(|(_, wanted)| *wanted) {
            let _ = writeln!(out, "{line}");
        }
        return;
    }
    let ty = axes.ty();
    if position {
        let body = positions.domain_index().unwrap_or_else(|| from_position(positions));
        let _ = writeln!(out, "fn {DOMAIN}_position($id: vec3<u32>) -> {ty} {{\n{body}}}");
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
        let size = format!("{}.xyz", used.variable(at + DomainMap::new(axes.count).workgroup));
        let first = positions.box_vector(1);
        let _ = writeln!(out, "fn {DOMAIN}_workgroup($workgroup: vec3<u32>) -> {ty} {{");
        if form != BoxForm::Several {
            // Workgroups exist only inside the box.
            let _ = writeln!(out, "  let $n = vec3<i32>($workgroup) + {first}.xyz / {size};\n  return $n{parts};\n}}");
            return;
        }
        let _ = writeln!(out, "  let $first = $workgroup * vec3<u32>({size});\n  let $b = $box($first.z);");
        let _ = writeln!(
            out,
            "  let $e = {};\n  let $i = vec3<i32>($first) - vec3<i32>(0, 0, $e.w);",
            positions.box_vector(0)
        );
        let _ = writeln!(out, "  let $n = ($i + {first}.xyz) / {size};");
        let outside = "any(vec3<u32>($i) >= vec3<u32>($e.xyz))";
        let _ = writeln!(out, "  return select($n{parts}, {}, {outside});\n}}", outside_position(axes.count.min(3)));
    }
}

/// Returns WGSL that computes the index in the domain from the position.
fn from_position(positions: &Positions<'_>) -> String {
    let (axes, first) = (positions.axes, positions.axes.part("$p", 0));
    let mut text = format!("  var $p = $position($id);\n  if {first} != {OUTSIDE_COORDINATE} {{\n");
    if axes.count <= 4 {
        let _ = writeln!(text, "    $p -= {};", axes.geometry(Tuple::DomainLo));
    } else {
        for axis in 0..axes.count {
            let _ = writeln!(text, "    $p[{axis}] -= {};", axes.geometry_part(Tuple::DomainLo, axis));
        }
    }
    let step = positions.used.variable(positions.at);
    text + &format!("    {first} /= {step}.y;\n  }}\n  return $p;\n")
}

/// Returns the helpers of a counted domain. Its workgroups are arranged in rows along x, stacked
/// along z.
fn counted(workgroup: &str, watched: bool) -> [String; 4] {
    let (args, size) = (format!("{COUNT}[1]"), format!("vec3<u32>({workgroup}.xyz)"));
    let outside_all = outside_position(1);
    let noted = if watched { format!("{INVOCATION} = $id; {IS_FILLER} = $outside;\n  ") } else { String::new() };
    [
        format!(
            "fn {DOMAIN}_position($id: vec3<u32>) -> i32 {{\n  let $size = {size};\n  let $row = $id.z / $size.z;\n  \
             let $i = $id.x + $row * {args}.y;\n  \
             let $outside = ($id.y != 0u) | ($id.z != $row * $size.z) | ($i >= {args}.x);\n  \
             {noted}return select(i32($i), {outside_all}, $outside);\n}}"
        ),
        format!("fn {DOMAIN}_inside($p: i32) -> bool {{ return u32($p) < {args}.x; }}"),
        format!("fn {DOMAIN}_extent() -> i32 {{ return i32({args}.x); }}"),
        format!(
            "fn {DOMAIN}_workgroup($workgroup: vec3<u32>) -> i32 {{\n  let $n = $workgroup.x + $workgroup.z * {args}.z;\n  \
             return select(i32($n), {outside_all}, $n * {size}.x >= {args}.x);\n}}"
        ),
    ]
}
