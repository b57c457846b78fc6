//! [`Quantity`]: one number of each cell.

use std::fmt::Write;

use zippy::debug::protocol::{ElementType, Numbers};

/// Which number of a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// The component of this place.
    Component(u8),
    /// The Euclidean length of all components.
    Length,
}

/// One number of each cell of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Quantity {
    /// Which numbers of the cell: a place in [`ElementType::numbers`].
    pub numbers: u16,
    /// Which of them.
    pub part: Part,
}

/// The names of components of vectors of up to four.
const NAMES: [&str; 4] = ["x", "y", "z", "w"];

/// What a component is called.
fn component_name(place: usize, components: u8) -> String {
    match NAMES.get(place) {
        Some(name) if components <= 4 => (*name).into(),
        _ => place.to_string(),
    }
}

fn join(member: &str, part: &str) -> String {
    match (member, part) {
        ("", part) => part.into(),
        (member, "") => member.into(),
        (member, part) => format!("{member}.{part}"),
    }
}

impl Quantity {
    /// What a type has, each with its name: scalars by their member's name (empty where the cell is no record), vectors as
    /// `length`, `x`, `y`, those in records as `velocity.length`, `velocity.x`. Vectors begin with their length.
    pub fn all(element: &ElementType) -> Vec<(String, Self)> {
        let mut found = Vec::new();
        for (place, numbers) in element.numbers.iter().enumerate() {
            let Ok(place) = u16::try_from(place) else { break };
            let many = numbers.components > 1;
            if many {
                found.push((join(&numbers.name, "length"), Self { numbers: place, part: Part::Length }));
            }
            for component in 0..numbers.components {
                let name =
                    if many { component_name(usize::from(component), numbers.components) } else { String::new() };
                found.push((join(&numbers.name, &name), Self { numbers: place, part: Part::Component(component) }));
            }
        }
        found
    }

    /// The first that a type has: of a vector its length. None of a type without numbers.
    pub fn first(element: &ElementType) -> Option<Self> {
        Self::all(element).into_iter().next().map(|(_, quantity)| quantity)
    }

    /// The one of this name; a number as `2` is a component, too, and the name of a vector in a record is its length. Without a
    /// name the first one.
    ///
    /// # Errors
    /// The type has none of this name; those that it has are told.
    pub fn named(element: &ElementType, name: Option<&str>) -> Result<Self, String> {
        let all = Self::all(element);
        let Some(wanted) = name else {
            return Self::first(element).ok_or_else(|| format!("cells of {} have no numbers", element.name));
        };
        if let Some((_, found)) = all.iter().find(|(name, _)| name == wanted) {
            return Ok(*found);
        }
        let whole = element.numbers.iter().position(|numbers| numbers.name == wanted && numbers.components > 1);
        if let Some(numbers) = whole.and_then(|place| u16::try_from(place).ok()) {
            return Ok(Self { numbers, part: Part::Length });
        }
        let (member, component) = wanted.rsplit_once('.').unwrap_or(("", wanted));
        let place = element.numbers.iter().position(|numbers| numbers.name == member);
        if let (Some(place), Ok(component)) = (place, component.parse::<u8>())
            && component < element.numbers[place].components
        {
            return Ok(Self { numbers: place as u16, part: Part::Component(component) });
        }
        let mut text = format!("cells of {} have no `{wanted}`; they have", element.name);
        for (place, (name, _)) in all.iter().enumerate().take(32) {
            let name = if name.is_empty() { "one number without a name" } else { name };
            let _ = write!(text, "{} {name}", if place == 0 { "" } else { "," });
        }
        text.push_str(if all.len() > 32 { " and more" } else { "" });
        Err(text)
    }

    /// Its name; empty for the number of a scalar.
    pub fn name(&self, element: &ElementType) -> String {
        let all = Self::all(element).into_iter();
        all.filter(|(_, quantity)| quantity == self).map(|(name, _)| name).next().unwrap_or_default()
    }

    /// The numbers that it is one of; none where the type has none such.
    pub fn of<'a>(&self, element: &'a ElementType) -> Option<&'a Numbers> {
        let numbers = element.numbers.get(usize::from(self.numbers))?;
        match self.part {
            Part::Component(component) if component >= numbers.components => None,
            _ => Some(numbers),
        }
    }

    /// Its value, from the bytes of its numbers; none where they are too few.
    pub fn value(&self, numbers: &Numbers, bytes: &[u8]) -> Option<f64> {
        let width = numbers.scalar.bytes();
        let component = |place: usize| numbers.scalar.value(bytes.get(place * width..)?);
        match self.part {
            Part::Component(place) => component(usize::from(place)),
            Part::Length => {
                let mut length = 0.0_f64;
                for place in 0..usize::from(numbers.components) {
                    length = length.hypot(component(place)?);
                }
                // `hypot` of an infinity and a NaN is infinite.
                let nan = (0..usize::from(numbers.components)).any(|at| component(at).is_some_and(f64::is_nan));
                Some(if nan { f64::NAN } else { length })
            }
        }
    }
}
