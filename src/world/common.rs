//! What the devices of all ranks have in common: the facts that arrays are checked against, the same on every rank.

use super::transfer::MessageSizes;
use crate::device::Device;
use crate::element::{Capabilities, ElementInfo};
use crate::error::{ElementError, Result};
use crate::transport::Group;

/// The smallest limits and the number formats that all devices have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommonLimits {
    pub capabilities: Capabilities,
    pub binding_bytes: u64,
    pub buffer_bytes: u64,
    /// Boxes are sent from where they lie from so many bytes on as never occur where a host cannot map a device's memory.
    pub messages: MessageSizes,
    /// The most that one rank's buffers can take, and those of all ranks.
    pub rank_bytes: u64,
    pub all_bytes: u64,
}

impl CommonLimits {
    /// Collective: one all-reduce, so that ranks with different adapters still cut and refuse alike.
    pub fn of(group: &Group, device: &Device) -> Result<Self> {
        let own = Capabilities::from(device.features());
        let limits = device.limits();
        let [f16, f64, i64] = [own.f16, own.f64, own.i64].map(u64::from);
        // Of these the most is what all agree on: the least of what is left to the largest number.
        let below = u64::MAX - device.in_place_bytes().unwrap_or(u64::MAX);
        let room = device.room();
        let most = device.message_bytes();
        let own = [f16, f64, i64, below, most, limits.binding_bytes, limits.buffer_bytes, room.rank, room.share];
        // The least of each, and their sum.
        let mut facts = own.map(|fact| [fact, fact]);
        group.all_reduce(&mut facts, |[least, sum], [other, more]| {
            (*least, *sum) = ((*least).min(*other), sum.saturating_add(*more));
        })?;
        let all_bytes = facts[8][1];
        let [f16, f64, i64, below, most, binding_bytes, buffer_bytes, rank_bytes, _] = facts.map(|[least, _]| least);
        let capabilities = Capabilities { f16: f16 == 1, f64: f64 == 1, i64: i64 == 1 };
        let messages = MessageSizes { most, in_place: u64::MAX - below };
        Ok(Self { capabilities, binding_bytes, buffer_bytes, messages, rank_bytes, all_bytes })
    }

    /// Whether every rank can hold the element type.
    pub fn check(&self, element: &ElementInfo, own: &Device) -> Result<(), ElementError> {
        element.supported_by(own.features(), &own.adapter().name)?;
        element.supported_by(self.capabilities, "of another rank")
    }
}
