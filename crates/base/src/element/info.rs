use crate::error::ElementError;

/// A WGSL scalar that cells or record members can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// `f32`
    F32,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `f16`, where the adapter has it
    F16,
    /// `f64`, where the adapter has it
    F64,
    /// `i64`, where the adapter has it
    I64,
    /// `u64`, where the adapter has it
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

/// An 8- or 16-bit integer, packed in 32-bit words, the lowest bits first.
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
    /// Size of one cell in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
        }
    }

    /// Whether loads extend the sign.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16)
    }
}

/// A member of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name, the same in Rust and WGSL.
    pub name: &'static str,
    /// Byte offset from the record's start.
    pub offset: usize,
    /// Its type.
    pub info: ElementInfo,
}

/// The shape of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElementKind {
    /// One scalar.
    Scalar(Scalar),
    /// A vector of 2 or 4 (3 only inside records) scalars.
    Vector(Scalar, usize),
    /// An integer packed in words.
    Packed(Packed),
    /// A struct with these members, in order.
    Record(&'static [Field]),
}

/// The WGSL side of an element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementInfo {
    /// The WGSL type's name (`"vec2<f32>"`), the Rust name for packed integers and records.
    pub name: &'static str,
    /// Size in bytes of one cell.
    pub bytes: usize,
    /// Alignment in bytes that WGSL gives the type in a storage buffer.
    pub align: usize,
    /// What it is made of.
    pub kind: ElementKind,
}

impl ElementInfo {
    /// A scalar.
    pub const fn scalar(scalar: Scalar) -> Self {
        let bytes = scalar.bytes();
        Self { name: scalar.vector_name(1), bytes, align: bytes, kind: ElementKind::Scalar(scalar) }
    }

    /// A vector of 2, 3 or 4 scalars.
    pub const fn vector(scalar: Scalar, n: usize) -> Self {
        assert!(n >= 2 && n <= 4, "vectors have 2, 3 or 4 components");
        let align = scalar.bytes() * if n == 2 { 2 } else { 4 };
        Self { name: scalar.vector_name(n), bytes: scalar.bytes() * n, align, kind: ElementKind::Vector(scalar, n) }
    }

    /// A packed integer.
    pub const fn packed(packed: Packed) -> Self {
        let name = match packed {
            Packed::U8 => "u8",
            Packed::I8 => "i8",
            Packed::U16 => "u16",
            Packed::I16 => "i16",
        };
        Self { name, bytes: packed.bytes(), align: packed.bytes(), kind: ElementKind::Packed(packed) }
    }

    /// What a cell consists of once records are taken apart, in order: the names of the members that lead there, outermost
    /// first (none where the cell is no record), the first byte in the cell, and what is there, which is no record.
    ///
    /// ```
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
        let mut all = Vec::new();
        self.flatten(&[], 0, &mut all);
        all
    }

    fn flatten(&self, members: &[&'static str], offset: usize, all: &mut Vec<(Vec<&'static str>, usize, ElementKind)>) {
        let ElementKind::Record(fields) = self.kind else {
            return all.push((members.to_vec(), offset, self.kind));
        };
        for field in fields {
            field.info.flatten(&[members, &[field.name]].concat(), offset + field.offset, all);
        }
    }

    /// WGSL that declares the records that it consists of, innermost first.
    #[doc(hidden)]
    pub fn declarations(&self) -> String {
        let mut text = String::new();
        self.declare(&mut Vec::new(), &mut text);
        text
    }

    fn declare(&self, done: &mut Vec<&'static str>, text: &mut String) {
        let ElementKind::Record(fields) = self.kind else { return };
        if done.contains(&self.name) {
            return;
        }
        fields.iter().for_each(|field| field.info.declare(done, text));
        let members: Vec<String> =
            fields.iter().map(|field| format!("    {}: {},\n", field.name, field.info.name)).collect();
        text.push_str(&format!("struct {} {{\n{}}}\n", self.name, members.concat()));
        done.push(self.name);
    }

    /// What an adapter must offer so that kernels can handle the type.
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
                let more = field.info.requires();
                Capabilities { f16: sum.f16 | more.f16, f64: sum.f64 | more.f64, i64: sum.i64 | more.i64 }
            }),
        }
    }

    /// Whether an adapter of this name that offers `have` can run kernels on the type.
    ///
    /// # Errors
    /// [`ElementError::Unsupported`], naming the adapter and what it lacks.
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

/// The optional number formats of shaders, as an element type needs them or an adapter offers them.
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
    /// What a device with these features offers.
    fn from(features: wgpu_types::Features) -> Self {
        Self {
            f16: features.contains(wgpu_types::Features::SHADER_F16),
            f64: features.contains(wgpu_types::Features::SHADER_F64),
            i64: features.contains(wgpu_types::Features::SHADER_INT64),
        }
    }
}
