//! What a message carries, and a pool so that warm exchanges allocate nothing big.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytemuck::Pod;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Result, TransportError};

/// The bytes of a message. Threads hand the box over; MPI sends from it and holds it until the send has completed.
pub type Payload = Box<dyn AsRef<[u8]> + Send + Sync>;

/// At most this many bytes wait in a pool; what comes back beyond is freed.
const POOL_BYTES: usize = 1 << 30;
/// At most this many vectors wait in a pool.
const POOL_VECTORS: usize = 64;

/// Vectors of bytes that come back when they are dropped, on whatever rank that happens. Cheap to clone.
#[derive(Clone, Default)]
pub struct BytePool(Arc<Mutex<Free>>);

#[derive(Default)]
struct Free {
    vectors: Vec<Vec<u8>>,
    bytes: usize,
}

impl BytePool {
    /// `length` bytes of unspecified contents.
    pub fn take(&self, length: usize) -> Bytes {
        let found = {
            let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let best = (0..free.vectors.len())
                .filter(|&i| free.vectors[i].len() >= length)
                .min_by_key(|&i| free.vectors[i].len());
            best.map(|i| {
                let vector = free.vectors.swap_remove(i);
                free.bytes -= vector.len();
                vector
            })
        };
        // Sizes are rounded so that slightly different messages share vectors.
        let vector = found.unwrap_or_else(|| vec![0; length.max(64).checked_next_power_of_two().unwrap_or(length)]);
        Bytes { vector, length, pool: Arc::clone(&self.0) }
    }

    /// A pooled copy of `bytes`.
    pub fn copy_of(&self, bytes: &[u8]) -> Bytes {
        let mut copy = self.take(bytes.len());
        copy.as_mut().copy_from_slice(bytes);
        copy
    }
}

/// Bytes from a [`BytePool`]; they go back to it when dropped.
pub struct Bytes {
    vector: Vec<u8>,
    length: usize,
    pool: Arc<Mutex<Free>>,
}

impl Bytes {
    /// Takes the last bytes off, if there are so many.
    #[cfg_attr(not(feature = "mpi"), allow(dead_code))]
    pub(crate) fn take_last<const N: usize>(&mut self) -> Option<[u8; N]> {
        let last = *self.as_ref().last_chunk::<N>()?;
        self.length -= N;
        Some(last)
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        &self.vector[..self.length]
    }
}

impl AsMut<[u8]> for Bytes {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.vector[..self.length]
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        let mut free = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if free.vectors.len() < POOL_VECTORS && free.bytes + self.vector.len() <= POOL_BYTES {
            let vector = std::mem::take(&mut self.vector);
            free.bytes += vector.len();
            free.vectors.push(vector);
        }
    }
}

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
struct Shared(Arc<Payload>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (**self.0).as_ref()
    }
}

/// A part of a shared payload.
struct Part(Shared, Range<usize>);

impl AsRef<[u8]> for Part {
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
pub fn shared(payload: Payload, count: usize) -> impl Iterator<Item = Payload> {
    let shared = Shared(Arc::new(payload));
    std::iter::repeat_n(shared, count).map(|one| Box::new(one) as Payload)
}

/// Parts of a payload that share its bytes.
pub(crate) fn parts(payload: Payload, ranges: impl Iterator<Item = Range<usize>>) -> impl Iterator<Item = Payload> {
    let shared = Shared(Arc::new(payload));
    ranges.map(move |range| Box::new(Part(shared.clone(), range)) as Payload)
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
pub fn values<T: Pod>(payload: &Payload) -> Result<Vec<T>> {
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
    fn a_vector_comes_back_and_is_used_again() {
        let pool = BytePool::default();
        let mut first = pool.take(1000);
        first.as_mut().fill(7);
        let address = first.as_ref().as_ptr();
        drop(first);
        let again = pool.take(900);
        assert_eq!(again.as_ref().as_ptr(), address);
        assert_eq!(again.as_ref().len(), 900);
        let other = pool.take(900);
        assert_ne!(other.as_ref().as_ptr(), address);
    }

    #[test]
    fn the_smallest_vector_that_fits_is_taken() {
        let pool = BytePool::default();
        let (small, large) = (pool.take(100), pool.take(10_000));
        let address = small.as_ref().as_ptr();
        drop(large);
        drop(small);
        assert_eq!(pool.take(128).as_ref().as_ptr(), address);
        assert_eq!(pool.take(0).as_ref().len(), 0);
    }

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
