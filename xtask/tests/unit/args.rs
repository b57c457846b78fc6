//! Command lines are read by the help alone.

use super::*;

const HELP: &str = "\
cargo xtask mpi [OPTIONS] [-- ARGUMENTS]

    -n in a sentence, or --size, is no flag.

  -n N        ranks
  --size WxH  of the picture
  --dev       quick build
{setup}";

fn read(line: &str) -> Result<Parsed, String> {
    let words: Vec<String> = line.split_whitespace().map(String::from).collect();
    parse("mpi", HELP, &words).map(|parsed| parsed.expect("help was not asked for"))
}

#[test]
fn values_switches_and_the_rest() {
    let parsed = read("-n 4 --dev --size=2x2 --yes -- --size 8x8 -- x").unwrap();
    assert_eq!((parsed.get("-n"), parsed.get("--size")), (Some("4"), Some("2x2")));
    assert!(parsed.has("--dev") && parsed.has("--yes") && !parsed.has("--no-setup"));
    assert_eq!(parsed.rest, ["--size", "8x8", "--", "x"]);
    assert_eq!(read("-n 4 -n 5").unwrap().get("-n"), Some("5"));
    assert_eq!(read("-n 4 -n 5").unwrap().all("-n"), ["4", "5"]);
}

#[test]
fn mistakes_are_explained() {
    assert!(read("--devv").unwrap_err().contains("did you mean \"--dev\"?"));
    assert!(read("--other").unwrap_err().contains("go after `--`"));
    assert!(read("--other").unwrap_err().contains("There are: -n --size --dev --yes --no-setup --help\n"));
    for missing in ["-n", "-n --"] {
        assert_eq!(read(missing).unwrap_err(), "missing argument for option '-n'");
    }
    assert_eq!(read("--dev=1").unwrap_err(), "unexpected argument for option '--dev': \"1\"");
    assert!(read("stray").is_err());
}

#[test]
fn help_is_no_command_line() {
    for word in ["-h", "--help"] {
        assert_eq!(parse("mpi", HELP, &[word.into()]), Ok(None));
    }
}

#[test]
fn names_that_are_close() {
    let known = ["bench", "demo"];
    assert_eq!(
        unknown("command", "banch", &known),
        "there is no command \"banch\"; did you mean \"bench\"?\nThere are: bench demo"
    );
    assert_eq!(unknown("command", "zzzzz", &known), "there is no command \"zzzzz\"\nThere are: bench demo");
}
