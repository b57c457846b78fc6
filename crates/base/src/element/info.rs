use crate::error::ElementError;

/// WGSL scalar type of cells and record members.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `f32`
    F32,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `f16`, if the adapter supports it
    F16,
    /// `f64`, if the adapter supports it
    F64,
    /// `i64`, if the adapter supports it
    I64,
    /// `u64`, if the adapter supports it
    U64,
}

impl Scalar {
    /// Size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 => 2,
            Self::F32 | Self::I32 | Self::U32 => 4,
            Self::F64 | Self::I64 | Self::U64 => 8,
        }
    }

    const fn vector_name(self, n: usize) -> &'static str {
        macro_rules! names {
            ($($scalar:ident $name:literal)*) => {
                match (self, n) {
                    $((Self::$scalar, 1) => $name,
                      (Self::$scalar, 2) => concat!("vec2<", $name, ">"),
                      (Self::$scalar, 3) => concat!("vec3<", $name, ">"),
                      (Self::$scalar, _) => concat!("vec4<", $name, ">"),)*
                }
            };
        }
        names!(F32 "f32" I32 "i32" U32 "u32" F16 "f16" F64 "f64" I64 "i64" U64 "u64")
    }
}

/// 8- or 16-bit integer type, packed in 32-bit words from the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Packed {
    /// Four unsigned bytes in a word.
    U8,
    /// Four signed bytes in a word.
    I8,
    /// Two unsigned 16-bit integers in a word.
    U16,
    /// Two signed 16-bit integers in a word.
    I16,
}

impl Packed {
    /// Size of a cell in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
        }
    }

    /// True if loads extend the sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16)
    }
}

/// Member of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Name of the member in Rust and WGSL.
    pub name: &'static str,
    /// Offset in the record, in bytes.
    pub offset: usize,
    /// Type of the member.
    pub info: ElementInfo,
}

/// Structure of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// A scalar.
    Scalar(Scalar),
    /// A vector of 2 or 4 scalars; of 3 scalars only as a member of a record.
    Vector(Scalar, usize),
    /// An integer, packed in 32-bit words.
    Packed(Packed),
    /// A struct with these members, in order.
    Record(&'static [Field]),
}

/// Description of the WGSL type of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementInfo {
    /// Name of the WGSL type (`"vec2<f32>"`), or the Rust name for packed integers and records.
    pub name: &'static str,
    /// Size of a cell, in bytes.
    pub bytes: usize,
    /// Alignment of the WGSL type in a storage buffer, in bytes.
    pub align: usize,
    /// Structure of the type.
    pub kind: ElementKind,
}

impl ElementInfo {
    /// Description of a scalar.
    pub const fn scalar(scalar: Scalar) -> Self {
        let bytes = scalar.bytes();
        Self { name: scalar.vector_name(1), bytes, align: bytes, kind: ElementKind::Scalar(scalar) }
    }

    /// Description of a vector of 2, 3 or 4 scalars.
    ///
    /// # Panics
    /// If `n` is not 2, 3 or 4.
    pub const fn vector(scalar: Scalar, n: usize) -> Self {
        assert!(n >= 2 && n <= 4, "vectors have 2, 3 or 4 components");
        let align = scalar.bytes() * if n == 2 { 2 } else { 4 };
        Self { name: scalar.vector_name(n), bytes: scalar.bytes() * n, align, kind: ElementKind::Vector(scalar, n) }
    }

    /// Description of a packed integer.
    pub const fn packed(packed: Packed) -> Self {
        let name = match packed {
            Packed::U8 => "u8",
            Packed::I8 => "i8",
            Packed::U16 => "u16",
            Packed::I16 => "i16",
        };
        Self { name, bytes: packed.bytes(), align: packed.bytes(), kind: ElementKind::Packed(packed) }
    }

    /// Returns the scalars, vectors and packed integers of a cell, in order, with nested records
    /// flattened.
    ///
    /// Each item has the path of member names from the outermost record (empty if the cell is no
    /// record), the offset in the cell in bytes, and the kind, which is never a record.
    ///
    /// ```
    /// # extern crate zippy_base as zippy;
    /// # use zippy::{Element, element::{ElementKind, Scalar}};
    /// #[derive(Clone, Copy, Element)]
    /// #[repr(C)]
    /// struct Particle {
    ///     position: [f32; 3],
    ///     id: u32,
    /// }
    /// let [position, id] = &Particle::INFO.flat()[..] else { panic!("two members") };
    /// assert_eq!(*position, (vec!["position"], 0, ElementKind::Vector(Scalar::F32, 3)));
    /// assert_eq!(*id, (vec!["id"], 12, ElementKind::Scalar(Scalar::U32)));
    /// ```
    pub fn flat(&self) -> Vec<(Vec<&'static str>, usize, ElementKind)> {
        let mut items = Vec::new();
        self.flatten(&[], 0, &mut items);
        items
    }

    fn flatten(&self, path: &[&'static str], offset: usize, items: &mut Vec<(Vec<&'static str>, usize, ElementKind)>) {
        let ElementKind::Record(fields) = self.kind else {
            return items.push((path.to_vec(), offset, self.kind));
        };
        for field in fields {
            field.info.flatten(&[path, &[field.name]].concat(), offset + field.offset, items);
        }
    }

    /// WGSL declarations of the records in the type, innermost first, for a composed kernel; empty
    /// for other types.
    pub fn declarations(&self) -> String {
        let mut text = String::new();
        self.declare(&mut Vec::new(), &mut text);
        text
    }

    fn declare(&self, declared: &mut Vec<&'static str>, text: &mut String) {
        let ElementKind::Record(fields) = self.kind else { return };
        if declared.contains(&self.name) {
            return;
        }
        fields.iter().for_each(|field| field.info.declare(declared, text));
        let members: Vec<String> =
            fields.iter().map(|field| format!("    {}: {},\n", field.name, field.info.name)).collect();
        text.push_str(&format!("struct {} {{\n{}}}\n", self.name, members.concat()));
        declared.push(self.name);
    }

    /// Shader features that kernels on the type need.
    #[doc(hidden)]
    pub fn requires(&self) -> Capabilities {
        match self.kind {
            ElementKind::Scalar(scalar) | ElementKind::Vector(scalar, _) => Capabilities {
                f16: scalar == Scalar::F16,
                f64: scalar == Scalar::F64,
                i64: matches!(scalar, Scalar::I64 | Scalar::U64),
            },
            ElementKind::Packed(_) => Capabilities::default(),
            ElementKind::Record(fields) => fields.iter().fold(Capabilities::default(), |sum, field| {
                let member = field.info.requires();
                Capabilities { f16: sum.f16 | member.f16, f64: sum.f64 | member.f64, i64: sum.i64 | member.i64 }
            }),
        }
    }

    /// Checks that the features `have` of an adapter suffice for kernels on the type. `adapter` is
    /// the name of the adapter in the error.
    ///
    /// # Errors
    /// [`ElementError::Unsupported`] with the first missing number format.
    pub fn supported_by(&self, have: impl Into<Capabilities>, adapter: &str) -> Result<(), ElementError> {
        let have = have.into();
        let need = self.requires();
        let lacks = if need.f16 && !have.f16 {
            "16-bit floats"
        } else if need.f64 && !have.f64 {
            "64-bit floats"
        } else if need.i64 && !have.i64 {
            "64-bit integers"
        } else {
            return Ok(());
        };
        Err(ElementError::Unsupported { element: self.name, lacks, adapter: adapter.to_owned() })
    }
}

/// Optional number formats of shaders that an element type needs or an adapter supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    /// `f16` in shaders.
    pub f16: bool,
    /// `f64` in shaders.
    pub f64: bool,
    /// `i64` and `u64` in shaders.
    pub i64: bool,
}

impl From<wgpu_types::Features> for Capabilities {
    /// Number formats that a device with these features supports.
    fn from(features: wgpu_types::Features) -> Self {
        Self {
            f16: features.contains(wgpu_types::Features::SHADER_F16),
            f64: features.contains(wgpu_types::Features::SHADER_F64),
            i64: features.contains(wgpu_types::Features::SHADER_INT64),
        }
    }
}
