//! What Cargo says.

use super::*;

#[test]
fn programs_are_read_from_messages() {
    let message = |kind: &str, test: &str, executable: &str| {
        format!(
            r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"volume"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
        )
    };
    let example = built(&message("example", "false", r#""/t/volume""#)).unwrap();
    assert_eq!(example, Built { name: "volume".into(), kind: "example".into(), path: "/t/volume".into() });
    assert_eq!(built(&message("lib", "true", r#""/t/zippy-1""#)).unwrap().kind, "unittest");
    assert_eq!(built(&message("bench", "true", r#""/t/b""#)).unwrap().kind, "bench");
    assert_eq!(built(&message("lib", "false", "null")), None);
    assert_eq!(built("   Compiling"), None);
}

#[test]
fn targets_are_read_from_metadata() {
    let package = serde_json::json!({
        "name": "zippy-ga",
        "features": { "mpi": [] },
        "targets": [{ "kind": ["test"], "name": "kernels" }, { "kind": ["lib"], "name": "zippy" }],
    });
    let found = targets(&package, "test");
    assert_eq!(found, [Target { name: "kernels".into(), package: "zippy-ga".into(), has_mpi: true }]);
    assert!(targets(&Value::Null, "test").is_empty());
}

#[test]
fn search_paths() {
    assert_eq!(prepend("/a", None), "/a");
    assert_eq!(prepend("/a", Some("/b:/c")), "/a:/b:/c");
}
