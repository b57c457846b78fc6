//! What a message carries.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{CallSite, Result, TransportError};

/// The bytes of a message. Threads hand the box over; MPI sends from it and holds it until the send has completed.
pub type Payload = Box<dyn AsRef<[u8]> + Send + Sync>;

/// A few bytes without a second allocation.
struct Small {
    bytes: [u8; 48],
    length: u8,
}

impl AsRef<[u8]> for Small {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// One payload with several holders.
#[derive(Clone)]
struct SharedPayload(Arc<Payload>);

impl AsRef<[u8]> for SharedPayload {
    fn as_ref(&self) -> &[u8] {
        (**self.0).as_ref()
    }
}

/// A part of a shared payload.
struct SharedSlice(SharedPayload, Range<usize>);

impl AsRef<[u8]> for SharedSlice {
    fn as_ref(&self) -> &[u8] {
        &self.0.as_ref()[self.1.clone()]
    }
}

/// A payload with a copy of `values`.
pub fn copied<T: Pod>(values: &[T]) -> Payload {
    let source: &[u8] = bytemuck::cast_slice(values);
    if source.len() > 48 {
        return Box::new(source.to_vec());
    }
    let mut bytes = [0; 48];
    bytes[..source.len()].copy_from_slice(source);
    Box::new(Small { bytes, length: source.len() as u8 })
}

/// `count` payloads that share the bytes of one.
pub(crate) fn shared(payload: Payload, count: usize) -> impl Iterator<Item = Payload> {
    let shared = SharedPayload(Arc::new(payload));
    std::iter::repeat_n(shared, count).map(|one| Box::new(one) as Payload)
}

/// Parts of a payload that share its bytes.
pub(crate) fn parts(payload: Payload, ranges: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = Payload> {
    let shared = SharedPayload(Arc::new(payload));
    ranges.map(move |range| Box::new(SharedSlice(shared.clone(), range)) as Payload)
}

/// What ranks tell each other about a run, as a payload.
pub(crate) fn encoded(told: &impl Serialize) -> Result<Payload> {
    let bytes = postcard::to_allocvec(told);
    Ok(Box::new(bytes.map_err(|error| TransportError::Other(format!("what a rank tells cannot be written: {error}")))?))
}

/// The same from a payload.
pub(crate) fn decoded<T: DeserializeOwned>(payload: &Payload) -> Result<T> {
    let damaged = |_| TransportError::Other("what another rank tells arrived malformed".into()).into();
    postcard::from_bytes((**payload).as_ref()).map_err(damaged)
}

/// The values in a payload.
///
/// # Errors
/// [`TransportError::Other`] when the number of bytes is not a whole number of values.
#[track_caller]
pub fn values<T: Pod>(payload: &Payload) -> Result<Vec<T>> {
    let _call = CallSite::enter();
    let bytes = (**payload).as_ref();
    let size = size_of::<T>();
    if size == 0 || bytes.len() % size != 0 {
        let text = format!("a message of {} bytes does not hold whole values of {size} bytes", bytes.len());
        return Err(TransportError::Other(text).into());
    }
    Ok(bytemuck::pod_collect_to_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_any_alignment() {
        for count in [0_u64, 1, 6, 7, 100] {
            let given: Vec<u64> = (0..count).map(|i| i * 0x0123_4567_89ab).collect();
            let payload = copied(&given);
            assert_eq!(values::<u64>(&payload).unwrap(), given);
            let mut shifted = vec![0_u8];
            shifted.extend_from_slice((*payload).as_ref());
            let length = shifted.len();
            let part = parts(Box::new(shifted), std::iter::once(1..length)).next().unwrap();
            assert_eq!(values::<u64>(&part).unwrap(), given);
        }
        let error = values::<u64>(&copied(&[1_u8, 2, 3])).unwrap_err();
        assert!(error.to_string().contains("3 bytes"), "{error}");
    }
}
