//! VTI files, written from the format's description.

use std::fmt::Display;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::volumes::{bytes, zlib};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Format {
    Ascii,
    Binary,
    Raw,
    Base64,
}

pub(crate) const FORMATS: [Format; 4] = [Format::Ascii, Format::Binary, Format::Raw, Format::Base64];

#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    pub format: Format,
    pub big: bool,
    /// Bytes of a length.
    pub word: usize,
    /// Bytes of a compressed block.
    pub block: Option<usize>,
    /// True if the length is encoded separately.
    pub apart: bool,
}

pub(crate) struct Piece {
    pub extent: [i64; 6],
    pub arrays: Vec<Array>,
}

pub(crate) struct Array {
    name: String,
    kind: String,
    components: usize,
    text: String,
    bytes: Vec<u8>,
}

impl Array {
    pub(crate) fn new<T: bytemuck::Pod + Display>(
        name: &str,
        kind: &str,
        components: usize,
        data: &[T],
        big: bool,
    ) -> Self {
        let text = data.chunks(6).map(|line| line.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        let text = text.collect::<Vec<_>>().join("\n          ");
        Self { name: name.into(), kind: kind.into(), components, text, bytes: bytes(data, big) }
    }
}

impl Style {
    fn words(&self, words: &[usize]) -> Vec<u8> {
        let word = |&value: &usize| match self.word {
            4 => bytes(&[value as u32], self.big),
            _ => bytes(&[value as u64], self.big),
        };
        words.iter().flat_map(word).collect()
    }

    /// Encoded data after their length or block table.
    fn blob(&self, data: &[u8]) -> Vec<u8> {
        let (head, body) = match self.block {
            None => (self.words(&[data.len()]), data.to_vec()),
            Some(size) => {
                let blocks: Vec<Vec<u8>> = data.chunks(size).map(zlib).collect();
                let mut words = vec![blocks.len(), size, data.len() % size];
                words.extend(blocks.iter().map(Vec::len));
                (self.words(&words), blocks.concat())
            }
        };
        let text = |bytes: &[u8]| STANDARD.encode(bytes).into_bytes();
        match self.format {
            Format::Raw | Format::Ascii => [head, body].concat(),
            _ if self.apart || self.block.is_some() => [text(&head), text(&body)].concat(),
            _ => text(&[head, body].concat()),
        }
    }

    /// The whole file; `active` names the active scalars.
    pub(crate) fn write(&self, whole: [i64; 6], active: &str, pieces: &[Piece]) -> Vec<u8> {
        let extent = |extent: [i64; 6]| extent.map(|value| value.to_string()).join(" ");
        let mut appended = Vec::new();
        let order = if self.big { "BigEndian" } else { "LittleEndian" };
        let compressor = if self.block.is_some() { " compressor=\"vtkZLibDataCompressor\"" } else { "" };
        let mut out = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"{order}\" \
             header_type=\"UInt{}\"{compressor}>\n  <ImageData WholeExtent=\"{}\" Origin=\"1 2 3\" Spacing=\"0.5 1.25 70\" \
             Direction=\"1 0 0 0 1 0 0 0 1\">\n",
            self.word * 8,
            extent(whole)
        );
        for piece in pieces {
            out += &format!("  <Piece Extent=\"{}\">\n    <PointData{active}>\n", extent(piece.extent));
            for array in &piece.arrays {
                let Array { name, kind, components, .. } = array;
                out += &format!(
                    "      <DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" RangeMin=\"0\""
                );
                let key = "<InformationKey name=\"L2_NORM_RANGE\" location=\"vtkDataArray\" length=\"1\">\n\
                           <Value index=\"0\">\n7\n</Value></InformationKey>\n";
                match self.format {
                    Format::Ascii => {
                        out += &format!(" format=\"ascii\">\n          {}\n      {key}</DataArray>\n", array.text)
                    }
                    Format::Binary => {
                        let text = String::from_utf8(self.blob(&array.bytes)).unwrap();
                        out += &format!(" format=\"binary\">\n{key}          {text}\n      </DataArray>\n");
                    }
                    _ => {
                        out += &format!(" format=\"appended\" offset=\"{}\"/>\n", appended.len());
                        appended.extend(self.blob(&array.bytes));
                    }
                }
            }
            out += "    </PointData>\n    <CellData>\n    </CellData>\n  </Piece>\n";
        }
        out += "  </ImageData>\n";
        let mut out = out.into_bytes();
        if matches!(self.format, Format::Raw | Format::Base64) {
            let encoding = if self.format == Format::Raw { "raw" } else { "base64" };
            out.extend(format!("  <AppendedData encoding=\"{encoding}\">\n   _").into_bytes());
            out.extend(appended);
            out.extend(b"\n  </AppendedData>\n");
        }
        out.extend(b"</VTKFile>\n");
        out
    }
}

/// All styles; text only once, because it has neither byte order nor lengths.
pub(crate) fn styles() -> Vec<Style> {
    let mut all = vec![Style { format: Format::Ascii, big: false, word: 4, block: None, apart: false }];
    for format in &FORMATS[1..] {
        for variant in 0..4 {
            let (big, word) = (variant & 1 > 0, [4, 8][variant >> 1]);
            for (block, apart) in [(None, false), (None, true), (Some(24), false), (Some(1000), false)] {
                all.push(Style { format: *format, big, word, block, apart });
            }
        }
    }
    all
}
