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
    assert_eq!(built(&message("bench", "true", r#""/t/b""#)).unwrap().kind, "bench");
    assert_eq!(built(&message("lib", "false", "null")), None);
    assert_eq!(built("   Compiling"), None);
}

#[test]
fn children_do_not_hear_of_xtask_and_have_what_drivers_ask_for() {
    let context = Context::new().unwrap();
    assert!(context.root.join("xtask").is_dir());
    assert!(context.machine.vars.keys().all(|name| !name.starts_with("CARGO_PKG_")));
    assert!(context.machine.var("NODEVICE_SELECT").is_some());
}
