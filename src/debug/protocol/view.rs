//! [`View`]: some cells of an array.

use serde::{Deserialize, Serialize};

use super::{ArrayEntry, ArrayRef, lists};

/// The most bytes of cells in a view.
pub const MOST_VIEW_BYTES: usize = 4 << 20;

/// Asks for cells: those at `start`, `start + stride` and so on before `end`, along each axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ViewRequest {
    /// Of which array.
    pub array: ArrayRef,
    /// A chunk whose cells and ghost cells are wanted as it has them; without one the cells that chunks own.
    pub chunk: Option<u64>,
    /// The box, in global coordinates; ghost cells lie outside of their chunk's, and may lie outside of the array.
    #[serde(deserialize_with = "lists::list")]
    pub start: Vec<i64>,
    /// Behind its last cells.
    #[serde(deserialize_with = "lists::list")]
    pub end: Vec<i64>,
    /// From one cell to the next, at least 1.
    #[serde(deserialize_with = "lists::list")]
    pub stride: Vec<i64>,
    /// Which numbers of a cell, as a place in [`ElementType::numbers`](super::ElementType); else whole cells.
    pub numbers: Option<u16>,
}

/// Cells as they are in memory, axis 0 fastest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// What they are. A recording may have a larger stride than was asked for.
    pub of: ViewRequest,
    /// At which debug point.
    pub step: u64,
    /// Their bytes.
    #[serde(with = "bytes")]
    pub cells: Vec<u8>,
}

impl ViewRequest {
    /// All cells of an array that chunks own.
    pub fn whole(array: &ArrayEntry) -> Self {
        let (start, stride) = (vec![0; array.shape.len()], vec![1; array.shape.len()]);
        Self { array: array.array, chunk: None, start, end: array.shape.clone(), stride, numbers: None }
    }

    /// How many cells it asks for along each axis; none where it makes no sense.
    pub fn extents(&self) -> Option<Vec<i64>> {
        let axes = self.start.len();
        if self.end.len() != axes || self.stride.len() != axes || self.stride.iter().any(|&stride| stride < 1) {
            return None;
        }
        let along = |axis: usize| {
            let length = self.end[axis].checked_sub(self.start[axis])?.max(0);
            Some(length / self.stride[axis] + i64::from(length % self.stride[axis] > 0))
        };
        (0..axes).map(along).collect()
    }

    /// Bytes of the cells, `cell_bytes` each; none where they cannot be counted.
    pub fn bytes(&self, cell_bytes: usize) -> Option<usize> {
        let cells = self.extents()?.into_iter().try_fold(1_i64, i64::checked_mul)?;
        usize::try_from(cells).ok()?.checked_mul(cell_bytes)
    }

    /// With strides doubled, the longest axis first, until the cells have at most `most` bytes.
    #[must_use]
    pub fn fitting(mut self, cell_bytes: usize, most: usize) -> Self {
        while let Some(extents) = self.extents() {
            let longest = (0..extents.len()).max_by_key(|&axis| extents[axis]);
            let fits = self.bytes(cell_bytes).is_some_and(|bytes| bytes <= most);
            match longest.filter(|&axis| !fits && extents[axis] > 1) {
                Some(axis) => self.stride[axis] = self.stride[axis].saturating_mul(2),
                None => break,
            }
        }
        self
    }
}

/// Bytes in one piece, where a list would be one by one.
mod bytes {
    use std::fmt::{Formatter, Result as Formatted};

    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }

    struct Bytes;

    impl<'de> Visitor<'de> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, f: &mut Formatter<'_>) -> Formatted {
            f.write_str("bytes")
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }

        fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
            Ok(bytes)
        }

        /// In formats that have no bytes of their own, as JSON.
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = list.next_element()? {
                bytes.push(byte);
            }
            Ok(bytes)
        }
    }
}
