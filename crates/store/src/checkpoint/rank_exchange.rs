//! Collective exchange of checkpoint data between ranks.

use serde::Serialize;
use serde::de::DeserializeOwned;
use zippy::transport::{Payload, copied, values};
use zippy::{Error, Result, World};

/// Bytes of rank 0, on every rank. Collective.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn bytes_of_first(world: &World, bytes: Option<Vec<u8>>) -> Result<Payload> {
    let payload = bytes.map(|bytes| Box::new(bytes) as Payload);
    world.failing("telling of a checkpoint", || world.group().broadcast(0, payload))
}

/// A value of rank 0, on every rank. Collective.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn of_first<T: Serialize + DeserializeOwned>(world: &World, value: Option<&T>) -> Result<T> {
    let malformed = |error: serde_json::Error| Error::program(format!("checkpoint data from rank 0: {error}"));
    let text = value.map(serde_json::to_vec).transpose().map_err(malformed);
    let text = bytes_of_first(world, world.agree("telling of a checkpoint", text)?)?;
    serde_json::from_slice((*text).as_ref()).map_err(malformed)
}

/// Error message of the lowest rank with an error, the same on every rank. Collective.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn first_complaint(world: &World, message: Option<String>) -> Result<Option<String>> {
    let message = message.unwrap_or_default();
    let all = world.failing("checking a checkpoint", || world.group().all_gather_v(copied(message.as_bytes())))?;
    let said = all.iter().map(|text| (**text).as_ref()).find(|text| !text.is_empty());
    Ok(said.map(|text| String::from_utf8_lossy(text).into_owned()))
}

/// Numbers of all ranks, in the order of ranks. Collective.
///
/// # Errors
/// A failure of this or of another rank.
pub(super) fn numbers_of_all(world: &World, numbers: &[u64]) -> Result<Vec<Vec<u64>>> {
    let all = world.failing("comparing a checkpoint", || world.group().all_gather_v(copied(numbers)))?;
    all.iter().map(values).collect()
}
