//! [`Requests`]: message format of the one-sided requests from a rank to an owner.

use serde::{Deserialize, Serialize};

use crate::device::Operator;
use crate::error::{Result, TransportError};
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum RequestKind {
    /// Return the cells.
    Get,
    /// Replace the cells by the payload.
    Put,
    /// Combine the payload with the cells, by the operator with this index in
    /// [`Requests::operators`].
    Accumulate(u32),
}

/// Request for a box of a chunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Request {
    /// Index among the operations of the requesting rank.
    pub sequence: u64,
    /// Id of the array.
    pub array: u64,
    pub chunk: u64,
    /// Box in global coordinates: start and end per axis.
    pub bounds: Vec<(i64, i64)>,
    pub verb: RequestKind,
    /// Payload bytes in this message (put, accumulate) or in the reply (get), a multiple of 4.
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SentOperator {
    pub name: String,
    /// WGSL text of a user-defined operator.
    pub wgsl: Option<String>,
}

/// All one-sided requests from a rank to an owner.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    pub requests: Vec<Request>,
    pub operators: Vec<SentOperator>,
}

/// Size of the first field of a message, the length of its header. The payload starts at a multiple
/// of 8 bytes.
const LENGTH_BYTES: usize = 8;

impl Request {
    /// Requested box in global coordinates; `None` for invalid bounds.
    pub(super) fn region(&self) -> Option<Region> {
        let axis = |side: fn(&(i64, i64)) -> i64| Index::from_fn(self.bounds.len(), |axis| side(&self.bounds[axis]));
        let is_valid =
            (1..=MAX_AXES).contains(&self.bounds.len()) && self.bounds.iter().all(|(start, end)| start <= end);
        is_valid.then(|| Region { start: axis(|b| b.0), end: axis(|b| b.1) })
    }

    pub(super) fn bounds(region: &Region) -> Vec<(i64, i64)> {
        region.start.iter().copied().zip(region.end.iter().copied()).collect()
    }
}

impl Requests {
    /// Returns the index of an operator in this message. Adds the operator if it is new.
    pub(super) fn operator(&mut self, operator: &Operator) -> u32 {
        let (name, wgsl) = operator.to_parts();
        let sent = SentOperator { name, wgsl };
        let index = self.operators.iter().position(|known| *known == sent).unwrap_or_else(|| {
            self.operators.push(sent);
            self.operators.len() - 1
        });
        index as u32
    }

    /// Converts the sent operators, on the owner.
    pub(super) fn operators(&self) -> Result<Vec<Operator>> {
        self.operators.iter().map(|sent| Ok(Operator::from_parts(&sent.name, sent.wgsl.as_deref())?)).collect()
    }

    pub(super) fn encode(&self, payload: &[u8]) -> Vec<u8> {
        let header = postcard::to_allocvec(self).expect("plain data always encodes");
        let start = (LENGTH_BYTES + header.len()).next_multiple_of(8);
        let mut out = Vec::with_capacity(start + payload.len());
        out.extend_from_slice(&(header.len() as u64).to_le_bytes());
        out.extend_from_slice(&header);
        out.resize(start, 0);
        out.extend_from_slice(payload);
        out
    }

    /// Decodes the header of a message, and returns the byte offset of its payload.
    pub(super) fn decode(message: &[u8]) -> Result<(Self, usize)> {
        let broken = || TransportError::Other("a one-sided request arrived damaged".to_string());
        let prefix = message.get(..LENGTH_BYTES).ok_or_else(broken)?;
        let length = u64::from_le_bytes(prefix.try_into().map_err(|_| broken())?) as usize;
        let header = message.get(LENGTH_BYTES..).and_then(|rest| rest.get(..length)).ok_or_else(broken)?;
        let requests = postcard::from_bytes(header).map_err(|_| broken())?;
        let start = (LENGTH_BYTES + length).next_multiple_of(8);
        if start <= message.len() { Ok((requests, start)) } else { Err(broken().into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_message_equals_encoded_requests() {
        let mut requests = Requests::default();
        let add = requests.operator(&Operator::Add);
        assert_eq!(requests.operator(&Operator::Add), add);
        let region = Region { start: Index::from([-3, 1 << 40]), end: Index::from([0, (1 << 40) + 2]) };
        requests.requests.push(Request {
            sequence: 7,
            array: 3,
            chunk: 11,
            bounds: Request::bounds(&region),
            verb: RequestKind::Accumulate(add),
            bytes: 24,
        });
        let message = requests.encode(&[9; 24]);
        let (back, start) = Requests::decode(&message).unwrap();
        assert_eq!(back.requests, requests.requests);
        assert_eq!(back.requests[0].region(), Some(region));
        for bounds in [vec![], vec![(0, 1); MAX_AXES + 1], vec![(0, 1), (3, 2)]] {
            assert_eq!(Request { bounds, ..back.requests[0].clone() }.region(), None);
        }
        assert_eq!(&message[start..], [9; 24]);
        assert!(matches!(back.operators().unwrap()[..], [Operator::Add]));
        assert!(Requests::decode(&message[..5]).is_err());
        assert!(Requests::decode(&[255; 40]).is_err());
    }
}
