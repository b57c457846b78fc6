//! [`Quantity`]: one number of each cell.

use std::fmt::Write;

use zippy_protocol::{ElementType, Numbers};

/// Selects a component or the length of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VectorPart {
    /// The component of this index.
    Component(u8),
    /// The Euclidean length of all components.
    Length,
}

/// One number of each cell of an element type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// Index in [`ElementType::numbers`].
    pub numbers: u16,
    /// Component or length of the vector.
    pub part: VectorPart,
}

/// Numbers of each cell that a view contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewedNumbers {
    /// Index in [`ElementType::numbers`]; `None` for all numbers.
    pub numbers: Option<u16>,
    /// Bytes of the numbers in one cell.
    pub bytes: usize,
}

/// Names of the components of vectors with up to four components.
const COMPONENT_NAMES: [&str; 4] = ["x", "y", "z", "w"];

fn component_name(index: usize, components: u8) -> String {
    match COMPONENT_NAMES.get(index) {
        Some(name) if components <= 4 => (*name).into(),
        _ => index.to_string(),
    }
}

fn join_names(member: &str, part: &str) -> String {
    match (member, part) {
        ("", part) => part.into(),
        (member, "") => member.into(),
        (member, part) => format!("{member}.{part}"),
    }
}

impl Quantity {
    /// Returns the numbers that a view of this quantity contains, or `None` if the type does not
    /// have them.
    pub fn viewed(self, element: &ElementType) -> Option<ViewedNumbers> {
        Some(ViewedNumbers { numbers: Some(self.numbers), bytes: self.of(element)?.bytes() })
    }

    /// Returns all quantities of a type with their names. A scalar has the name of its member,
    /// which is empty outside of records. A vector has `length`, `x`, `y` and so on; in a record,
    /// `velocity.length` and `velocity.x`. The length comes first.
    pub fn all(element: &ElementType) -> Vec<(String, Self)> {
        let mut found = Vec::new();
        for (index, numbers) in element.numbers.iter().enumerate() {
            let Ok(index) = u16::try_from(index) else { break };
            let is_vector = numbers.components > 1;
            if is_vector {
                found.push((join_names(&numbers.name, "length"), Self { numbers: index, part: VectorPart::Length }));
            }
            for component in 0..numbers.components {
                let name =
                    if is_vector { component_name(usize::from(component), numbers.components) } else { String::new() };
                found.push((
                    join_names(&numbers.name, &name),
                    Self { numbers: index, part: VectorPart::Component(component) },
                ));
            }
        }
        found
    }

    /// Returns the first quantity of a type: for a vector, its length. `None` for a type without
    /// numbers.
    pub fn first(element: &ElementType) -> Option<Self> {
        Self::all(element).into_iter().next().map(|(_, quantity)| quantity)
    }

    /// Returns the quantity of a name. A number such as `2` names a component, and the name of a
    /// vector in a record names its length. Without a name, returns the first quantity.
    ///
    /// # Errors
    /// The type has no such quantity. The error lists all names.
    pub fn named(element: &ElementType, name: Option<&str>) -> Result<Self, String> {
        let all = Self::all(element);
        let Some(wanted) = name else {
            return Self::first(element).ok_or_else(|| format!("cells of {} have no numbers", element.name));
        };
        if let Some((_, found)) = all.iter().find(|(name, _)| name == wanted) {
            return Ok(*found);
        }
        let vector = element.numbers.iter().position(|numbers| numbers.name == wanted && numbers.components > 1);
        if let Some(numbers) = vector.and_then(|index| u16::try_from(index).ok()) {
            return Ok(Self { numbers, part: VectorPart::Length });
        }
        let (member, component) = wanted.rsplit_once('.').unwrap_or(("", wanted));
        let index = element.numbers.iter().position(|numbers| numbers.name == member);
        if let (Some(index), Ok(component)) = (index, component.parse::<u8>())
            && component < element.numbers[index].components
        {
            return Ok(Self { numbers: index as u16, part: VectorPart::Component(component) });
        }
        let mut text = format!("cells of {} have no `{wanted}`; they have", element.name);
        for (index, (name, _)) in all.iter().enumerate().take(32) {
            let name = if name.is_empty() { "one number without a name" } else { name };
            let _ = write!(text, "{} {name}", if index == 0 { "" } else { "," });
        }
        text.push_str(if all.len() > 32 { " and more" } else { "" });
        Err(text)
    }

    /// Returns the name; empty for the number of a scalar.
    pub fn name(&self, element: &ElementType) -> String {
        let all = Self::all(element).into_iter();
        all.filter(|(_, quantity)| quantity == self).map(|(name, _)| name).next().unwrap_or_default()
    }

    /// Returns the numbers that contain the quantity, or `None` if the type has none.
    pub fn of<'a>(&self, element: &'a ElementType) -> Option<&'a Numbers> {
        let numbers = element.numbers.get(usize::from(self.numbers))?;
        match self.part {
            VectorPart::Component(component) if component >= numbers.components => None,
            _ => Some(numbers),
        }
    }

    /// Computes the value from the bytes of the numbers. `None` if there are too few bytes.
    pub fn value(&self, numbers: &Numbers, bytes: &[u8]) -> Option<f64> {
        let width = numbers.scalar.bytes();
        let component = |index: usize| numbers.scalar.value(bytes.get(index * width..)?);
        match self.part {
            VectorPart::Component(index) => component(usize::from(index)),
            VectorPart::Length => {
                let mut length = 0.0_f64;
                for index in 0..usize::from(numbers.components) {
                    length = length.hypot(component(index)?);
                }
                // `hypot` of an infinity and a NaN is infinite.
                let nan = (0..usize::from(numbers.components)).any(|at| component(at).is_some_and(f64::is_nan));
                Some(if nan { f64::NAN } else { length })
            }
        }
    }
}
