use super::protocol::Timeline;
use crate::World;
use crate::error::Result;
pub(super) fn timeline(_: &World, _: u64) -> Result<Option<Timeline>> {
    Ok(None)
}
