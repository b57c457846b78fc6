//! Tests that compare calls in parts with calls as a whole, for kernels with an access range that
//! is hard to infer, and for random kernels.

use std::rc::Rc;

use super::binding::Binding;
use super::handle::Kernel;
use super::pipeline::MAX_GROUPS;
use super::prepare::Work;
use super::random_kernels::random_kernel;
use super::source::KernelSource;
use crate::device::{ChunkBuffer, Device, DeviceOptions, Lease, PackedBox, StridedBox};
use crate::element::Element;
use crate::extents::Index;
use crate::region::Region;

/// Binding limit of the test device, in bytes: 14 rows, so that chunks have several windows.
const BINDING_LIMIT_BYTES: u64 = 4096;

/// Two chunks `x` and `y` on one device. The cells of `x` differ from each other.
struct Chunks {
    device: Rc<Device>,
    x: ChunkBuffer,
    y: ChunkBuffer,
}

fn storage() -> Region {
    Region::new(&[-4, -8], &[68, 208]).unwrap()
}

impl Chunks {
    fn new(binding_limit_bytes: Option<u64>) -> Self {
        let device = Device::open(&DeviceOptions { binding_limit_bytes, ..Default::default() }).unwrap();
        let buffer = || device.storage_buffer(4 * storage().cells(), "cells").unwrap();
        let chunks = Self { x: buffer(), y: buffer(), device: device.clone() };
        let cells: Vec<u32> = (0..storage().cells() as u32).map(|n| n.wrapping_mul(2_654_435_761) >> 7).collect();
        device.scatter(4, bytemuck::cast_slice(&cells), &[whole(&chunks.x)]).unwrap();
        chunks
    }

    /// Runs a kernel in parts or as a whole; returns the cells of `y`. With `parts`, returns `None`
    /// for a call with a single part.
    fn run(&self, text: &str, parts: bool) -> Option<Vec<u32>> {
        let all = storage().cells() as usize;
        self.device.scatter(4, &vec![0; 4 * all], &[whole(&self.y)]).unwrap();
        let kernel = Kernel::new(&self.device, &KernelSource::text("test.wgsl", text.to_owned())).unwrap();
        let binding = |buffer: &ChunkBuffer| binding(buffer, storage(), section());
        let call = kernel.call().read("x", binding(&self.x)).update("y", binding(&self.y));
        if parts {
            let prepared = call.prepare().unwrap_or_else(|error| panic!("{error}\n{text}"));
            let Work::Parts(parts) = &prepared.work else { panic!("{text}") };
            if parts.len() == 1 {
                return None;
            }
        }
        call.run().unwrap_or_else(|error| panic!("{error}\n{text}"));
        let staged = self.device.gather(4, &[whole(&self.y)], 4 * all as u64).unwrap();
        Some(bytemuck::pod_collect_to_vec(staged.as_ref()))
    }
}

/// With more parts, a call would exceed the cache of bind groups and create its groups again each
/// time.
#[test]
fn calls_of_many_parts_run_as_a_whole() {
    let device =
        Device::open(&DeviceOptions { binding_limit_bytes: Some(BINDING_LIMIT_BYTES), ..Default::default() }).unwrap();
    let kernel = Kernel::new(&device, &KernelSource::text("test.wgsl", kernel("s = x_load(p);"))).unwrap();
    // A row has the size of a binding, so each row is a part.
    let parts = |rows: i64| {
        let region = Region::new(&[0, 0], &[BINDING_LIMIT_BYTES as i64 / 4, rows]).unwrap();
        let buffer = || device.storage_buffer(4 * region.cells(), "cells").unwrap();
        let binding = |buffer: &ChunkBuffer| binding(buffer, region, region);
        let call = kernel.call().read("x", binding(&buffer())).write("y", binding(&buffer()));
        match call.prepare().unwrap().work {
            Work::Parts(parts) => parts.len(),
            Work::Counted { .. } => 0,
        }
    };
    assert_eq!(parts(MAX_GROUPS as i64 / 2), MAX_GROUPS / 2);
    assert_eq!(parts(MAX_GROUPS as i64 / 2 + 1), 1);
}

fn whole(buffer: &ChunkBuffer) -> PackedBox<'_> {
    let view = StridedBox { offset: 0, extents: Index::from([storage().cells() as i64]), strides: Index::from([1]) };
    PackedBox { buffer, view, payload_offset: 0 }
}

fn section() -> Region {
    Region::new(&[0, 0], &[64, 200]).unwrap()
}

fn binding(buffer: &ChunkBuffer, storage: Region, section: Region) -> Binding {
    Binding {
        buffer: Some(Lease::new(buffer)),
        element: &u32::INFO,
        storage,
        section,
        owned: section,
        shape: section.extents(),
        label: "cells".into(),
        error: None,
        domain: None,
        history: None,
    }
}

/// Returns the text of a kernel with these statements. Its function `cell` loads a cell at any
/// position.
pub(super) fn kernel(statements: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
fn cell(q: vec2<i32>) -> u32 {{
  if all(q >= vec2(-4, -8)) & all(q < vec2(68, 208)) {{ return x_load(q); }}
  return 7u;
}}
fn moved(q: vec2<i32>, d: i32) -> vec2<i32> {{ return vec2(q.x, q.y + d % 3); }}
fn move_by(q: ptr<function, vec2<i32>>, d: i32) {{ (*q).y += d; }}
fn own(id: vec3<u32>) -> vec2<i32> {{ return y_position(id); }}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
  let p = y_position(id);
  if !y_inside(p) {{ return; }}
  var s = 1u;
{statements}
  y_store(p, s);
}}
"
    )
}

/// True if the kernel runs in parts; asserts that its results are those of a call as a whole.
fn runs_in_parts(in_parts: &Chunks, as_a_whole: &Chunks, text: &str) -> bool {
    let Some(found) = in_parts.run(text, true) else { return false };
    assert!(as_a_whole.run(text, false).as_ref() == Some(&found), "parts differ from the whole:\n{text}");
    true
}

#[test]
fn stencils_run_in_parts_and_kernels_that_reach_further_do_not() {
    let (in_parts, as_a_whole) = (Chunks::new(Some(BINDING_LIMIT_BYTES)), Chunks::new(None));
    for (statements, expected) in [
        ("s += cell(p + vec2(0, 3));", true),
        ("for (var k = 3u; k > 0u; k--) { s = 31u * s + cell(own(id) + vec2(0, i32(k))); }", true),
        ("for (var k = -4; k <= 4; k += 2) { if p.x % 3 == 0 { continue; } s = 31u * s + cell(moved(p, k)); }", true),
        // Each case of a switch begins with the variables before the switch.
        ("var q = p; switch p.x % 2 { case 0: { q = p + vec2(0, 8); } default: { s += cell(q); } }", false),
        ("var q = p; switch p.x % 2 { case 0: { q.y += 2; s += cell(p); } default: { q = p; s += cell(q); } }", true),
        // Positions of other invocations.
        ("s += cell(y_position(id + vec3(0u, 8u, 0u)) - vec2(0, 8));", false),
        ("s += cell(y_position(vec3(id.x, id.y / 8u * 8u, id.z)));", false),
        ("s += cell(own(vec3(id.xy, id.z)));", false),
        ("s += cell(p) + id.x + 64u * id.y;", false),
        ("s += cell(p); if id.y > 100u { s += 1u; }", false),
        ("s += cell(p); let position = domain_position(id); s += u32(position.y);", true),
        // Variables at a `continue`.
        (
            "var q = p; var k = 0;
             loop {
               if k < 3 {} else { break; }
               if k == 1 { q = vec2(p.x, 8); continue; }
               q = p;
               continuing { s = 31u * s + cell(q); k += 1; }
             }",
            false,
        ),
        (
            "var k = 0;
             loop {
               if k < 3 {} else { { if p.x % 2 == 0 { s += 1u; if s % 64u < 40u { continue; } } } break; }
               s = 31u * s + cell(p + vec2(0, k));
               continuing { k += 1; }
             }",
            false,
        ),
        // Unsigned numbers that wrap.
        ("for (var k = 0u; k < 4u; k++) { s += cell(p + vec2(0, i32(max(k - 8u, 0u)))); }", false),
        ("for (var k = 0u; k < 4u; k++) { s += cell(p + vec2(0, i32((k - 1u) % 8u))); }", false),
        ("for (var k = 0u; k < 4u; k++) { s += cell(p + vec2(0, i32((k - 1u) / 2u))); }", false),
        ("for (var k = 8u; k < 12u; k++) { s += cell(p + vec2(0, i32(max((k - 8u) % 3u, 1u)))); }", true),
        ("for (var k = 3u; k >= 0u; k--) { if s > 9u { break; } s += 1u + cell(p + vec2(0, i32(k))); }", false),
        ("for (var k = 9u; k > 2u; k -= 3u) { if s > 9u { break; } s += 1u + cell(p + vec2(0, i32(k))); }", true),
        ("for (var k = 8u; k > 0u; k -= 3u) { if s > 9u { break; } s += 1u + cell(p + vec2(0, i32(k))); }", false),
        ("var n = 2u; for (var k = n - 3u; k < 4u; k++) { s += cell(p + vec2(0, i32(k))); }", false),
        (
            "for (var k = 2147483640; k <= 2147483647; k++) { s += cell(p + vec2(0, k % 8)); if s > 9u { break; } }",
            false,
        ),
        // Counters that are loaded outside of the loop's condition.
        (
            "var i = 0; let first = i;
             for (; first < 4; i += 1) { if i > 7 { break; } s += cell(p - vec2(0, i)); }",
            false,
        ),
        (
            "var i = 9; let before = i; i = 0;
             loop { if i < 12 {} else { break; } s += cell(p - vec2(0, i)); continuing { i = before + 1; } }",
            false,
        ),
    ] {
        assert_eq!(runs_in_parts(&in_parts, &as_a_whole, &kernel(statements)), expected, "{statements}");
    }
}

#[test]
fn random_kernels_have_the_same_results_in_parts_and_as_a_whole() {
    let (in_parts, as_a_whole) = (Chunks::new(Some(BINDING_LIMIT_BYTES)), Chunks::new(None));
    let kernels = (0..KERNELS).map(|seed| kernel(&random_kernel(seed)));
    let compared = kernels.filter(|text| runs_in_parts(&in_parts, &as_a_whole, text)).count();
    assert!(compared as u64 > KERNELS / 10, "{compared} kernels of {KERNELS} ran in parts");
}

const KERNELS: u64 = 220;
