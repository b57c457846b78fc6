use super::*;

#[test]
fn count_accepts_only_whole_numbers_from_1_to_65536() {
    assert_eq!(count("4").unwrap(), 4);
    for text in ["0", "-1", "x", "", "1e3", "65537", "99999999999999999999"] {
        assert!(count(text).is_err(), "{text:?}");
    }
}

#[test]
fn command_for_threads_sets_the_variable_and_for_mpi_needs_mpi() {
    let context = Context::new().unwrap();
    let command = command(&context, Path::new("volume"), Ranks::Threads(4)).unwrap();
    assert!(command.get_envs().any(|(name, value)| name == "ZIPPY_RANKS" && value == Some("4".as_ref())));
    assert!(super::command(&context, Path::new("volume"), Ranks::Mpi(2)).is_err());
}
