//! Number types of volumes.

use std::fmt;
use std::str::FromStr;

use half::f16;

/// Type of the numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say all")]
pub enum ScalarKind {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    /// IEEE 754 half precision.
    F16,
    F32,
    F64,
}

impl ScalarKind {
    const ALL: [Self; 11] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::U64,
        Self::I64,
        Self::F16,
        Self::F32,
        Self::F64,
    ];

    /// Bytes of a number.
    pub fn bytes(self) -> u64 {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 | Self::F16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }

    /// Rust name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F16 => "f16",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Smallest and largest value of an integer type; `None` for floats.
    pub fn range(self) -> Option<(f64, f64)> {
        Some(match self {
            Self::U8 => (0.0, f64::from(u8::MAX)),
            Self::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
            Self::U16 => (0.0, f64::from(u16::MAX)),
            Self::I16 => (f64::from(i16::MIN), f64::from(i16::MAX)),
            Self::U32 => (0.0, f64::from(u32::MAX)),
            Self::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
            Self::U64 => (0.0, u64::MAX as f64),
            Self::I64 => (i64::MIN as f64, i64::MAX as f64),
            Self::F16 | Self::F32 | Self::F64 => return None,
        })
    }
}

impl FromStr for ScalarKind {
    type Err = String;

    /// Parses the name of a type in Rust, NumPy, C, NRRD, MetaImage or VTK, without regard to case.
    fn from_str(name: &str) -> Result<Self, String> {
        let words = name.to_ascii_lowercase().replace(['_', '-'], " ");
        let words: Vec<&str> = words.split_ascii_whitespace().filter(|&word| word != "met").collect();
        let plain = words.join(" ");
        let plain = plain.strip_suffix(" t").unwrap_or(&plain);
        Ok(match plain {
            "u8" | "uint8" | "byte" | "uchar" | "unsigned char" | "unsigned byte" | "bool" => Self::U8,
            "i8" | "int8" | "char" | "schar" | "signed char" | "signed byte" | "sbyte" => Self::I8,
            "u16" | "uint16" | "ushort" | "unsigned short" | "unsigned short int" => Self::U16,
            "i16" | "int16" | "short" | "short int" | "signed short" | "signed short int" => Self::I16,
            "u32" | "uint32" | "uint" | "unsigned int" | "unsigned" => Self::U32,
            "i32" | "int32" | "int" | "signed int" | "integer" => Self::I32,
            "u64" | "uint64" | "ulonglong" | "ulong long" | "unsigned long long" | "unsigned long long int" => {
                Self::U64
            }
            "i64" | "int64" | "longlong" | "long long" | "signed long long" | "long long int" => Self::I64,
            "f16" | "float16" | "half" | "half float" => Self::F16,
            "f32" | "float32" | "float" | "single" => Self::F32,
            "f64" | "float64" | "double" => Self::F64,
            "long" | "unsigned long" | "ulong" => {
                return Err(format!("{name:?} has 4 bytes on some systems and 8 on others: give int32 or int64"));
            }
            _ => {
                let names = Self::ALL.map(Self::name).join(", ");
                return Err(format!(
                    "{name:?} is none of {names}, nor another name of these types (uint16, float, ..)"
                ));
            }
        })
    }
}

/// Byte order of numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first.
    Little,
    /// Most significant byte first.
    Big,
}

impl FromStr for Endian {
    type Err = String;

    /// Parses `little` or `big`.
    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "little" => Ok(Self::Little),
            "big" => Ok(Self::Big),
            _ => Err(format!("{name:?} is neither little nor big")),
        }
    }
}

impl fmt::Display for Endian {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Little => "little",
            Self::Big => "big",
        })
    }
}

impl fmt::Display for ScalarKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Rust type as which voxels can be read without conversion.
pub trait FileScalar: bytemuck::Pod {
    /// Number type in the file.
    const KIND: ScalarKind;
}

macro_rules! voxel {
    ($($type:ty => $kind:ident),*) => {
        $(impl FileScalar for $type { const KIND: ScalarKind = ScalarKind::$kind; })*
    };
}
voxel!(u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32, u64 => U64, i64 => I64, f16 => F16, f32 => F32, f64 => F64);

/// Evaluates an expression for each voxel. Half floats are f64 in the expression.
macro_rules! map_voxels {
    ($kind:expr, $bytes:expr, |$voxel:ident| $value:expr) => {
        match $kind {
            ScalarKind::U8 => values::<u8>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::I8 => values::<i8>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::U16 => values::<u16>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::I16 => values::<i16>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::U32 => values::<u32>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::I32 => values::<i32>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::U64 => values::<u64>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::I64 => values::<i64>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::F16 => values::<f16>($bytes).map(f16::to_f64).map(|$voxel| $value).collect(),
            ScalarKind::F32 => values::<f32>($bytes).map(|$voxel| $value).collect(),
            ScalarKind::F64 => values::<f64>($bytes).map(|$voxel| $value).collect(),
        }
    };
}

fn values<T: bytemuck::AnyBitPattern>(bytes: &[u8]) -> impl Iterator<Item = T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned)
}

/// Rounds to the nearest f32. The voxels have the machine's byte order.
pub(super) fn to_f32(kind: ScalarKind, bytes: &[u8]) -> Vec<f32> {
    map_voxels!(kind, bytes, |voxel| voxel as f32)
}

/// Rounds slope * voxel + intercept to the nearest f32.
pub(super) fn to_scaled_f32(kind: ScalarKind, bytes: &[u8], slope: f64, intercept: f64) -> Vec<f32> {
    map_voxels!(kind, bytes, |voxel| (slope * voxel as f64 + intercept) as f32)
}

/// Rounds slope * voxel + intercept to the nearest f64.
pub(super) fn to_f64(kind: ScalarKind, bytes: &[u8], scale: Option<(f64, f64)>) -> Vec<f64> {
    match scale {
        None => map_voxels!(kind, bytes, |voxel| voxel as f64),
        Some((slope, intercept)) => map_voxels!(kind, bytes, |voxel| slope * voxel as f64 + intercept),
    }
}

pub(super) fn swap_bytes(kind: ScalarKind, bytes: &mut [u8]) {
    let width = kind.bytes() as usize;
    if width > 1 {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}
