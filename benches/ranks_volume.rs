//! Volume rendering: compositing alone.

mod common;
mod reference;

mod volume {
    pub mod blending;
}

use common::{Path, on_ranks};

fn main() -> zippy::Result<()> {
    let about = "Compositing alone of 1024x1024 pictures, one a rank, dense and with 20 % of the pixels covered, 4 x 32 and \
                 4 x 8 bits, beside binary swap and direct send written by hand (benches/reference/compositing.rs).";
    on_ranks("ranks_volume", about, &[Path::Mapped], volume::blending::measure)
}
