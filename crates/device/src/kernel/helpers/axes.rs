//! Tuples of 1 to 7 axes as WGSL: scalars, vectors, or arrays for more than 4 axes.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::kernel::geometry::{GEOMETRY, Tuple, vectors};
use crate::wgsl::PREFIX;

/// Geometry vectors that the generated helpers use. Each invocation loads them into private
/// variables at its start, because software adapters would load them again at each use.
#[derive(Default)]
pub(super) struct UsedVectors(RefCell<BTreeSet<usize>>);

impl UsedVectors {
    /// Returns the private variable of a geometry vector.
    pub(super) fn variable(&self, vector: usize) -> String {
        self.0.borrow_mut().insert(vector);
        format!("$g{vector}")
    }

    /// Returns the declarations of the private variables and of the function that loads them; empty
    /// without used vectors.
    pub(super) fn declarations(&self) -> String {
        let used = self.0.borrow();
        if used.is_empty() {
            return String::new();
        }
        let variables: String = used.iter().map(|vector| format!("var<private> $g{vector}: vec4<i32>;\n")).collect();
        let loads: String = used.iter().map(|vector| format!(" $g{vector} = {GEOMETRY}[{vector}];")).collect();
        format!("{variables}fn {BEGIN}() {{{loads} }}\n")
    }
}

const BEGIN: &str = "$load_geometry";

/// Returns the name of the function that loads the geometry at the start of each invocation.
pub(crate) fn load_geometry_name() -> String {
    BEGIN.replace('$', PREFIX)
}

/// Writer of WGSL expressions over tuples of a fixed number of axes, with geometry from vector `at`
/// on.
#[derive(Clone, Copy)]
pub(super) struct Axes<'u> {
    pub count: usize,
    at: usize,
    used: &'u UsedVectors,
}

/// Returns the WGSL type of a position of this many axes.
pub(super) fn position_type(axes: usize) -> String {
    match axes {
        1 => "i32".to_owned(),
        n @ 2..=4 => format!("vec{n}<i32>"),
        n => format!("array<i32, {n}>"),
    }
}

const COMPONENT_LETTERS: [char; 4] = ['x', 'y', 'z', 'w'];

impl<'u> Axes<'u> {
    pub(super) fn new(count: usize, at: usize, used: &'u UsedVectors) -> Self {
        Self { count, at, used }
    }

    pub(super) fn ty(&self) -> String {
        position_type(self.count)
    }

    /// Returns the component of one axis of the tuple in the variable `name`.
    pub(super) fn part(&self, name: &str, axis: usize) -> String {
        match self.count {
            1 => name.to_owned(),
            2..=4 => format!("{name}.{}", COMPONENT_LETTERS[axis]),
            _ => format!("{name}[{axis}]"),
        }
    }

    /// Returns a scalar of the geometry's first vector.
    pub(super) fn head(&self, component: usize) -> String {
        format!("{}.{}", self.used.variable(self.at), COMPONENT_LETTERS[component])
    }

    /// Returns the index of the first vector of a geometry tuple.
    pub(super) fn vector(&self, tuple: Tuple) -> usize {
        self.at + 1 + tuple.index() * vectors(self.count)
    }

    pub(super) fn geometry_part(&self, tuple: Tuple, axis: usize) -> String {
        format!("{}.{}", self.used.variable(self.vector(tuple) + axis / 4), COMPONENT_LETTERS[axis % 4])
    }

    /// Returns a whole geometry tuple as a position.
    pub(super) fn geometry(&self, tuple: Tuple) -> String {
        match self.count {
            1..=4 => {
                let parts: String = COMPONENT_LETTERS[..self.count].iter().collect();
                format!("{}.{parts}", self.used.variable(self.vector(tuple)))
            }
            n => {
                let parts: Vec<_> = (0..n).map(|axis| self.geometry_part(tuple, axis)).collect();
                format!("array<i32, {n}>({})", parts.join(", "))
            }
        }
    }

    /// Returns a geometry tuple if a condition is true, otherwise zeros.
    pub(super) fn geometry_where(&self, tuple: Tuple, condition: &str) -> String {
        match self.count {
            1 => format!("select(0, {}, {condition})", self.geometry(tuple)),
            2..=4 => format!("select(vec{}<i32>(0), {}, {condition})", self.count, self.geometry(tuple)),
            n => {
                let part = |axis| format!("select(0, {}, {condition})", self.geometry_part(tuple, axis));
                format!("array<i32, {n}>({})", (0..n).map(part).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// Returns the condition that `lo <= name < lo + extent` on every axis from `first` on, with
    /// one unsigned comparison per axis.
    pub(super) fn within(&self, name: &str, lo: Option<Tuple>, extent: Tuple, first: usize) -> String {
        if first == 0 && (2..=4).contains(&self.count) {
            let n = self.count;
            let from = lo.map_or(name.to_owned(), |lo| format!("{name} - {}", self.geometry(lo)));
            return format!("all(vec{n}<u32>({from}) < vec{n}<u32>({}))", self.geometry(extent));
        }
        let parts: Vec<_> = (first..self.count)
            .map(|axis| {
                let part = self.part(name, axis);
                let from = lo.map_or(part.clone(), |lo| format!("{part} - {}", self.geometry_part(lo, axis)));
                format!("(u32({from}) < u32({}))", self.geometry_part(extent, axis))
            })
            .collect();
        if parts.is_empty() { "true".to_owned() } else { parts.join(" & ") }
    }

    /// Returns the expression `first + Σ stride · name`, with the sum over the axes from 1, as
    /// `i32`.
    ///
    /// Operands that depend on the position come first. lavapipe (22.3) scans conditions from the
    /// left for parameters to treat as constants, and crashes on kernels with windows whose
    /// conditions begin with a parameter and continue with another operand.
    pub(super) fn offset(&self, first: &str, name: &str) -> String {
        let mut out = first.to_owned();
        for axis in 1..self.count {
            out += &format!(" + {} * {}", self.part(name, axis), self.geometry_part(Tuple::Strides, axis));
        }
        out + " + " + &self.head(0)
    }
}
