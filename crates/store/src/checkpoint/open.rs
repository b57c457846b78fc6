//! Search for a whole generation: all ranks search together, and each reads a share of the bytes.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zippy::{Error, Result, World, trace};

use super::manifest::Manifest;
use super::names::{self, Generation};
use super::rank_exchange::{broadcast_bytes, broadcast_value, lowest_rank_error};
use super::stored::{check_lengths, files, mark_damaged, parse_manifest, read_manifest, read_state, unmark_damaged};
use zippy_files::FileError;
use zippy_files::checksum::ChecksumReader;

/// Damaged generation that [`latest`](super::Checkpoints::latest) has skipped.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PassedOver {
    /// Step of the generation.
    pub step: u64,
    /// Directory of the generation.
    pub directory: PathBuf,
    /// Damage, and the file that has it.
    pub reason: String,
}

#[derive(Serialize, Deserialize)]
struct Listing {
    directory: String,
    /// Steps and save numbers, latest first.
    generations: Vec<(u64, u64)>,
}

/// Generation whose bytes have all been checked.
pub(super) struct Opened {
    pub directory: PathBuf,
    pub manifest: Manifest,
    pub state: Option<Vec<u8>>,
    pub generation: Generation,
    /// Highest save number in the directory.
    pub last: u64,
    pub passed_over: Vec<PassedOver>,
}

/// Generations in a directory, latest first, and the directory's canonical path for all ranks.
/// Collective; errors name `call`.
fn list(world: &World, call: &str, parent: &Path) -> Result<(PathBuf, Vec<Generation>)> {
    let list = || -> std::result::Result<_, FileError> {
        let refused = |error: std::io::Error| FileError::system(parent, "list the directory", &error);
        let generations = names::generations(parent).map_err(refused)?;
        let absolute = if generations.is_empty() { Ok(parent.to_path_buf()) } else { std::fs::canonicalize(parent) };
        let unknown = || FileError::request(parent, "has a name, or lies in a directory, that is no Unicode");
        let directory = absolute.map_err(refused)?.to_str().ok_or_else(unknown)?.to_string();
        let generations = generations.into_iter().map(|generation| (generation.step, generation.number)).collect();
        Ok(Listing { directory, generations })
    };
    let listing = (world.rank() == 0).then(list).transpose().map_err(Error::from);
    let listing = world.agree(call, listing)?;
    let Listing { directory, generations } = broadcast_value(world, listing.as_ref())?;
    let generations = generations.into_iter().map(|(step, number)| Generation { number, step }).collect();
    Ok((directory.into(), generations))
}

/// First whole generation of `generations`, and the damaged ones before it. Collective.
pub(super) fn first_whole(
    world: &World,
    parent: &Path,
    generations: &[Generation],
) -> Result<(Option<Opened>, Vec<PassedOver>)> {
    let mut passed_over = Vec::new();
    for &generation in generations {
        let directory = parent.join(generation.name());
        match examine(world, &directory, generation)? {
            Ok((manifest, state)) => {
                let last = generation.number;
                let opened = Opened { directory, manifest, state, generation, last, passed_over: Vec::new() };
                return Ok((Some(opened), passed_over));
            }
            Err(reason) => passed_over.push(PassedOver { step: generation.step, directory, reason }),
        }
    }
    Ok((None, passed_over))
}

/// Separates damage (inner `Err`) from operating system errors (outer `Err`), which may be
/// temporary and say nothing about the files.
fn separate_damage<T>(found: std::result::Result<T, FileError>) -> Result<Result<T, String>> {
    match found {
        Ok(found) => Ok(Ok(found)),
        Err(error @ FileError::System { kind, .. })
            if ![ErrorKind::NotFound, ErrorKind::UnexpectedEof].contains(&kind) =>
        {
            Err(error.into())
        }
        Err(error) => Ok(Err(error.to_string())),
    }
}

type WholeContent = (Manifest, Option<Vec<u8>>);

/// Checks a generation; returns the same content or damage on every rank. Rank 0 marks a damaged
/// generation, so that no save counts it among the whole ones. Collective.
fn examine(world: &World, directory: &Path, generation: Generation) -> Result<Result<WholeContent, String>> {
    let call_name = format!("checking {}", directory.display());
    let examined = match manifest_of_root(world, &call_name, directory, generation)? {
        Ok(manifest) => check_files(world, &call_name, directory, manifest)?,
        Err(reason) => Err(reason),
    };
    if world.rank() == 0 {
        match &examined {
            Ok(_) => unmark_damaged(directory),
            Err(reason) => mark_damaged(directory, reason),
        }
    }
    Ok(examined)
}

/// Manifest as rank 0 reads it, or its damage; the same on every rank. Collective.
fn manifest_of_root(
    world: &World,
    call_name: &str,
    directory: &Path,
    generation: Generation,
) -> Result<Result<Manifest, String>> {
    let text = (world.rank() == 0).then(|| separate_damage(read_manifest(directory))).transpose();
    let text = world.agree(call_name, text)?.map(|text| match text {
        Ok(text) => [b"+", &*text].concat(),
        Err(reason) => format!("-{reason}").into_bytes(),
    });
    let text = broadcast_bytes(world, text)?;
    Ok(match (*text).as_ref().split_first() {
        Some((b'+', text)) => parse_manifest(text, directory, generation).map_err(|error| error.to_string()),
        Some((_, reason)) => Err(String::from_utf8_lossy(reason).into_owned()),
        None => Err("its manifest got lost between ranks".to_string()),
    })
}

/// Checks all files of a generation; each rank reads a share. Collective.
fn check_files(
    world: &World,
    call_name: &str,
    directory: &Path,
    manifest: Manifest,
) -> Result<Result<WholeContent, String>> {
    let lengths = if world.rank() == 0 { check_lengths(directory, &manifest) } else { Ok(()) };
    let checked = lengths.and_then(|()| check_share(directory, &manifest, world.rank() as u64, world.size() as u64));
    let state = checked.and_then(|()| if world.rank() == 0 { read_state(directory, &manifest) } else { Ok(None) });
    let state = world.agree(call_name, separate_damage(state))?;
    if let Some(reason) = lowest_rank_error(world, state.as_ref().err().cloned())? {
        return Ok(Err(reason));
    }
    if manifest.state.is_none() {
        return Ok(Ok((manifest, None)));
    }
    let state = broadcast_bytes(world, state.unwrap_or_default())?;
    Ok(Ok((manifest, Some((*state).as_ref().to_vec()))))
}

fn check_share(directory: &Path, manifest: &Manifest, rank: u64, ranks: u64) -> Result<(), FileError> {
    let all: u64 = files(directory, manifest).map(|(_, sums)| sums.blocks(manifest.block_bytes)).sum();
    let bound = |rank: u64| (u128::from(all) * u128::from(rank) / u128::from(ranks)) as u64;
    let (first, last) = (bound(rank), bound(rank + 1));
    let mut before = 0;
    for (path, sums) in files(directory, manifest) {
        let blocks = sums.blocks(manifest.block_bytes);
        let (start, end) = (first.clamp(before, before + blocks), last.clamp(before, before + blocks));
        if start < end {
            let mut reader = ChecksumReader::open(path, sums, manifest.block_bytes)?;
            (start..end).try_for_each(|block| reader.check(block - before))?;
        }
        before += blocks;
    }
    Ok(())
}

fn highest_number(generations: &[Generation]) -> u64 {
    generations.first().map_or(0, |latest| latest.number)
}

/// Opens the latest whole generation; `None` if there is no generation at all. Collective.
pub(super) fn latest(world: &World, parent: &Path) -> Result<Option<Opened>> {
    let (absolute, generations) = list(world, &format!("latest({})", parent.display()), parent)?;
    let (opened, passed_over) = first_whole(world, &absolute, &generations)?;
    let listed: Vec<_> = passed_over.iter().map(|passed| format!("step {}: {}", passed.step, passed.reason)).collect();
    let Some(opened) = opened else {
        return match &*listed {
            [] => Ok(None),
            listed => {
                let (count, listed) = (listed.len(), listed.join("; "));
                let message = format!("none of the checkpoints in it ({count}) is whole: {listed}");
                Err(FileError::request(parent, message).into())
            }
        };
    };
    if world.rank() == 0 && !listed.is_empty() {
        let (step, listed) = (opened.manifest.step, listed.join("; "));
        trace::warn(&format!("of the checkpoints in {} step {step} is taken: {listed}", zippy_files::shown(parent)));
    }
    Ok(Some(Opened { last: highest_number(&generations), passed_over, ..opened }))
}

/// Opens the latest generation of a step. Collective.
pub(super) fn at(world: &World, parent: &Path, step: u64) -> Result<Opened> {
    let (absolute, generations) = list(world, &format!("at({}, step {step})", parent.display()), parent)?;
    let Some(index) = generations.iter().position(|generation| generation.step == step) else {
        let mut steps: Vec<u64> = generations.iter().map(|generation| generation.step).collect();
        steps.sort_unstable();
        let steps: Vec<String> = steps.iter().map(u64::to_string).collect();
        let there =
            if steps.is_empty() { "it holds none".to_string() } else { format!("there are {}", steps.join(", ")) };
        return Err(FileError::request(parent, format!("no checkpoint of step {step}; {there}")).into());
    };
    let (found, earlier) = generations[index..].split_at(1);
    let (opened, passed_over) = first_whole(world, &absolute, found)?;
    if let Some(opened) = opened {
        return Ok(Opened { last: highest_number(&generations), ..opened });
    }
    let reason = passed_over.into_iter().map(|passed| passed.reason).next().unwrap_or_default();
    let before = match first_whole(world, &absolute, earlier)?.0 {
        Some(before) => format!("the whole one before it is of step {}", before.manifest.step),
        None => "no whole one is before it".to_string(),
    };
    Err(FileError::request(parent, format!("step {step} cannot be used: {reason}; {before}")).into())
}
