//! Command line of a benchmark.

use clap::{Args, Command, FromArgMatches, Parser};

/// Command-line options of a benchmark.
#[derive(Debug, Clone, Parser)]
pub(crate) struct Options {
    /// Samples of each case.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    samples: u32,
    /// Approximate limit for the duration of a case, in seconds.
    #[arg(long, default_value_t = 30.0)]
    case_secs: f64,
    /// Run only the cases whose name contains this text.
    #[arg(long, default_value = "")]
    only: String,
    /// Passed by `cargo bench` and ignored.
    #[arg(long, hide = true)]
    bench: bool,
}

impl Options {
    /// Parses the command line of the benchmark `name`, or prints its help and exits.
    pub(crate) fn parse(name: &'static str, about: &'static str) -> Self {
        let more = "ZIPPY_RANKS=n runs n ranks as threads; an MPI launcher runs them as processes. The results are \
                    written as JSON to the file in ZIPPY_BENCH_OUT.";
        let command = Options::augment_args(Command::new(name).about(about).after_help(more));
        // In the bundle, the command line belongs to the containing program.
        let matches = match std::env::var("ZIPPY_BENCH_ARGS") {
            Ok(words) => command.get_matches_from([name].into_iter().chain(words.split_whitespace())),
            Err(_) => command.get_matches(),
        };
        Options::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    pub(crate) fn samples(&self) -> usize {
        self.samples as usize
    }

    pub(crate) fn case_secs(&self) -> f64 {
        self.case_secs
    }

    pub(crate) fn selects(&self, case: &str) -> bool {
        case.contains(&self.only)
    }

    /// True if the text of `--only` contains `part`: enables cases that take minutes.
    pub(crate) fn filter_contains(&self, part: &str) -> bool {
        self.only.contains(part)
    }
}
