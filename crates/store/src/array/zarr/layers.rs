//! [`Layers`]: nested shards and chunks, as the codecs of an array define them.

use serde_json::Value;
use zarrs::metadata::v3::MetadataV3;
use zippy::extents::Index;

use super::decode::Decoder;
use super::fields::{Leaf, reversed};
use super::shards::Shards;
use super::values::{literal, sizes, wrong};
use zippy_io::array::AxisOrder;

/// Maximum depth of nested shards.
const MOST_SHARDS: usize = 3;

/// Nested shards, and the chunks in the innermost ones.
pub(super) struct Layers {
    /// Outermost shards first; empty if a chunk is a file.
    pub shards: Vec<Shards>,
    /// Extents of a unit of decoding, in cells.
    pub piece: Index,
    pub decoder: Decoder,
}

impl Layers {
    /// Parses the codecs of a chunk with these extents.
    ///
    /// # Errors
    /// An unsupported codec, or a codec at an unsupported position.
    pub(super) fn new(codecs: &[MetadataV3], leaf: &Leaf, chunk: Index) -> Result<Self, String> {
        let axes = chunk.axes();
        // Per dimension of the encoded data: the dimension of the array, in Zarr's order.
        let mut dimensions: Vec<usize> = (0..axes + usize::from(leaf.numbers.is_some())).collect();
        let (mut codecs, mut piece, mut shards) = (codecs.to_vec(), chunk, Vec::new());
        loop {
            let first = codecs.iter().take_while(|codec| codec.name() == "transpose").count();
            for codec in codecs.drain(..first) {
                let order = permutation(&codec, dimensions.len())?;
                dimensions = order.into_iter().map(|place| dimensions[place]).collect();
            }
            let order = in_file(&dimensions);
            match &codecs[..] {
                [one] if one.name() == "sharding_indexed" => {
                    if shards.len() == MOST_SHARDS {
                        return Err(format!("more than {MOST_SHARDS} shards in each other are not read"));
                    }
                    let value = |key: &str| one.configuration().and_then(|all| all.get(key)).unwrap_or(&Value::Null);
                    let turned = sizes("chunk_shape", value("chunk_shape"))?;
                    if turned.len() != dimensions.len() {
                        return Err(wrong("chunk_shape", value("chunk_shape"), "a number for each dimension is read"));
                    }
                    let mut extents = vec![0; turned.len()];
                    dimensions.iter().zip(&turned).for_each(|(&dimension, &extent)| extents[dimension] = extent);
                    let inner = reversed(&extents, leaf, axes, false)?;
                    let place = match value("index_location").as_str() {
                        Some("start") => false,
                        Some("end") => true,
                        _ if value("index_location").is_null() => true,
                        _ => {
                            let read = "\"start\" and \"end\" are read";
                            return Err(wrong("index_location", value("index_location"), read));
                        }
                    };
                    let index = Decoder::new(&listed("index_codecs", value("index_codecs"))?, 8, None)?;
                    shards.push(Shards::new((&piece, &inner), leaf.numbers.is_some(), order, (index, place))?);
                    codecs = listed("codecs", value("codecs"))?;
                    piece = inner;
                }
                _ => return Ok(Self { shards, piece, decoder: Decoder::new(&codecs, leaf.number_bytes, order)? }),
            }
        }
    }
}

/// Order of the axes in encoded data, if it differs from the array's; the numbers of a vector are
/// axis 0.
fn in_file(dimensions: &[usize]) -> Option<AxisOrder> {
    let last = dimensions.len() - 1;
    AxisOrder::new(dimensions.iter().rev().map(|dimension| last - dimension).collect())
}

fn listed(key: &str, value: &Value) -> Result<Vec<MetadataV3>, String> {
    let list = serde_json::from_value(value.clone());
    list.map_err(|_| wrong(key, value, "a list of codecs, each with a \"name\", is read"))
}

/// Order of the codec "transpose": for each output dimension, the input dimension.
fn permutation(codec: &MetadataV3, count: usize) -> Result<Vec<usize>, String> {
    let order = codec.configuration().and_then(|all| all.get("order")).unwrap_or(&Value::Null);
    match order.as_str() {
        Some("C") => return Ok((0..count).collect()),
        Some("F") => return Ok((0..count).rev().collect()),
        _ => {}
    }
    let found: Vec<usize> = sizes("order", order)?.iter().map(|&place| place as usize).collect();
    match found.len() == count && (0..count).all(|place| found.contains(&place)) {
        true => Ok(found),
        false => Err(format!(
            "the \"order\" of the codec \"transpose\" is {}; each of 0 to {} once is read",
            literal(order),
            count - 1
        )),
    }
}
