//! Tests that generated helpers are valid WGSL in every combination and for every array name.

use std::collections::BTreeSet;

use super::geometry::GeometryMap;
use super::helpers::{DOMAIN_HELPER_SUFFIXES, HELPER_SUFFIXES, WORDS, generate};
use super::program::{Program, capabilities};
use super::scan::scan;
use super::signature::{BoxForm, Signature, Space, VarShape, Watch};
use crate::element::Packed;
use crate::error::KernelError;
use crate::wgsl::{self, PREFIX, Tokens, WgslComposer, WgslModule, is_word};

fn all_caps() -> naga::valid::Capabilities {
    capabilities(wgpu::Features::all())
}

/// Returns a kernel that calls every helper of its array `x` and of the domain. Its own identifiers
/// cannot be names of arrays.
fn kernel_with_all_helpers(x: &str, cell: &str, atomic: bool, shape: VarShape, space: Space) -> String {
    let ty = if atomic { format!("atomic<{cell}>") } else { cell.to_owned() };
    let position = if space == Space::Cells { format!("{x}_position") } else { "domain_position".to_owned() };
    let mut text = format!(
        "@group(0) @binding(0) var<storage, read_write> {x}: array<{ty}>;\n\
         @compute @workgroup_size(64)\n\
         fn k_main(@builtin(global_invocation_id) k_id: vec3<u32>, @builtin(workgroup_id) k_w: vec3<u32>) {{\n \
         let k_p = {position}(k_id);\n let k_n = domain_workgroup(k_w);\n let k_e = domain_extent();\n \
         let k_d = domain_inside(domain_position(k_id));\n"
    );
    for helper in HELPER_SUFFIXES {
        let call = match helper {
            "position" | "store" | "store_word" => continue,
            "extent" | "shape" => format!("{x}_{helper}()"),
            "global_axis" => format!("{x}_{helper}(k_p, 0u)"),
            "inside_word" if shape.packed.is_none() => continue,
            "index" if shape.packed.is_some() => continue,
            _ => format!("{x}_{helper}(k_p)"),
        };
        text += &format!(" let k_{helper} = {call};\n");
    }
    text += &match (shape.packed, atomic) {
        (Some(Packed::U8 | Packed::I8), false) => format!(" {x}_store_word(k_p, vec4(k_load));\n"),
        (Some(_), false) => format!(" {x}_store_word(k_p, vec2(k_load));\n"),
        _ => format!(" {x}_store(k_p, k_load);\n"),
    };
    text + "}\n"
}

/// Returns every combination of cell type, atomic access and shape that helpers are generated for.
fn combinations() -> impl Iterator<Item = (&'static str, bool, VarShape)> {
    let kinds = [None, Some(Packed::U8), Some(Packed::I8), Some(Packed::U16), Some(Packed::I16)];
    let mut cases: Vec<_> = kinds.iter().flat_map(|&p| [("u32", false, p), ("u32", true, p)]).collect();
    cases.extend([("vec4<f32>", false, None), ("f64", false, None), ("i32", true, None)]);
    (1..=7).flat_map(|axes| [(axes, 1), (axes, 3)]).flat_map(move |(axes, windows)| {
        let shaped = move |(cell, atomic, packed)| (cell, atomic, VarShape { axes, packed, windows });
        cases.clone().into_iter().map(shaped)
    })
}

fn signature(shape: VarShape, space: Space) -> Signature {
    // A checked run has all helpers of an unchecked run, so checked runs suffice.
    let (vars, geometries) = (vec![shape], vec![0]);
    let (boxes, watch, reports_stopped_loops) = (BoxForm::Several, Watch::FewBits, false);
    Signature { space, domain_axes: shape.axes, boxes, vars, geometries, watch, reports_stopped_loops }
}

/// Returns the index spaces of the invocations for an array of this shape. A counted domain has one
/// axis.
fn spaces(shape: VarShape) -> impl Iterator<Item = Space> {
    [Space::Cells, Space::Separate].into_iter().chain((shape.axes == 1).then_some(Space::Counted))
}

const BOX_FORMS: [BoxForm; 3] = [BoxForm::OneInOrder, BoxForm::One, BoxForm::Several];

#[test]
fn helpers_are_valid_for_every_number_of_axes_kind_of_cell_and_window() {
    for (cell, atomic, shape) in combinations() {
        for space in spaces(shape) {
            let text = kernel_with_all_helpers("x", cell, atomic, shape, space);
            let program = Program::new("test.wgsl", &text, false, all_caps()).unwrap();
            for boxes in BOX_FORMS {
                let signature = Signature { boxes, ..signature(shape, space) };
                if let Err(fault) = program.complete(&signature, None, all_caps()) {
                    panic!("{signature:?} {cell} {atomic}: {fault:?}\n{text}\n{}", generated(&text, &signature));
                }
            }
        }
    }
}

/// The test also calls each helper at a constant position: the index then depends on the geometry
/// only.
#[test]
fn helpers_branch_on_no_parameter_alone() {
    for (cell, atomic, shape) in combinations() {
        for (space, watch) in
            spaces(shape).flat_map(|space| [Watch::Off, Watch::FewBits, Watch::ManyBits].map(|watch| (space, watch)))
        {
            let mut text = kernel_with_all_helpers("x", cell, atomic, shape, space);
            text = text.replace("\n let k_n =", &format!("\n let k_c = {};\n let k_n =", zero_position(shape.axes)));
            let at_constant: Vec<_> =
                text.lines().filter(|line| line.contains("(k_p")).map(use_at_zero_position).collect();
            text = text.replace("}\n", &format!("{}\n}}\n", at_constant.join("\n")));
            let program = Program::new("test.wgsl", &text, false, all_caps()).unwrap();
            let forms = if watch == Watch::Off { &BOX_FORMS[..] } else { &BOX_FORMS[2..] };
            for &boxes in forms {
                let signature = Signature { watch, boxes, ..signature(shape, space) };
                let complete = program.complete(&signature, None, all_caps()).unwrap();
                let found = wgsl::parameter_branches(&complete.parsed.module, &complete.text);
                assert!(found.is_empty(), "{signature:?} {cell} {atomic}: {found:#?}");
            }
        }
    }
}

fn zero_position(axes: usize) -> String {
    match axes {
        1 => "0".to_owned(),
        2..=4 => format!("vec{axes}<i32>(0)"),
        _ => format!("array<i32, {axes}>()"),
    }
}

/// Returns a line of [`kernel_with_all_helpers`] at the constant zero position, with other
/// identifiers.
fn use_at_zero_position(line: &str) -> String {
    line.replace("(k_p", "(k_c")
        .replace("let k_", "let k_c_")
        .replace("(k_load)", "(k_c_load)")
        .replace(", k_load", ", k_c_load")
}

fn generated(text: &str, signature: &Signature) -> String {
    generate(&scan(text), signature, &GeometryMap::new(signature), 1)
}

/// All identifiers in the helpers of the array `x`, except keywords and vector members.
fn identifiers() -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let each = |(cell, atomic, shape)| spaces(shape).map(move |space| (cell, atomic, shape, space));
    for (cell, atomic, shape, space) in combinations().flat_map(each) {
        let text = generated(&kernel_with_all_helpers("x", cell, atomic, shape, space), &signature(shape, space));
        let tokens = Tokens::new(&text);
        for i in 0..tokens.count() {
            let behind = |token: &str| i > 0 && tokens.get(i - 1) == token;
            if is_word(tokens.get(i)) && !behind(".") && !behind("@") {
                found.insert(tokens.get(i).to_owned());
            }
        }
    }
    found.retain(|word| !naga::keywords::wgsl::RESERVED.contains(&word.as_str()));
    found
}

#[test]
fn helpers_use_only_names_that_kernels_cannot_declare() {
    let of_domain = DOMAIN_HELPER_SUFFIXES.iter().map(|helper| format!("domain_{helper}"));
    let helpers: Vec<_> = HELPER_SUFFIXES.iter().map(|helper| format!("x_{helper}")).chain(of_domain).collect();
    let mut words = BTreeSet::new();
    for name in identifiers() {
        if !name.starts_with(PREFIX) && name != "x" && !helpers.contains(&name) {
            words.insert(name);
        }
    }
    // Expressions need all scalar types as well.
    words.extend(["f16", "f32", "f64", "i64", "u64", "read"].map(str::to_owned));
    assert_eq!(words.iter().map(String::as_str).collect::<Vec<_>>(), WORDS);
}

#[test]
fn every_array_name_works_or_is_an_error_at_its_declaration() {
    let mut names = identifiers();
    let without_prefix: Vec<_> = names.iter().filter_map(|name| name.strip_prefix(PREFIX)).map(str::to_owned).collect();
    names.extend(without_prefix);
    names.extend(HELPER_SUFFIXES.map(str::to_owned));
    names.extend(naga::keywords::wgsl::RESERVED.iter().map(|&word| word.to_owned()));
    names.extend(naga::keywords::wgsl::BUILTIN_IDENTIFIERS.iter().map(|&word| word.to_owned()));
    names.extend(["domain", "domain_", "__x", "_", "_x", "größe", "x_", "k", "lod"].map(str::to_owned));
    let mut works = BTreeSet::new();
    let shape = |axes, packed, windows| VarShape { axes, packed, windows };
    let shapes = [
        ("u32", false, shape(1, None, 1)),
        ("u32", false, shape(2, Some(Packed::I8), 2)),
        ("u32", true, shape(4, Some(Packed::U16), 2)),
        ("vec4<f32>", false, shape(5, None, 2)),
    ];
    for (number, name) in names.iter().enumerate() {
        // One shape per name: all combinations would take long.
        let (cell, atomic, shape) = shapes[number % 4];
        let text = kernel_with_all_helpers(name, cell, atomic, shape, Space::Cells);
        let column = text.find("> ").unwrap() + 3;
        match Program::new("test.wgsl", &text, false, all_caps()) {
            Ok(program) => {
                let complete = program.complete(&signature(shape, Space::Cells), None, all_caps());
                complete.unwrap_or_else(|fault| panic!("{name} {shape:?} {cell} {atomic}: {fault:?}"));
                works.insert(name.as_str());
            }
            Err(KernelError::Wgsl { line: 1, column: at, message, .. }) if at == column => {
                assert!(message.contains(&format!("`{name}`")), "{name}: {message}");
            }
            Err(error) => panic!("{name} {shape:?} {cell} {atomic}: {error}"),
        }
    }
    assert!(!works.contains("domain") && works.contains("domain_"), "{works:?}");
    for name in ["v", "p", "at", "bit", "i", "size", "id", "axis", "min", "max", "distance", "load", "x", "q"] {
        assert!(works.contains(name), "{name}: {works:?}");
    }
}

#[test]
fn names_of_helpers_cannot_be_declared_and_all_names_are_free_inside_functions() {
    let array = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n";
    let inside = "@compute @workgroup_size(64) fn k(@builtin(global_invocation_id) zippy_id: vec3<u32>) {\n\
                  let select = x_position(zippy_id); let zippy_p = select; let x_load = x_load(zippy_p); x_store(select, x_load);\n}\n";
    let new = |text: &str| Program::new("test.wgsl", text, false, all_caps());
    new(&format!("{array}{inside}")).unwrap();
    let declarations = [
        ("fn x_load(p: i32) -> f32 { return 0.0; }", 4),
        ("@group(0) @binding(1) var<storage> x_extent: array<f32>;", 36),
        ("struct vec3 { x: f32 }", 8),
        ("alias zippy_position = f32;", 7),
        ("const select = 1;", 7),
        ("override x_inside_word: u32 = 2u;", 10),
        ("var<private> zippy_geometry: u32;", 14),
        ("fn domain_position(id: vec3<u32>) -> i32 { return 0; }", 4),
        ("const domain_workgroup = 1;", 7),
        ("@group(0) @binding(1) var<storage> domain: array<f32>;", 36),
    ];
    for (declaration, column) in declarations {
        match new(&format!("{array}{declaration}\n{inside}")) {
            Err(KernelError::Wgsl { line: 2, column: at, message, .. }) if at == column => {
                assert!(message.contains("cannot be declared"), "{message}");
            }
            other => panic!("{declaration}: {other:?}"),
        }
    }
    // Names that only begin like a helper are allowed.
    new(&format!("{array}fn x_loaded() {{}} const x_ = 1; {inside}")).unwrap();
    new(&format!("{array}fn domain() {{}} const domain_shape = 1; {inside}")).unwrap();
}

#[test]
fn cells_that_hold_atomics_have_no_load() {
    let text = "struct Count { n: Inner } struct Inner { m: array<atomic<u32>, 2> }\n\
                @group(0) @binding(0) var<storage, read_write> x: array<Count>;\n\
                @compute @workgroup_size(64) fn k() { let c = x_load(1); }\n";
    match Program::new("test.wgsl", text, false, all_caps()) {
        Err(KernelError::Wgsl { line: 3, excerpt, .. }) => assert!(excerpt.contains("hold atomics"), "{excerpt}"),
        other => panic!("{other:?}"),
    }
}

/// A checked text cannot cause this fault, so the test disables the check of names.
#[test]
fn fault_in_generated_text_is_reported_as_such() {
    let text =
        kernel_with_all_helpers("select", "u32", false, VarShape { axes: 1, packed: None, windows: 1 }, Space::Cells);
    let shape = VarShape { axes: 2, packed: None, windows: 1 };
    let program = Program::new("test.wgsl", &text, true, all_caps());
    let program =
        program.unwrap_or_else(|_| Program { name: "test.wgsl".into(), text: text.clone(), scan: scan(&text) });
    let fault = program.complete(&signature(shape, Space::Cells), None, all_caps()).unwrap_err();
    match program.explain(&fault, &signature(shape, Space::Cells)) {
        KernelError::Generated { kernel, excerpt, .. } => assert!(kernel == "test.wgsl" && excerpt.contains("select")),
        other => panic!("{other}"),
    }
}

#[test]
fn fault_in_module_of_composed_text_has_file_and_line_of_module() {
    const MODULE: WgslModule = WgslModule::included("a/b.rs", "c.wgsl", "fn f() -> u32 {\n    return missing;\n}\n");
    let composer = WgslComposer::new().constant("ONE", 1_u32).generated("fn g() -> u32 { return ONE; }");
    let text = composer.module(MODULE).generated("@compute @workgroup_size(1) fn k() { _ = f() + g(); }").compose();
    match Program::new("test.wgsl", &text.unwrap(), true, all_caps()).map(drop).unwrap_err() {
        KernelError::Wgsl { file, line, excerpt, .. } => {
            assert_eq!((file.as_str(), line), ("a/c.wgsl", 2));
            assert!(excerpt.contains("2 |     return missing;"), "{excerpt}");
        }
        other => panic!("{other}"),
    }
}
