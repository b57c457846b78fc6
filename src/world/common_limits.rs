//! [`CommonLimits`]: smallest limits of the devices of all ranks, and therefore equal on every
//! rank.

use super::transfer::MessageSizes;
use crate::device::Device;
use crate::element::{Capabilities, ElementInfo};
use crate::error::{ElementError, Result};
use crate::transport::Group;

/// Smallest limits and common number formats of the devices of all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CommonLimits {
    pub capabilities: Capabilities,
    pub binding_bytes: u64,
    pub buffer_bytes: u64,
    /// Limits of messages. Their minimum size of an in-place send is unreachable if some host
    /// cannot map its device memory.
    pub messages: MessageSizes,
    /// Maximum total bytes of the buffers of one rank.
    pub rank_bytes: u64,
    /// Maximum total bytes of the buffers of all ranks.
    pub all_bytes: u64,
}

impl CommonLimits {
    /// Reduces the limits of all devices, so that ranks with different adapters split messages and
    /// refuse arrays alike. Collective: one all-reduce.
    pub(super) fn reduce(group: &Group, device: &Device) -> Result<Self> {
        let capabilities = Capabilities::from(device.features());
        let (limits, memory) = (device.limits(), device.memory_limits());
        let Capabilities { f16, f64, i64 } = capabilities;
        let [f16, f64, i64] = [f16, f64, i64].map(u64::from);
        // The reduction takes minima, but in-place sends need the maximum.
        let complement_of_in_place = u64::MAX - device.in_place_bytes().unwrap_or(u64::MAX);
        let max_message = device.message_bytes();
        let local = [
            f16,
            f64,
            i64,
            complement_of_in_place,
            max_message,
            limits.binding_bytes,
            limits.buffer_bytes,
            memory.rank_bytes,
            memory.rank_share_bytes,
        ];
        // Minimum and sum over the ranks.
        let mut reduced = local.map(|value| [value, value]);
        group.all_reduce(&mut reduced, |[minimum, sum], [other_minimum, other_sum]| {
            (*minimum, *sum) = ((*minimum).min(*other_minimum), sum.saturating_add(*other_sum));
        })?;
        let [.., [_, all_bytes]] = reduced;
        let [f16, f64, i64, complement_of_in_place, max_message, binding_bytes, buffer_bytes, rank_bytes, _] =
            reduced.map(|[minimum, _]| minimum);
        let capabilities = Capabilities { f16: f16 == 1, f64: f64 == 1, i64: i64 == 1 };
        let messages = MessageSizes { max_bytes: max_message, min_in_place: u64::MAX - complement_of_in_place };
        Ok(Self { capabilities, binding_bytes, buffer_bytes, messages, rank_bytes, all_bytes })
    }

    /// Fails unless every rank supports the element type.
    pub(super) fn check_element_support(&self, element: &ElementInfo, device: &Device) -> Result<(), ElementError> {
        element.supported_by(device.features(), &device.adapter().name)?;
        element.supported_by(self.capabilities, "of another rank")
    }
}
