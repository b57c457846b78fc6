//! Command-line options of pictures, except `--render`.

use clap::Args;
use zippy_lbm::Flow;
use zippy_lbm::cases::Case;

use crate::scene::{DrawMode, Scene, ShownQuantity, Slice};

#[derive(Args, Debug, Clone)]
pub(crate) struct PictureOptions {
    /// Drawing mode of a flow in space; a flow in the plane is drawn as its only slice
    #[arg(
        long = "as",
        value_enum,
        value_name = "MODE",
        default_value = "volume",
        default_value_if("slice", clap::builder::ArgPredicate::IsPresent, "slice"),
        default_value_if("iso", clap::builder::ArgPredicate::IsPresent, "surface")
    )]
    mode: DrawMode,

    /// Isovalue of a surface. Default: a value in the range of the colours, or half of the largest
    /// value if that is smaller
    #[arg(long, value_name = "VALUE", value_parser = parse_finite, conflicts_with = "slice")]
    pub iso: Option<f64>,

    /// Layer of cells of a slice, counted from 0 along an axis, as z=40; z alone is the middle.
    /// Across x the picture has z to the right and y up, across y it has x and z, across z it has x
    /// and y. Default: z
    #[arg(long, value_name = "AXIS[=CELL]", value_parser = Slice::parse)]
    slice: Option<Slice>,

    /// Values of the first and the last colour. Default: from the speed and the length of the case
    #[arg(long, value_name = "LOW:HIGH", value_parser = parse_range)]
    range: Option<[f64; 2]>,

    /// Shows the running flow in a window with a control for its speed. Without --steps it runs
    /// until the window is closed. --render, --as, --iso, --slice and --range set the first
    /// picture; a file is written only with --output
    #[arg(long)]
    pub view: bool,
}

fn parse_finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (*number as f32).is_finite());
    number.ok_or(format!("{text:?} is not a number in the range of 32-bit floats"))
}

/// Parses a range of values: `0:0.1`.
fn parse_range(text: &str) -> Result<[f64; 2], String> {
    let (low, high) = text.split_once(':').ok_or("two numbers, as in 0:0.1")?;
    match [parse_finite(low)?, parse_finite(high)?] {
        [low, high] if low < high => Ok([low, high]),
        [low, high] => Err(format!("from {low} to {high}: the second number must be the larger one")),
    }
}

impl PictureOptions {
    /// Scene of a case with these options.
    pub(crate) fn scene(&self, size: (u32, u32), case: &Case, flow: &Flow<'_>, quantity: ShownQuantity) -> Scene {
        let mut scene = Scene::new(case, flow, quantity, size);
        // A flow in the plane is a slice unless a surface is requested, which is an error.
        if scene.mode == DrawMode::Volume || self.mode == DrawMode::Surface {
            scene.mode = self.mode;
        }
        scene.iso = self.iso;
        if let Some(slice) = self.slice {
            scene.slice = slice;
        }
        if let Some(range) = self.range {
            scene.set_range(range, case.length);
        }
        scene
    }

    /// True if an option is given that only pictures use.
    pub(crate) fn is_given(&self) -> bool {
        self.mode != DrawMode::Volume || self.iso.is_some() || self.slice.is_some() || self.range.is_some()
    }

    /// Message for options that contradict each other.
    pub(crate) fn contradiction(&self) -> Option<&'static str> {
        match self.mode {
            DrawMode::Surface | DrawMode::Volume if self.slice.is_some() => Some("--slice needs --as slice"),
            DrawMode::Slice | DrawMode::Volume if self.iso.is_some() => Some("--iso needs --as surface"),
            _ => None,
        }
    }
}
