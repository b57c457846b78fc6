//! What the command line says of pictures, beside `--render`.

use clap::Args;
use zippy_lbm::Flow;
use zippy_lbm::cases::Case;

use crate::scene::{Scene, Shown, Slice, Way};

#[derive(Args, Debug, Clone)]
pub struct Showing {
    /// How --render draws a flow in space; one in the plane is its own slice
    #[arg(
        long = "as",
        value_enum,
        value_name = "HOW",
        default_value = "volume",
        default_value_if("slice", clap::builder::ArgPredicate::IsPresent, "slice"),
        default_value_if("iso", clap::builder::ArgPredicate::IsPresent, "surface")
    )]
    way: Way,

    /// Where a surface is: the value of what --render shows. Default: a part of the values that have
    /// colours, or half of the largest value that there is
    #[arg(long, value_name = "VALUE", value_parser = finite, conflicts_with = "slice")]
    pub iso: Option<f64>,

    /// Which layer of cells a slice is, counted from 0 along an axis, as z=40; z alone is the middle. Across x it has z to the
    /// right and y up, across y x and z, across z x and y. Default: z
    #[arg(long, value_name = "AXIS[=CELL]", value_parser = Slice::read)]
    slice: Option<Slice>,

    /// The values of the first and of the last colour. Default: by the speed and the length of the case
    #[arg(long, value_name = "LOW:HIGH", value_parser = range)]
    range: Option<[f64; 2]>,

    /// Shows the flow in a window while it runs, which has a slider for the speed of what drives it. Without --steps it runs
    /// until the window is closed. --render, --as, --iso, --slice and --range say what is seen first; a file is written only where
    /// --output is given
    #[arg(long)]
    pub view: bool,
}

fn finite(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| (*number as f32).is_finite());
    number.ok_or(format!("{text:?} is not a number that 32-bit floats have"))
}

/// `0:0.1`.
fn range(text: &str) -> Result<[f64; 2], String> {
    let (low, high) = text.split_once(':').ok_or("two numbers, as in 0:0.1")?;
    match [finite(low)?, finite(high)?] {
        [low, high] if low < high => Ok([low, high]),
        [low, high] => Err(format!("from {low} to {high}: the second number must be the larger one")),
    }
}

impl Showing {
    /// What is seen of a case.
    pub fn scene(&self, size: (u32, u32), case: &Case, flow: &Flow, shown: Shown) -> Scene {
        let mut scene = Scene::of(case, flow, shown, size);
        // Flows in the plane are slices where nothing else is asked for.
        if scene.way == Way::Volume || self.way == Way::Surface {
            scene.way = self.way;
        }
        scene.iso = self.iso;
        if let Some(slice) = self.slice {
            scene.slice = slice;
        }
        if let Some(range) = self.range {
            scene.spread(range, case.length);
        }
        scene
    }

    /// Whether something is said that only pictures have.
    pub fn is_given(&self) -> bool {
        self.way != Way::Volume || self.iso.is_some() || self.slice.is_some() || self.range.is_some()
    }

    /// Options that contradict each other.
    pub fn contradiction(&self) -> Option<&'static str> {
        match self.way {
            Way::Surface | Way::Volume if self.slice.is_some() => Some("--slice is a layer of --as slice"),
            Way::Slice | Way::Volume if self.iso.is_some() => Some("--iso is a value of --as surface"),
            _ => None,
        }
    }
}
