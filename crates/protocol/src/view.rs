//! [`View`]: cells of a strided box of an array.

use serde::{Deserialize, Serialize};

use super::{ArrayEntry, ArrayRef, lists};

/// Maximum size of the cells of a view in bytes.
pub const MOST_VIEW_BYTES: usize = 4 << 20;

/// Request for the cells at `start`, `start + stride` and so on before `end`, along each axis.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ViewRequest {
    /// Array to read.
    pub array: ArrayRef,
    /// Chunk to read with its ghost cells; `None` for the cells that chunks own.
    pub chunk: Option<u64>,
    /// First cell of the box, in global coordinates. Ghost cells are outside of their chunk's box,
    /// and may be outside of the array.
    #[serde(deserialize_with = "lists::list")]
    pub start: Vec<i64>,
    /// End of the box, exclusive.
    #[serde(deserialize_with = "lists::list")]
    pub end: Vec<i64>,
    /// Distance between cells along each axis, at least 1.
    #[serde(deserialize_with = "lists::list")]
    pub stride: Vec<i64>,
    /// Index of the numbers in [`ElementType::numbers`](super::ElementType); `None` for whole
    /// cells.
    pub numbers: Option<u16>,
}

/// Cells of a strided box in their memory layout, axis 0 fastest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Request of the cells. A recording may have larger strides than the viewer's request.
    pub of: ViewRequest,
    /// Number of the debug point.
    pub step: u64,
    /// Bytes of the cells.
    #[serde(with = "bytes")]
    pub cells: Vec<u8>,
}

impl ViewRequest {
    /// Request for all cells that chunks own.
    pub fn whole(array: &ArrayEntry) -> Self {
        let (start, stride) = (vec![0; array.shape.len()], vec![1; array.shape.len()]);
        Self { array: array.array, chunk: None, start, end: array.shape.clone(), stride, numbers: None }
    }

    /// Number of requested cells along each axis; `None` if the request is invalid.
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

    /// Size in bytes of the requested cells with `cell_bytes` bytes each; `None` if it overflows or
    /// the request is invalid.
    pub fn bytes(&self, cell_bytes: usize) -> Option<usize> {
        let cells = self.extents()?.into_iter().try_fold(1_i64, i64::checked_mul)?;
        usize::try_from(cells).ok()?.checked_mul(cell_bytes)
    }

    /// The request with doubled strides, longest axis first, until the cells have at most `most`
    /// bytes.
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

/// Encoding of bytes as one block instead of a list.
mod bytes {
    use std::fmt::{Formatter, Result as Formatted};

    use serde::de::{Error, SeqAccess, Visitor};
    use serde::{Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
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

        /// For formats without a type for bytes, such as JSON.
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
            let mut bytes = Vec::new();
            while let Some(byte) = list.next_element()? {
                bytes.push(byte);
            }
            Ok(bytes)
        }
    }
}
