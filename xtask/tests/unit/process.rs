use super::*;

#[test]
fn commands_are_quoted_for_a_shell() {
    let mut command = Command::new("/usr/bin/mpirun");
    command
        .env_remove("GONE")
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("A", "1")
        .args(["-n", "4", "it's", ""]);
    assert_eq!(spell_out(&command), r#"A=1 /usr/bin/mpirun -n 4 'it'\''s' ''"#);
}

#[cfg(unix)]
#[test]
fn exit_code_of_failure_is_never_zero() {
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(exit_code(ExitStatus::from_raw(0)), 0);
    assert_eq!(exit_code(ExitStatus::from_raw(3 << 8)), 3);
    assert_eq!(exit_code(ExitStatus::from_raw(9)), 137);
}
