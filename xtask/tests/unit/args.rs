use super::*;

const HELP: &str = "\
cargo xtask mpi [OPTIONS] [-- ARGUMENTS]

    -n in a sentence, or --size, is no flag.

  -n N        ranks
  --size WxH  of the picture
  --dev       quick build
{setup}";

fn parse_line(line: &str) -> Result<Parsed, String> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    parse("mpi", HELP, &words).map(|parsed| parsed.expect("help was not asked for")).map_err(|error| error.to_string())
}

#[test]
fn flags_values_and_arguments_after_dashes_are_parsed() {
    let parsed = parse_line("-n 4 --dev --size=2x2 --yes -- --size 8x8 -- x").unwrap();
    assert_eq!((parsed.get("-n"), parsed.get("--size")), (Some("4"), Some("2x2")));
    assert!(parsed.has("--dev") && parsed.has("--yes") && !parsed.has("--no-setup"));
    assert_eq!(parsed.rest, ["--size", "8x8", "--", "x"]);
    assert_eq!(parse_line("-n 4 -n 5").unwrap().get("-n"), Some("5"));
    assert_eq!(parse_line("-n 4 -n 5").unwrap().all("-n"), ["4", "5"]);
}

#[test]
fn wrong_command_line_is_an_error_with_a_hint() {
    assert!(parse_line("--devv").unwrap_err().contains("did you mean \"--dev\"?"));
    assert!(parse_line("--other").unwrap_err().contains("go after `--`"));
    assert!(parse_line("--other").unwrap_err().contains("There are: -n --size --dev --yes --no-setup --help\n"));
    for missing in ["-n", "-n --"] {
        assert_eq!(parse_line(missing).unwrap_err(), "missing argument for option '-n'");
    }
    assert_eq!(parse_line("--dev=1").unwrap_err(), "unexpected argument for option '--dev': \"1\"");
    assert!(parse_line("stray").is_err());
}

#[test]
fn help_flag_returns_none() {
    for word in ["-h", "--help"] {
        assert_eq!(parse("mpi", HELP, &[word.into()]).unwrap(), None);
    }
}

#[test]
fn unknown_name_suggests_similar_known_name() {
    let known = ["bench", "demo"];
    assert_eq!(
        unknown("command", "banch", &known),
        "there is no command \"banch\"; did you mean \"bench\"?\nThere are: bench demo"
    );
    assert_eq!(unknown("command", "zzzzz", &known), "there is no command \"zzzzz\"\nThere are: bench demo");
}
