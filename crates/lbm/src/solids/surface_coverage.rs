//! Comparison of a surface with its solid cells.

/// Comparison of a surface with its solid cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceCoverage {
    /// Projected areas of the surface along x, y and z, in cells². Front and back count once: the
    /// areas of a convex shape are those of its outlines. Parts of the surface inside the solid or
    /// outside of the box do not count.
    pub surface: [f64; 3],
    /// Projected areas of the solid cells along x, y and z, in cells².
    pub solid: [u64; 3],
    /// Share of the surface without a solid cell within one cell.
    pub uncovered: f64,
    /// Edges whose triangles face different ways; 0 if no part of the surface is uncovered.
    pub flipped_edges: u64,
    /// All edges of the surface, or 0 like `flipped_edges`.
    pub edges: u64,
}

impl SurfaceCoverage {
    /// True if more is uncovered than sharp edges and rounding to cells explain.
    pub(super) fn has_losses(&self) -> bool {
        let is_missing = |axis: usize| {
            let area = self.surface[axis];
            area - self.solid[axis] as f64 > (0.05 * area).max(2.0 * area.sqrt())
        };
        let total: f64 = self.surface.iter().sum();
        self.uncovered * total > 1.0 && self.uncovered > 1e-3 || (0..3).any(is_missing)
    }

    pub(super) fn warning(&self) -> Option<String> {
        if !self.has_losses() {
            return None;
        }
        let Self { surface: [a, b, c], solid: [d, e, f], uncovered, flipped_edges, edges } = self;
        let flipped = match flipped_edges {
            0 => String::new(),
            _ => format!(", and {flipped_edges} of its {edges} edges have triangles that face different ways"),
        };
        let percent = 100.0 * uncovered;
        Some(format!(
            "the surface is not closed by its solid cells: along x, y and z its projected areas are {a:.1}, {b:.1} and {c:.1} \
             cells², those of the solid {d}, {e} and {f}; {percent:.1} % of the surface has no solid cell next to it{flipped}. \
             Parts thinner than a cell and flipped triangles become holes: take smaller cells, or thicken it"
        ))
    }
}
