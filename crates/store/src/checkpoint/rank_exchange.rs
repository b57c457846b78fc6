//! Exchange of checkpoint data between ranks.

use serde::Serialize;
use serde::de::DeserializeOwned;
use zippy::collective::CollectiveWorld;
use zippy::transport::{Payload, copied, values};
use zippy::{Error, Result, World};

/// Broadcasts bytes from rank 0. Collective.
pub(super) fn broadcast_bytes(world: &World, bytes: Option<Vec<u8>>) -> Result<Payload> {
    let payload = bytes.map(|bytes| Box::new(bytes) as Payload);
    world.failing("telling of a checkpoint", || world.group().broadcast(0, payload))
}

/// Broadcasts a value from rank 0. Collective.
pub(super) fn broadcast_value<T: Serialize + DeserializeOwned>(world: &World, value: Option<&T>) -> Result<T> {
    let malformed = |error: serde_json::Error| Error::program(format!("checkpoint data from rank 0: {error}"));
    let text = value.map(serde_json::to_vec).transpose().map_err(malformed);
    let text = broadcast_bytes(world, world.agree("telling of a checkpoint", text)?)?;
    serde_json::from_slice((*text).as_ref()).map_err(malformed)
}

/// Error message of the lowest rank with an error, the same on every rank. Collective.
pub(super) fn lowest_rank_error(world: &World, message: Option<String>) -> Result<Option<String>> {
    let message = message.unwrap_or_default();
    let all = world.failing("checking a checkpoint", || world.group().all_gather_v(copied(message.as_bytes())))?;
    let first_message = all.iter().map(|text| (**text).as_ref()).find(|text| !text.is_empty());
    Ok(first_message.map(|text| String::from_utf8_lossy(text).into_owned()))
}

/// Numbers of all ranks, in the order of ranks. Collective.
pub(super) fn gather_numbers(world: &World, numbers: &[u64]) -> Result<Vec<Vec<u64>>> {
    let all = world.failing("comparing a checkpoint", || world.group().all_gather_v(copied(numbers)))?;
    all.iter().map(values).collect()
}
