//! Requests as bytes: what one rank asks of an owner at a fence.

use serde::{Deserialize, Serialize};

use crate::device::Operator;
use crate::error::{Result, TransportError};
use crate::extents::{Index, MAX_AXES};
use crate::region::Region;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum Verb {
    /// Send the cells back.
    Get,
    /// Replace the cells by the payload.
    Put,
    /// Combine the payload with the cells; the number indexes the message's operators.
    Accumulate(u32),
}

/// One box of one chunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Request {
    /// Place among the operations of its rank.
    pub sequence: u64,
    /// The array's number.
    pub array: u64,
    pub chunk: u64,
    /// The box in global coordinates, as start and end per axis.
    pub bounds: Vec<(i64, i64)>,
    pub verb: Verb,
    /// Bytes of payload in this message (put, accumulate) or in the reply (get), a multiple of 4.
    pub bytes: u64,
}

/// An operator as it travels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SentOperator {
    pub name: String,
    /// The WGSL of a user's operator.
    pub wgsl: Option<String>,
}

/// All that one rank asks of one owner.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Requests {
    pub requests: Vec<Request>,
    pub operators: Vec<SentOperator>,
}

/// Length of the header, before it: payloads start at a multiple of 8.
const PREFIX_BYTES: usize = 8;

impl Request {
    /// The box in global coordinates, if it is one.
    pub fn region(&self) -> Option<Region> {
        let axis = |side: fn(&(i64, i64)) -> i64| Index::from_fn(self.bounds.len(), |axis| side(&self.bounds[axis]));
        let sound = (1..=MAX_AXES).contains(&self.bounds.len()) && self.bounds.iter().all(|(start, end)| start <= end);
        sound.then(|| Region { start: axis(|b| b.0), end: axis(|b| b.1) })
    }

    /// A box as bounds.
    pub fn bounds(region: &Region) -> Vec<(i64, i64)> {
        region.start.iter().copied().zip(region.end.iter().copied()).collect()
    }
}

impl Requests {
    /// The number of an operator in this message.
    pub fn operator(&mut self, operator: &Operator) -> u32 {
        let (name, wgsl) = operator.to_parts();
        let named = SentOperator { name, wgsl };
        let at = self.operators.iter().position(|known| *known == named).unwrap_or_else(|| {
            self.operators.push(named);
            self.operators.len() - 1
        });
        at as u32
    }

    /// The operators on the owner's side.
    pub fn operators(&self) -> Result<Vec<Operator>> {
        self.operators.iter().map(|named| Ok(Operator::from_parts(&named.name, named.wgsl.as_deref())?)).collect()
    }

    /// Header and payload as one message.
    pub fn encode(&self, payload: &[u8]) -> Vec<u8> {
        let header = postcard::to_allocvec(self).expect("plain data always encodes");
        let start = (PREFIX_BYTES + header.len()).next_multiple_of(8);
        let mut out = Vec::with_capacity(start + payload.len());
        out.extend_from_slice(&(header.len() as u64).to_le_bytes());
        out.extend_from_slice(&header);
        out.resize(start, 0);
        out.extend_from_slice(payload);
        out
    }

    /// The header of a message, and where its payload starts.
    pub fn decode(message: &[u8]) -> Result<(Self, usize)> {
        let broken = || TransportError::Other("a one-sided request arrived damaged".to_string());
        let prefix = message.get(..PREFIX_BYTES).ok_or_else(broken)?;
        let length = u64::from_le_bytes(prefix.try_into().map_err(|_| broken())?) as usize;
        let header = message.get(PREFIX_BYTES..).and_then(|rest| rest.get(..length)).ok_or_else(broken)?;
        let requests = postcard::from_bytes(header).map_err(|_| broken())?;
        let start = (PREFIX_BYTES + length).next_multiple_of(8);
        if start <= message.len() { Ok((requests, start)) } else { Err(broken().into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_survive_the_wire() {
        let mut requests = Requests::default();
        let add = requests.operator(&Operator::Add);
        assert_eq!(requests.operator(&Operator::Add), add);
        let region = Region { start: Index::from([-3, 1 << 40]), end: Index::from([0, (1 << 40) + 2]) };
        requests.requests.push(Request {
            sequence: 7,
            array: 3,
            chunk: 11,
            bounds: Request::bounds(&region),
            verb: Verb::Accumulate(add),
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
