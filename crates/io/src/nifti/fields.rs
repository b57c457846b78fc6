//! Fields of a NIfTI header of either version, in either byte order.

use std::ops::Range;

/// Position and number type of a field.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub at: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    I16,
    I32,
    I64,
    F32,
    F64,
}

impl Kind {
    fn bytes(self) -> usize {
        match self {
            Self::I16 => 2,
            Self::I32 | Self::F32 => 4,
            Self::I64 | Self::F64 => 8,
        }
    }
}

const fn field(at: usize, kind: Kind) -> Field {
    Field { at, kind }
}

/// The fields of one version.
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
    /// The rows of the matrix, four numbers each.
    pub srow: Field,
}

/// <https://nifti.nimh.nih.gov/pub/dist/src/niftilib/nifti1.h>
pub(super) const FIRST: Version = Version {
    length: 348,
    magic: 344..348,
    single: b"n+1\0",
    pair: b"ni1\0",
    dim: field(40, Kind::I16),
    datatype: field(70, Kind::I16),
    bitpix: field(72, Kind::I16),
    pixdim: field(76, Kind::F32),
    vox_offset: field(108, Kind::F32),
    scl_slope: field(112, Kind::F32),
    scl_inter: field(116, Kind::F32),
    qform: field(252, Kind::I16),
    sform: field(254, Kind::I16),
    quatern: field(256, Kind::F32),
    qoffset: field(268, Kind::F32),
    srow: field(280, Kind::F32),
};

/// <https://nifti.nimh.nih.gov/pub/dist/doc/nifti2.h>
pub(super) const SECOND: Version = Version {
    length: 540,
    magic: 4..12,
    single: b"n+2\0\r\n\x1a\n",
    pair: b"ni2\0\r\n\x1a\n",
    dim: field(16, Kind::I64),
    datatype: field(12, Kind::I16),
    bitpix: field(14, Kind::I16),
    pixdim: field(104, Kind::F64),
    vox_offset: field(168, Kind::I64),
    scl_slope: field(176, Kind::F64),
    scl_inter: field(184, Kind::F64),
    qform: field(344, Kind::I32),
    sform: field(348, Kind::I32),
    quatern: field(352, Kind::F64),
    qoffset: field(376, Kind::F64),
    srow: field(400, Kind::F64),
};

/// Bytes of a header.
pub(super) struct Fields<'a> {
    pub version: &'static Version,
    pub big_endian: bool,
    bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    /// Parses a header; `None` if the bytes are no header, or truncated.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let first: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        [&FIRST, &SECOND].into_iter().find_map(|version| {
            let length = version.length as i32;
            let big_endian = i32::from_be_bytes(first) == length;
            let ours = big_endian || i32::from_le_bytes(first) == length;
            ours.then_some(Self { version, big_endian, bytes })
        })
    }

    /// True if the header is complete.
    pub(super) fn complete(&self) -> bool {
        self.bytes.len() >= self.version.length
    }

    pub(super) fn magic(&self) -> &[u8] {
        &self.bytes[self.version.magic.clone()]
    }

    fn raw<const N: usize>(&self, field: Field, number: usize) -> [u8; N] {
        let at = field.at + number * field.kind.bytes();
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.bytes[at..at + N]);
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }

    /// Number `number` of a field of integers.
    pub(super) fn integer(&self, field: Field, number: usize) -> i64 {
        match field.kind {
            Kind::I16 => i16::from_le_bytes(self.raw(field, number)).into(),
            Kind::I32 => i32::from_le_bytes(self.raw(field, number)).into(),
            Kind::I64 => i64::from_le_bytes(self.raw(field, number)),
            Kind::F32 | Kind::F64 => self.float(field, number) as i64,
        }
    }

    /// Number `number` of any field.
    pub(super) fn float(&self, field: Field, number: usize) -> f64 {
        match field.kind {
            Kind::F32 => f32::from_le_bytes(self.raw(field, number)).into(),
            Kind::F64 => f64::from_le_bytes(self.raw(field, number)),
            Kind::I16 | Kind::I32 | Kind::I64 => self.integer(field, number) as f64,
        }
    }
}
