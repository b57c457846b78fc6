//! [`ShardLayers`]: nested shards and chunks, as the codecs of an array define them.

use serde_json::Value;
use zarrs::metadata::v3::MetadataV3;
use zippy::extents::Index;

use super::decode::Decoder;
use super::fields::{Leaf, cell_extents};
use super::shards::Shards;
use super::values::{literal, sizes, wrong};
use zippy_io::array::AxisOrder;

const MOST_SHARDS: usize = 3;

/// Nested shards, and the chunks in the innermost ones.
pub(super) struct ShardLayers {
    /// Outermost shards first; empty if each chunk is a file.
    pub shards: Vec<Shards>,
    /// Extents in cells of a unit of decoding.
    pub inner_chunk: Index,
    pub decoder: Decoder,
}

impl ShardLayers {
    pub(super) fn new(codecs: &[MetadataV3], leaf: &Leaf, chunk: Index) -> Result<Self, String> {
        let axes = chunk.axes();
        // Array dimension per dimension of the encoded data, in Zarr's order.
        let mut dimensions: Vec<usize> = (0..axes + usize::from(leaf.numbers.is_some())).collect();
        let (mut codecs, mut inner_chunk, mut shards) = (codecs.to_vec(), chunk, Vec::new());
        loop {
            let transposes = codecs.iter().take_while(|codec| codec.name() == "transpose").count();
            for codec in codecs.drain(..transposes) {
                let order = permutation(&codec, dimensions.len())?;
                dimensions = order.into_iter().map(|dimension| dimensions[dimension]).collect();
            }
            let order = axis_order(&dimensions);
            match &codecs[..] {
                [codec] if codec.name() == "sharding_indexed" => {
                    if shards.len() == MOST_SHARDS {
                        return Err(format!("more than {MOST_SHARDS} shards in each other are not read"));
                    }
                    let value = |key: &str| codec.configuration().and_then(|all| all.get(key)).unwrap_or(&Value::Null);
                    let encoded_extents = sizes("chunk_shape", value("chunk_shape"))?;
                    if encoded_extents.len() != dimensions.len() {
                        return Err(wrong("chunk_shape", value("chunk_shape"), "a number for each dimension is read"));
                    }
                    let mut extents = vec![0; encoded_extents.len()];
                    dimensions
                        .iter()
                        .zip(&encoded_extents)
                        .for_each(|(&dimension, &extent)| extents[dimension] = extent);
                    let extents_in_cells = cell_extents(&extents, leaf, axes, false)?;
                    let is_index_at_end = match value("index_location").as_str() {
                        Some("start") => false,
                        Some("end") => true,
                        _ if value("index_location").is_null() => true,
                        _ => {
                            let read = "\"start\" and \"end\" are read";
                            return Err(wrong("index_location", value("index_location"), read));
                        }
                    };
                    let index = Decoder::new(&codec_list("index_codecs", value("index_codecs"))?, 8, None)?;
                    shards.push(Shards::new(
                        (&inner_chunk, &extents_in_cells),
                        leaf.numbers.is_some(),
                        order,
                        (index, is_index_at_end),
                    )?);
                    codecs = codec_list("codecs", value("codecs"))?;
                    inner_chunk = extents_in_cells;
                }
                _ => {
                    return Ok(Self { shards, inner_chunk, decoder: Decoder::new(&codecs, leaf.number_bytes, order)? });
                }
            }
        }
    }
}

/// Order of the axes in encoded data, if it differs from the array's; the numbers of a vector are
/// axis 0.
fn axis_order(dimensions: &[usize]) -> Option<AxisOrder> {
    let last = dimensions.len() - 1;
    AxisOrder::new(dimensions.iter().rev().map(|dimension| last - dimension).collect())
}

fn codec_list(key: &str, value: &Value) -> Result<Vec<MetadataV3>, String> {
    let list = serde_json::from_value(value.clone());
    list.map_err(|_| wrong(key, value, "a list of codecs, each with a \"name\", is read"))
}

/// Parses the order of the codec "transpose": the input dimension per output dimension.
fn permutation(codec: &MetadataV3, count: usize) -> Result<Vec<usize>, String> {
    let order = codec.configuration().and_then(|all| all.get("order")).unwrap_or(&Value::Null);
    match order.as_str() {
        Some("C") => return Ok((0..count).collect()),
        Some("F") => return Ok((0..count).rev().collect()),
        _ => {}
    }
    let found: Vec<usize> = sizes("order", order)?.iter().map(|&dimension| dimension as usize).collect();
    if found.len() == count && (0..count).all(|dimension| found.contains(&dimension)) {
        return Ok(found);
    }
    Err(format!(
        "the \"order\" of the codec \"transpose\" is {}; each of 0 to {} once is read",
        literal(order),
        count - 1
    ))
}
