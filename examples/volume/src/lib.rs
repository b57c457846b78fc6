//! Sort-last volume rendering on several ranks (section 5.1 of the paper).
//!
//! The program `volume` and its tests use this library. `volume --help` describes the options.
#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "a library for the program and its tests only")]

pub mod appearance;
#[path = "../../support/arrays.rs"]
pub mod arrays;
pub mod choices;
pub mod clock;
pub mod compile;
pub mod cut;
#[path = "../../support/interrupt.rs"]
pub mod interrupt;
pub mod irregular_cuts;
pub mod isosurface;
pub mod job;
pub mod keyframes;
pub mod measurements;
pub mod movie;
pub mod options;
pub mod output;
pub mod parse;
pub mod phase;
pub mod picture_setup;
pub mod picture_writer;
pub mod pose;
#[path = "../../support/raw_input.rs"]
pub mod raw_input;
pub mod report;
#[path = "../../support/say.rs"]
pub mod say;
pub mod scene;
#[path = "../../support/sizes.rs"]
pub mod sizes;
pub mod source;
#[path = "../../support/units.rs"]
pub mod units;
pub mod value_mapping;
#[cfg_attr(not(feature = "view"), path = "no_view.rs")]
pub mod view;
pub mod viewer_setup;
#[allow(unreachable_pub, reason = "shared by programs and libraries")]
#[path = "../../support/words.rs"]
mod words;

use std::path::Path;
use std::time::Instant;

use zippy::{Config, Error, Result};
use zippy_io::image::{Difference, difference_8bit};
use zippy_io::png;

use cut::Decomposition;
use job::Job;
use options::Options;
use report::Outcome;
use say::{complain, say};
use scene::Rendered;

/// Renders the volume, makes the comparisons that the options request, and prints the report.
///
/// Returns false if `--compare-single` finds a difference above its bound.
///
/// # Errors
/// A failure of any rank; files that cannot be read or written.
pub fn run(options: &Options) -> Result<bool> {
    let started = Instant::now();
    let job = Job { options, decomposition: options.decomposition(), write: true, link: None, started };
    if options.view {
        return view::run("Zippy volume", |link| render_on_ranks(&Job { link: Some(link), ..job }).map(drop))
            .map(|()| true);
    }
    let rendered = render_on_ranks(&job)?;
    // Under MPI only one process has the picture.
    let Some(rendered) = rendered.into_iter().flatten().next() else { return Ok(true) };
    let total_secs = started.elapsed().as_secs_f64();
    let single = options.check.compare_single.then(|| compare_single(options, &rendered)).transpose()?;
    let reference = match &options.check.reference {
        None => None,
        Some(path) => Some((path.display().to_string(), compare_file(&rendered, path)?)),
    };
    let outcome = Outcome {
        size: (rendered.image.width, rendered.image.height),
        output: options.output().name(),
        total_secs,
        single,
        reference,
    };
    let text = rendered.report.text(&outcome);
    if options.check.json {
        complain(text);
        say(rendered.report.json(&outcome))?;
    } else {
        say(text)?;
    }
    Ok(rendered.report.passes(&outcome))
}

/// Runs a job on all ranks and returns the result of each rank in this process.
fn render_on_ranks(job: &Job<'_>) -> Result<Vec<Option<Rendered>>> {
    let config = job.options.config().exit_on_failure(!job.options.check.verbose);
    zippy::run_with(config, |world| job.run(world))
}

/// Renders the volume again on one rank in a separate world, uncut as far as buffers allow, and
/// compares the two pictures.
fn compare_single(options: &Options, rendered: &Rendered) -> Result<Difference> {
    let job = Job { options, decomposition: Decomposition::WHOLE, write: false, link: None, started: Instant::now() };
    let single = zippy::run_with(Config::apart(1), |world| job.run(world))?.into_iter().flatten().next();
    let single = single.ok_or_else(|| Error::program("the single rank returned no picture"))?;
    Ok(rendered.image.difference(&single.image)?)
}

/// Compares the picture over its background with an 8-bit PNG file of the same size.
fn compare_file(rendered: &Rendered, path: &Path) -> Result<Difference> {
    let reference = png::read(path, Some((rendered.image.width, rendered.image.height)))?;
    Ok(difference_8bit(&rendered.image.over_background(rendered.background), &reference.bytes))
}
