//! [`Payload`]: the bytes of a message, and conversions from and to values.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use serde::Serialize;
use serde::de::DeserializeOwned;

use zippy_base::error::{CallSite, Result, TransportError};

/// The bytes of a message. Threads pass the box itself without a copy. MPI sends from the box and
/// keeps it until the send completes.
pub type Payload = Box<dyn AsRef<[u8]> + Send + Sync>;

/// Up to 48 bytes in the box of the payload, without a second allocation.
struct InlineBytes {
    bytes: [u8; 48],
    length: u8,
}

impl AsRef<[u8]> for InlineBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

#[derive(Clone)]
struct SharedPayload(Arc<Payload>);

impl AsRef<[u8]> for SharedPayload {
    fn as_ref(&self) -> &[u8] {
        (**self.0).as_ref()
    }
}

struct SharedSlice(SharedPayload, Range<usize>);

impl AsRef<[u8]> for SharedSlice {
    fn as_ref(&self) -> &[u8] {
        &self.0.as_ref()[self.1.clone()]
    }
}

/// Payload with a copy of `values` in native byte order.
pub fn copied<T: Pod>(values: &[T]) -> Payload {
    let source: &[u8] = bytemuck::cast_slice(values);
    if source.len() > 48 {
        return Box::new(source.to_vec());
    }
    let mut bytes = [0; 48];
    bytes[..source.len()].copy_from_slice(source);
    Box::new(InlineBytes { bytes, length: source.len() as u8 })
}

pub(crate) fn shared(payload: Payload, count: usize) -> impl Iterator<Item = Payload> {
    let shared = SharedPayload(Arc::new(payload));
    std::iter::repeat_n(shared, count).map(|payload| Box::new(payload) as Payload)
}

/// Returns the byte ranges of `payload` as payloads that share its bytes.
pub(crate) fn slices(payload: Payload, ranges: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = Payload> {
    let shared = SharedPayload(Arc::new(payload));
    ranges.map(move |range| Box::new(SharedSlice(shared.clone(), range)) as Payload)
}

/// Serialises a value as a payload (postcard).
#[doc(hidden)]
pub fn encoded(value: &impl Serialize) -> Result<Payload> {
    let bytes = postcard::to_allocvec(value);
    Ok(Box::new(
        bytes.map_err(|error| TransportError::Other(format!("a value for another rank cannot be encoded: {error}")))?,
    ))
}

/// Deserialises a payload of [`encoded`].
#[doc(hidden)]
pub fn decoded<T: DeserializeOwned>(payload: &Payload) -> Result<T> {
    let malformed = |_| TransportError::Other("a message of another rank cannot be decoded".into()).into();
    postcard::from_bytes((**payload).as_ref()).map_err(malformed)
}

/// Copies the values out of a payload, with any alignment.
///
/// # Errors
/// [`TransportError::Other`] if the number of bytes is not a multiple of the size of `T`.
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
            let expected: Vec<u64> = (0..count).map(|i| i * 0x0123_4567_89ab).collect();
            let payload = copied(&expected);
            assert_eq!(values::<u64>(&payload).unwrap(), expected);
            let mut shifted = vec![0_u8];
            shifted.extend_from_slice((*payload).as_ref());
            let length = shifted.len();
            let slice = slices(Box::new(shifted), std::iter::once(1..length)).next().unwrap();
            assert_eq!(values::<u64>(&slice).unwrap(), expected);
        }
        let error = values::<u64>(&copied(&[1_u8, 2, 3])).unwrap_err();
        assert!(error.to_string().contains("3 bytes"), "{error}");
    }
}
