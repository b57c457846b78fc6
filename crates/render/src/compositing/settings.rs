//! Input of a compositor: layers and settings.

use zippy::Result;
use zippy::extents::Index;
use zippy::region::{Region, RegionTree};

use crate::error::RenderError;

/// Algorithm that blends layers into one image.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Algorithm {
    /// Pairs of layers swap halves of their pixels, round after round (the paper's algorithm). Each
    /// layer's owner sends about one image, for any number of layers.
    BinarySwap,
    /// Binary swap with groups of these sizes, one size per round; the last size repeats. Larger
    /// groups mean fewer rounds and more messages.
    Radix(Vec<usize>),
    /// Sends every layer directly to the owners of the image's tiles, in one round. Only direct
    /// send yields bits that do not depend on the distribution of layers over ranks. Layers may
    /// cover any region of the image.
    DirectSend,
}

impl Algorithm {
    /// Group sizes of a swap; `None` for direct send.
    pub(super) fn radices(&self) -> Option<&[usize]> {
        match self {
            Self::BinarySwap => Some(&[2]),
            Self::Radix(radices) => Some(radices),
            Self::DirectSend => None,
        }
    }
}

/// Encoding of pixels in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
pub enum Encoding {
    /// Encoding with fewer bytes for the current image; dense if streams may be too long for a
    /// buffer.
    #[default]
    Auto,
    /// All pixels within the layers' bounds.
    Dense,
    /// Non-empty pixels and the lengths of the runs between them. One buffer per rank holds all
    /// streams sent in a round, another all received streams, with room for streams without empty
    /// pixels. Streams that may exceed a buffer are an error.
    RunLength,
}

/// Partial image: premultiplied pixels of a box in an array of all layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Lower corner of the box in the array of pixels.
    pub at: [i64; 2],
    /// Region of the image that the box covers, pixel for pixel.
    pub place: Region,
    /// Region within `place` with possibly non-transparent pixels. Pixels outside are never read.
    pub bounds: Region,
}

impl Layer {
    /// Box in the array of pixels.
    pub fn stored(&self) -> Region {
        Region::at(Index::new(&self.at), self.place.extents())
    }

    /// Position in the array of pixels of an image region within `place`.
    pub fn locate(&self, part: &Region) -> Region {
        part.translate(&(Index::new(&self.at) - self.place.start))
    }
}

/// Settings of a compositor.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Algorithm that blends layers into one image.
    pub algorithm: Algorithm,
    /// Encoding of pixels in messages.
    pub encoding: Encoding,
    /// Distance from 1 of the opacity threshold. A pixel becomes opaque if a blend behind it raises
    /// its opacity to `1 - termination`; later layers then add nothing. 0 disables the rule. Pixels
    /// of single layers and 8-bit pixels are never changed.
    pub termination: f32,
}

impl Settings {
    pub(super) fn check(&self) -> Result<()> {
        if let Some(radices) = self.algorithm.radices()
            && (radices.is_empty() || radices.iter().any(|&radix| radix < 2))
        {
            return Err(invalid(format!("radix-k needs groups of at least 2, not {radices:?}")));
        }
        if !(0.0..1.0).contains(&self.termination) {
            return Err(invalid(format!("the termination must be at least 0 and below 1, not {}", self.termination)));
        }
        Ok(())
    }
}

/// Checks that layers fit the image, the algorithm and, if given, the array of pixels.
pub(super) fn check_layers(
    algorithm: &Algorithm,
    layers: &[Layer],
    size: [i64; 2],
    pixels: Option<&Region>,
) -> Result<()> {
    let picture = Region::whole(Index::new(&size));
    for (number, layer) in layers.iter().enumerate() {
        if layer.place.axes() != 2 || layer.bounds.axes() != 2 {
            return Err(invalid(format!("layer {number} must have a place and bounds of two axes")));
        }
        if !picture.covers(&layer.place) || !layer.place.covers(&layer.bounds) {
            let (place, bounds) = (&layer.place, &layer.bounds);
            let text =
                format!("layer {number} has bounds {bounds} within {place}, which must lie in the picture {picture}");
            return Err(invalid(text));
        }
        if let Some(pixels) = pixels.filter(|pixels| !pixels.covers(&layer.stored())) {
            let text =
                format!("layer {number} is stored at {}, outside of the array of pixels, {pixels}", layer.stored());
            return Err(invalid(text));
        }
        if algorithm.radices().is_some() && layer.place != picture {
            let place = &layer.place;
            let text = format!("swapping needs layers of the whole picture, {picture}; layer {number} covers {place}");
            return Err(invalid(text));
        }
    }
    if pixels.is_none() || algorithm.radices().is_none() {
        return Ok(());
    }
    let boxes: Vec<Region> = layers.iter().map(Layer::stored).collect();
    match RegionTree::new(&boxes).overlapping_pair() {
        Some((first, second)) => {
            Err(invalid(format!("layers {first} and {second} share pixels; swapping needs disjoint layers")))
        }
        None => Ok(()),
    }
}

pub(super) fn invalid(text: String) -> zippy::Error {
    RenderError::Setting(text).into()
}
