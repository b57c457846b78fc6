//! What is to be blended, and how.

use zippy::Result;
use zippy::extents::Index;
use zippy::region::{Region, RegionTree};

use crate::error::RenderError;

/// How layers become one picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Algorithm {
    /// Pairs of layers swap halves of what they hold, round after round (the paper's): each layer's owner sends about
    /// one picture, whatever the number of layers is.
    BinarySwap,
    /// As binary swap, in groups of these sizes, round by round; the last one repeats. Fewer rounds, more messages.
    Radix(Vec<usize>),
    /// Every layer goes straight to the owners of the picture's tiles: one round, and the only one whose bits do not
    /// depend on which layers there are on a rank. Takes layers that cover any part of the picture.
    DirectSend,
}

impl Algorithm {
    /// The group sizes of a swap.
    pub(super) fn radices(&self) -> Option<&[usize]> {
        match self {
            Self::BinarySwap => Some(&[2]),
            Self::Radix(radices) => Some(radices),
            Self::DirectSend => None,
        }
    }
}

/// How pixels travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum Encoding {
    /// As whichever of the others moves fewer bytes for the picture at hand; all of them where streams may be too long
    /// for a buffer.
    #[default]
    Auto,
    /// All pixels within the layers' bounds.
    Dense,
    /// Only pixels that are not empty, with the lengths of the runs between them. What a rank sends in a round lies in
    /// one buffer, and so does what it receives, with room for pixels of which none is empty: more than a buffer holds
    /// is an error.
    RunLength,
}

/// A partial picture: pixels within a box, premultiplied, in an array of pixels that holds all layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layer {
    /// The lower corner of its box in the array of pixels.
    pub at: [i64; 2],
    /// The part of the picture that the box covers, pixel for pixel.
    pub place: Region,
    /// The part of `place` that may hold something. What the array has outside is not looked at.
    pub bounds: Region,
}

impl Layer {
    /// Its box in the array of pixels.
    pub fn stored(&self) -> Region {
        Region::at(Index::new(&self.at), self.place.extents())
    }

    /// Where a part of the picture within `place` lies in the array of pixels.
    pub fn locate(&self, part: &Region) -> Region {
        part.translate(&(Index::new(&self.at) - self.place.start))
    }
}

/// What a compositor does with every picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// How layers become one picture.
    pub algorithm: Algorithm,
    /// How pixels travel.
    pub encoding: Encoding,
    /// Where a pixel gets an opacity of at least one minus this as something is blended behind it, it becomes opaque,
    /// so that whatever lies behind adds nothing; 0 to blend as it is. The pixels of layers themselves stay as they
    /// are, and so do those of 8 bits.
    pub termination: f32,
}

impl Settings {
    pub(super) fn check(&self) -> Result<()> {
        if let Some(radices) = self.algorithm.radices()
            && (radices.is_empty() || radices.iter().any(|&radix| radix < 2))
        {
            return Err(wrong(format!("radix-k needs groups of at least 2; given are {radices:?}")));
        }
        if !(0.0..1.0).contains(&self.termination) {
            return Err(wrong(format!(
                "the termination must be at least 0 and below 1; given is {}",
                self.termination
            )));
        }
        Ok(())
    }
}

/// That layers fit the picture and the algorithm, and the array of pixels where it is given.
pub(super) fn check_layers(
    algorithm: &Algorithm,
    layers: &[Layer],
    size: [i64; 2],
    pixels: Option<&Region>,
) -> Result<()> {
    let picture = Region::whole(Index::new(&size));
    for (number, layer) in layers.iter().enumerate() {
        if layer.place.axes() != 2 || layer.bounds.axes() != 2 {
            return Err(wrong(format!("layer {number} must have a place and bounds of two axes")));
        }
        if !picture.covers(&layer.place) || !layer.place.covers(&layer.bounds) {
            let (place, bounds) = (&layer.place, &layer.bounds);
            let text =
                format!("layer {number} has bounds {bounds} within {place}, which must lie in the picture {picture}");
            return Err(wrong(text));
        }
        if let Some(pixels) = pixels.filter(|pixels| !pixels.covers(&layer.stored())) {
            let text = format!("layer {number} lies at {}, outside of the array of pixels, {pixels}", layer.stored());
            return Err(wrong(text));
        }
        if algorithm.radices().is_some() && layer.place != picture {
            let place = &layer.place;
            let text = format!("swapping needs layers of the whole picture, {picture}; layer {number} covers {place}");
            return Err(wrong(text));
        }
    }
    if pixels.is_none() || algorithm.radices().is_none() {
        return Ok(());
    }
    let boxes: Vec<Region> = layers.iter().map(Layer::stored).collect();
    match RegionTree::new(&boxes).overlapping_pair() {
        Some((one, other)) => Err(wrong(format!("layers {one} and {other} share pixels, to which a swap writes"))),
        None => Ok(()),
    }
}

pub(super) fn wrong(text: String) -> zippy::Error {
    RenderError::Setting(text).into()
}
