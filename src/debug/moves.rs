use super::protocol::Moves;
use crate::World;
use crate::error::Result;
pub(super) fn moves(_: &World) -> Result<Option<Moves>> {
    Ok(None)
}
