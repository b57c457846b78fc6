//! Conversion of naga's types to element types and parameters.

use naga::{ArraySize, Handle, Module, ScalarKind, Type, TypeInner};

use crate::element::{ElementInfo, ElementKind, Field, Scalar};

fn convert_scalar(scalar: naga::Scalar) -> Option<Scalar> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 4) => Scalar::F32,
        (ScalarKind::Float, 2) => Scalar::F16,
        (ScalarKind::Float, 8) => Scalar::F64,
        (ScalarKind::Sint, 4) => Scalar::I32,
        (ScalarKind::Uint, 4) => Scalar::U32,
        (ScalarKind::Sint, 8) => Scalar::I64,
        (ScalarKind::Uint, 8) => Scalar::U64,
        _ => return None,
    })
}

fn scalar_name(of: naga::Scalar) -> &'static str {
    match (of.kind, convert_scalar(of)) {
        (_, Some(scalar)) => ElementInfo::scalar(scalar).name,
        (ScalarKind::AbstractInt, _) => "AbstractInt",
        (ScalarKind::AbstractFloat, _) => "AbstractFloat",
        _ => "bool",
    }
}

pub(super) fn type_name(module: &Module, ty: Handle<Type>) -> String {
    let ty = &module.types[ty];
    match (&ty.inner, &ty.name) {
        (TypeInner::Struct { .. }, Some(name)) => name.clone(),
        (inner, _) => inner_name(module, inner),
    }
}

/// Returns the WGSL name of a type that is not in the module's table.
pub(super) fn inner_name(module: &Module, inner: &TypeInner) -> String {
    match inner {
        TypeInner::Scalar(s) => scalar_name(*s).to_owned(),
        TypeInner::Atomic(s) => format!("atomic<{}>", scalar_name(*s)),
        TypeInner::Vector { size, scalar } => format!("vec{}<{}>", *size as u8, scalar_name(*scalar)),
        TypeInner::Matrix { columns, rows, scalar } => {
            format!("mat{}x{}<{}>", *columns as u8, *rows as u8, scalar_name(*scalar))
        }
        TypeInner::Array { base, size: ArraySize::Constant(n), .. } => {
            format!("array<{}, {n}>", type_name(module, *base))
        }
        TypeInner::Array { base, .. } => format!("array<{}>", type_name(module, *base)),
        TypeInner::Pointer { base, .. } => format!("a pointer to {}", type_name(module, *base)),
        TypeInner::ValuePointer { size: None, scalar, .. } => format!("a pointer to {}", scalar_name(*scalar)),
        TypeInner::ValuePointer { size: Some(size), scalar, .. } => {
            format!("a pointer to vec{}<{}>", *size as u8, scalar_name(*scalar))
        }
        TypeInner::Struct { .. } => {
            let named = module.types.iter().find(|(_, ty)| ty.inner == *inner).and_then(|(_, ty)| ty.name.clone());
            named.unwrap_or_else(|| "an unnamed struct".to_owned())
        }
        _ => "an unnamed type".to_owned(),
    }
}

/// Checks that a variable's cell type `ty` matches elements of `info`; the error text names the
/// difference.
pub(super) fn compare_cell(module: &Module, ty: Handle<Type>, info: &ElementInfo) -> Result<(), String> {
    let found = type_name(module, ty);
    let fail = |expected: &str| match info.name {
        name if name == expected => Err(format!("its cells are {name}, not {found}")),
        name => Err(format!("its cells are {name}, in WGSL {expected}, not {found}")),
    };
    match (&info.kind, &module.types[ty].inner) {
        (ElementKind::Scalar(want), TypeInner::Scalar(s) | TypeInner::Atomic(s))
            if convert_scalar(*s) == Some(*want) =>
        {
            Ok(())
        }
        (ElementKind::Vector(want, n), TypeInner::Vector { size, scalar: s })
            if convert_scalar(*s) == Some(*want) && *size as usize == *n =>
        {
            Ok(())
        }
        (ElementKind::Packed(_), TypeInner::Scalar(s) | TypeInner::Atomic(s))
            if convert_scalar(*s) == Some(Scalar::U32) =>
        {
            Ok(())
        }
        (ElementKind::Packed(_), _) => fail("u32 or atomic<u32> (which the helpers unpack)"),
        (ElementKind::Record(fields), TypeInner::Struct { .. }) => compare_record(module, ty, info, fields),
        (ElementKind::Record(_), _) => fail("a struct with the same members"),
        _ => fail(info.name),
    }
}

/// Compares a struct with a record member by member. Either may have padding, whose names begin
/// with `_`.
fn compare_record(module: &Module, ty: Handle<Type>, info: &ElementInfo, fields: &[Field]) -> Result<(), String> {
    let TypeInner::Struct { members, span } = &module.types[ty].inner else { return Ok(()) };
    let wgsl = type_name(module, ty);
    let fields: Vec<_> = fields.iter().filter(|field| !field.name.starts_with('_')).collect();
    let named = |member: &&naga::StructMember| member.name.as_deref().is_some_and(|name| !name.starts_with('_'));
    let members: Vec<_> = members.iter().filter(named).collect();
    let list = |names: Vec<String>| names.join(", ");
    for (i, field) in fields.iter().enumerate() {
        let Some(member) = members.get(i) else {
            return Err(format!(
                "record {} has a member `{}`, which struct {wgsl} does not have",
                info.name, field.name
            ));
        };
        let name = member.name.as_deref().unwrap_or("");
        if name != field.name {
            let rust = list(fields.iter().map(|f| f.name.to_owned()).collect());
            let theirs = list(members.iter().map(|m| m.name.clone().unwrap_or_default()).collect());
            return Err(format!("record {} has the members {rust}, struct {wgsl} has {theirs}", info.name));
        }
        let place = format!("`{name}` of record {}", info.name);
        if member.offset as usize != field.offset {
            return Err(format!("{place} is at byte {}, in struct {wgsl} at byte {}", field.offset, member.offset));
        }
        compare_cell(module, member.ty, &field.info).map_err(|_| {
            format!("{place} is {}, in struct {wgsl} it is {}", field.info.name, type_name(module, member.ty))
        })?;
    }
    if members.len() != fields.len() {
        let extra = members[fields.len()].name.as_deref().unwrap_or("");
        return Err(format!("struct {wgsl} has a member `{extra}`, which record {} does not have", info.name));
    }
    if *span as usize != info.bytes {
        return Err(format!("record {} has {} bytes, struct {wgsl} has {span}", info.name, info.bytes));
    }
    Ok(())
}

/// Part of a uniform variable that one parameter sets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct UniformSlot {
    /// The name of the member, qualified by its enclosing structs; for a variable that is not a
    /// struct, the variable's name.
    pub name: String,
    pub offset: usize,
    pub ty: String,
    /// Scalar type, and number of components of a vector or column; `None` for types that
    /// parameters cannot have.
    pub shape: Option<(Scalar, usize)>,
    /// Number of columns of a matrix or elements of an array, and their stride in bytes.
    pub repeat: Option<(usize, usize)>,
}

/// Returns the slots of a uniform variable of type `ty`.
pub(super) fn slots(module: &Module, name: &str, ty: Handle<Type>) -> Vec<UniformSlot> {
    let mut out = Vec::new();
    match &module.types[ty].inner {
        TypeInner::Struct { members, .. } => {
            for member in members {
                collect_slots(
                    module,
                    member.name.as_deref().unwrap_or(""),
                    member.ty,
                    member.offset as usize,
                    &mut out,
                );
            }
        }
        _ => collect_slots(module, name, ty, 0, &mut out),
    }
    out
}

fn collect_slots(module: &Module, name: &str, ty: Handle<Type>, offset: usize, out: &mut Vec<UniformSlot>) {
    let vector = |ty: Handle<Type>| match module.types[ty].inner {
        TypeInner::Scalar(s) => convert_scalar(s).map(|s| (s, 1)),
        TypeInner::Vector { size, scalar: s } => convert_scalar(s).map(|s| (s, size as usize)),
        _ => None,
    };
    let (shape, repeat) = match &module.types[ty].inner {
        TypeInner::Struct { members, .. } => {
            for member in members {
                let inner = format!("{name}.{}", member.name.as_deref().unwrap_or(""));
                collect_slots(module, &inner, member.ty, offset + member.offset as usize, out);
            }
            return;
        }
        TypeInner::Matrix { columns, rows, scalar: s } => {
            let rows = *rows as usize;
            let stride = usize::from(s.width) * if rows == 2 { 2 } else { 4 };
            (convert_scalar(*s).map(|s| (s, rows)), Some((*columns as usize, stride)))
        }
        TypeInner::Array { base, size: ArraySize::Constant(n), stride } => {
            (vector(*base), Some((n.get() as usize, *stride as usize)))
        }
        _ => (vector(ty), None),
    };
    out.push(UniformSlot { name: name.to_owned(), offset, ty: type_name(module, ty), shape, repeat });
}
