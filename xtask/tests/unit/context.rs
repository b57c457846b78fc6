use super::*;

#[test]
fn cargo_message_about_an_executable_is_parsed_others_are_skipped() {
    let message = |kind: &str, test: &str, executable: &str| {
        format!(
            r#"{{"reason":"compiler-artifact","target":{{"kind":["{kind}"],"name":"volume"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
        )
    };
    let example = parse_artifact(&message("example", "false", r#""/t/volume""#)).unwrap();
    assert_eq!(example, BuiltProgram { name: "volume".into(), kind: "example".into(), path: "/t/volume".into() });
    assert_eq!(parse_artifact(&message("bench", "true", r#""/t/b""#)).unwrap().kind, "bench");
    assert_eq!(parse_artifact(&message("lib", "false", "null")), None);
    assert_eq!(parse_artifact("   Compiling"), None);
}

#[test]
fn environment_of_children_lacks_variables_of_xtask_and_has_those_of_drivers() {
    let context = Context::new().unwrap();
    assert!(context.root.join("xtask").is_dir());
    assert!(context.machine.vars.keys().all(|name| !name.starts_with("CARGO_PKG_")));
    assert!(context.machine.var("NODEVICE_SELECT").is_some());
}
