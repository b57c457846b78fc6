//! Fields of a NIfTI header of either version, in either byte order.

use std::ops::Range;

#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub at: usize,
    number_type: NumberType,
}

#[derive(Debug, Clone, Copy)]
enum NumberType {
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl NumberType {
    fn bytes(self) -> usize {
        match self {
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}

const fn field(at: usize, number_type: NumberType) -> Field {
    Field { at, number_type }
}

pub(super) struct Version {
    /// Bytes of the header, also in its first field.
    pub length: usize,
    pub magic: Range<usize>,
    /// Magic of a header with the voxels in the same file, and with the voxels in another file.
    pub single: &'static [u8],
    pub pair: &'static [u8],
    pub dim: Field,
    pub datatype: Field,
    pub bitpix: Field,
    pub pixdim: Field,
    pub vox_offset: Field,
    pub scl_slope: Field,
    pub scl_inter: Field,
    pub qform: Field,
    pub sform: Field,
    /// b, c and d of the quaternion.
    pub quatern: Field,
    pub qoffset: Field,
    /// Rows of the matrix, four numbers each.
    pub srow: Field,
}

/// Source: <https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h>
pub(super) const VERSION_1: Version = Version {
    length: 348,
    magic: 344..348,
    single: b"n+1\0",
    pair: b"ni1\0",
    dim: field(40, NumberType::I16),
    datatype: field(70, NumberType::I16),
    bitpix: field(72, NumberType::I16),
    pixdim: field(76, NumberType::F32),
    vox_offset: field(108, NumberType::F32),
    scl_slope: field(112, NumberType::F32),
    scl_inter: field(116, NumberType::F32),
    qform: field(252, NumberType::I16),
    sform: field(254, NumberType::I16),
    quatern: field(256, NumberType::F32),
    qoffset: field(268, NumberType::F32),
    srow: field(280, NumberType::F32),
};

/// Source: <https://nifti.nimh.nih.gov/pub/dist/doc/nifti2.h>
pub(super) const VERSION_2: Version = Version {
    length: 540,
    magic: 4..12,
    single: b"n+2\0\r\n\x1a\n",
    pair: b"ni2\0\r\n\x1a\n",
    dim: field(16, NumberType::I64),
    datatype: field(12, NumberType::I16),
    bitpix: field(14, NumberType::I16),
    pixdim: field(104, NumberType::F64),
    vox_offset: field(168, NumberType::I64),
    scl_slope: field(176, NumberType::F64),
    scl_inter: field(184, NumberType::F64),
    qform: field(344, NumberType::I32),
    sform: field(348, NumberType::I32),
    quatern: field(352, NumberType::F64),
    qoffset: field(376, NumberType::F64),
    srow: field(400, NumberType::F64),
};

pub(super) struct Fields<'a> {
    pub version: &'static Version,
    pub big_endian: bool,
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Parses a header; `None` if the bytes are no header, or truncated.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let length_field: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        [&VERSION_1, &VERSION_2].into_iter().find_map(|version| {
            let length = version.length as i32;
            let big_endian = i32::from_be_bytes(length_field) == length;
            let matches = big_endian || i32::from_le_bytes(length_field) == length;
            matches.then_some(Self { version, big_endian, bytes })
        })
    }

    pub(super) fn complete(&self) -> bool {
        self.bytes.len() >= self.version.length
    }

    pub(super) fn magic(&self) -> &[u8] {
        &self.bytes[self.version.magic.clone()]
    }

    fn raw<const N: usize>(&self, field: Field, number: usize) -> [u8; N] {
        let at = field.at + number * field.number_type.bytes();
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.bytes[at..at + N]);
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }

    /// Number `number` of a field of integers.
    pub(super) fn integer(&self, field: Field, number: usize) -> i64 {
        match field.number_type {
            NumberType::I16 => i16::from_le_bytes(self.raw(field, number)).into(),
            NumberType::I32 => i32::from_le_bytes(self.raw(field, number)).into(),
            NumberType::I64 => i64::from_le_bytes(self.raw(field, number)),
            NumberType::F32 | NumberType::F64 => self.float(field, number) as i64,
        }
    }

    /// Number `number` of any field.
    pub(super) fn float(&self, field: Field, number: usize) -> f64 {
        match field.number_type {
            NumberType::F32 => f32::from_le_bytes(self.raw(field, number)).into(),
            NumberType::F64 => f64::from_le_bytes(self.raw(field, number)),
            NumberType::I16 | NumberType::I32 | NumberType::I64 => self.integer(field, number) as f64,
        }
    }
}
