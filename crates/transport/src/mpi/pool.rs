//! [`BytePool`]: reused memory for received messages and small sent messages.

use std::sync::{Arc, Mutex, PoisonError};

const POOL_BYTES: usize = 1 << 30;
const POOL_VECTORS: usize = 64;

/// Pool of byte vectors. A dropped vector returns to its pool, on any thread. Clones share the
/// pool.
#[derive(Clone, Default)]
pub(super) struct BytePool(Arc<Mutex<FreeVectors>>);

#[derive(Default)]
struct FreeVectors {
    vectors: Vec<Vec<u8>>,
    bytes: usize,
}

impl BytePool {
    /// Returns `length` bytes with unspecified contents, in the smallest sufficient vector of the
    /// pool or a new vector.
    pub(super) fn take(&self, length: usize) -> PooledBytes {
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
        let vector = found.unwrap_or_else(|| vec![0; length.max(64).checked_next_power_of_two().unwrap_or(length)]);
        PooledBytes { vector, length, pool: Arc::clone(&self.0) }
    }
}

pub(super) struct PooledBytes {
    vector: Vec<u8>,
    length: usize,
    pool: Arc<Mutex<FreeVectors>>,
}

impl PooledBytes {
    pub(super) fn take_last<const N: usize>(&mut self) -> Option<[u8; N]> {
        let last = *self.as_ref().last_chunk::<N>()?;
        self.length -= N;
        Some(last)
    }
}

impl AsRef<[u8]> for PooledBytes {
    fn as_ref(&self) -> &[u8] {
        &self.vector[..self.length]
    }
}

impl AsMut<[u8]> for PooledBytes {
    fn as_mut(&mut self) -> &mut [u8] {
        &mut self.vector[..self.length]
    }
}

impl Drop for PooledBytes {
    fn drop(&mut self) {
        let mut free = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        if free.vectors.len() < POOL_VECTORS && free.bytes + self.vector.len() <= POOL_BYTES {
            let vector = std::mem::take(&mut self.vector);
            free.bytes += vector.len();
            free.vectors.push(vector);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_vector_is_reused() {
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
    fn smallest_sufficient_vector_is_taken() {
        let pool = BytePool::default();
        let (small, large) = (pool.take(100), pool.take(10_000));
        let address = small.as_ref().as_ptr();
        drop(large);
        drop(small);
        assert_eq!(pool.take(128).as_ref().as_ptr(), address);
        assert_eq!(pool.take(0).as_ref().len(), 0);
    }
}
