//! Tests of the composition of WGSL texts, and of its errors.

use super::composer::{WgslComposer, WgslModule, locate_line, tidy_path};

const LOAD: WgslModule = WgslModule::included(
    "crates/a/src/b/c.rs",
    "../../shaders/load.wgsl",
    "// $CELL is a type.\nfn load(p: i32) -> $CELL {\n    return $CELL(MOST);\n}\n",
);

fn composition_error(composer: WgslComposer) -> String {
    composer.compose().unwrap_err().to_string()
}

#[test]
fn parts_keep_their_order_and_lines_their_files() {
    let composer = WgslComposer::new().alias("T", "vec2<f32>").constant("MOST", 3_u32);
    let composer = composer.module(LOAD.define("CELL", "T")).generated("const A = 1;").enable("f16");
    let composer = composer.module(LOAD.define("CELL", "u32")).used_constants([("A", true), ("UNUSED", false)]);
    let text = composer.compose().unwrap();
    let module = |number: &str| {
        format!(
            "//# zippy module crates/a/shaders/load.wgsl\n// $CELL is a type.\n\
             fn load(p: i32) -> {number} {{\n    return {number}(MOST);\n}}\n//# zippy end\n"
        )
    };
    let expected = "enable f16;\nalias T = vec2<f32>;\nconst MOST = 3u;\n".to_owned()
        + &module("T")
        + "const A = 1;\n"
        + &module("u32")
        + "const A = true;\n";
    assert_eq!(text, expected);
    let located: Vec<_> =
        (1..=text.lines().count()).map(|line| locate_line(&text, line).map(|(_, line)| line)).collect();
    let in_file = [Some(1), Some(2), Some(3), Some(4)];
    assert_eq!(located[..4], [None; 4]);
    assert_eq!(located[4..8], in_file);
    assert_eq!(located[8..11], [None; 3]);
    assert_eq!(located[11..15], in_file);
    assert_eq!(located[15..], [None; 2]);
    assert_eq!(locate_line(&text, 6), Some(("crates/a/shaders/load.wgsl", 2)));
}

#[test]
fn comments_of_users_are_no_markers() {
    let text = "//######## Heat ########\n//# module\n//#region x\nfn f() {}\n";
    assert!((1..5).all(|line| locate_line(text, line).is_none()));
}

#[test]
fn placeholder_is_no_use_of_a_constant() {
    let found = composition_error(
        WgslComposer::new().constant("MOST", 1).constant("CELL", 1).module(LOAD.define("CELL", "u32")),
    );
    assert!(found.contains("no part of the text uses CELL"), "{found}");
}

#[test]
fn least_integer_is_a_constant() {
    let text = WgslComposer::new().constant("LEAST", i32::MIN).generated("fn f() -> i32 { return LEAST; }").compose();
    naga::front::wgsl::parse_str(&text.unwrap()).unwrap();
}

#[test]
fn paths_lose_parent_components() {
    assert_eq!(tidy_path("examples/add.rs", "../shaders/add.wgsl"), "shaders/add.wgsl");
    assert_eq!(tidy_path("add.rs", "../shaders/./add.wgsl"), "../shaders/add.wgsl");
}

#[test]
fn placeholder_without_define_names_file_and_line() {
    let found = composition_error(WgslComposer::new().constant("MOST", 1).module(LOAD));
    assert!(found.starts_with("crates/a/shaders/load.wgsl:2:20: nothing defines the placeholder $CELL"), "{found}");
    // Placeholders are whole words.
    let found = composition_error(WgslComposer::new().constant("MOST", 1).module(LOAD.define("CEL", "u32")));
    assert!(found.contains("placeholder $CELL"), "{found}");
}

#[test]
fn unused_define_names_call_site() {
    let line = line!() + 1;
    let module = LOAD.define("CELL", "u32").define("OTHER", "i32");
    let found = composition_error(WgslComposer::new().constant("MOST", 1).module(module));
    let expected = format!("{}:{line}:", file!());
    assert!(found.starts_with(&expected) && found.contains("load.wgsl has no placeholder $OTHER"), "{found}");
}

#[test]
fn unused_constant_names_call_site() {
    let line = line!() + 1;
    let composer = WgslComposer::new().constant("MOST", 1).constant("MOS", 2);
    let found = composition_error(composer.module(LOAD.define("CELL", "u32")));
    assert!(found.starts_with(&format!("{}:{line}:", file!())) && found.contains("uses MOS\n"), "{found}");
}

#[test]
fn constants_are_typed() {
    let composer = WgslComposer::new().constant("A", 7_u32).constant("B", -7).constant("C", true);
    let text =
        composer.constant("D", [1, -2, 3]).generated("fn f() { _ = A; _ = B; _ = C; _ = D; }").compose().unwrap();
    naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| panic!("{}", error.emit_to_string(&text)));
    assert!(text.starts_with("const A = 7u;\nconst B = i32(-7);\nconst C = true;\nconst D = vec3<i32>(1, -2, 3);\n"));
}
