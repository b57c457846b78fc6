//! Test cells for reductions: layouts, sections, and special floating-point values.

use zippy::{Element, GlobalArray, Layout, Result, Split, World};

/// Pseudorandom bits of a position.
pub(crate) fn bits(p: &[i64]) -> u64 {
    let mixed = p.iter().fold(0x9e37_79b9_7f4a_7c15_u64, |h, &x| {
        let h = (h ^ x as u64).wrapping_mul(0xff51_afd7_ed55_8ccd);
        h ^ h >> 29
    });
    mixed.wrapping_mul(0xc4ce_b9fe_1a85_ec53) ^ mixed >> 32
}

/// Finite numbers of every magnitude, subnormal ones included.
pub(crate) fn wild(p: &[i64]) -> f32 {
    let value = f32::from_bits(bits(p) as u32);
    if value.is_finite() { value } else { f32::from_bits(bits(p) as u32 & 0x807f_ffff) }
}

/// Layout under test, and a section of it.
pub(crate) struct Case<const D: usize> {
    pub shape: [i64; D],
    pub layout: Layout,
    pub section: [std::ops::Range<i64>; D],
}

impl<const D: usize> Case<D> {
    /// Positions of the section, axis 0 fastest, by a plain loop.
    pub(crate) fn positions(&self) -> Vec<[i64; D]> {
        let mut all = vec![[0; D]];
        for axis in (0..D).rev() {
            let grow = |p: &[i64; D]| {
                let p = *p;
                self.section[axis].clone().map(move |x| {
                    let mut q = p;
                    q[axis] = x;
                    q
                })
            };
            all = all.iter().flat_map(grow).collect();
        }
        all
    }

    pub(crate) fn array<T: Element>(&self, world: &World, value: impl Fn([i64; D]) -> T) -> Result<GlobalArray<T, D>> {
        let array = world.array::<T, D>("a", &self.layout)?;
        // Ghost cells have values that would change every result.
        array.fill(bytemuck::pod_read_unaligned(&vec![0xff; size_of::<T>()]))?;
        array.fill_with(value)?;
        assert_eq!(array.shape(), self.shape);
        Ok(array)
    }
}

pub(crate) fn case<const D: usize>(
    shape: [i64; D],
    f: impl Fn(Layout) -> Layout,
    section: [std::ops::Range<i64>; D],
) -> Case<D> {
    Case { shape, layout: f(Layout::new(shape)), section }
}

/// Layouts of one shape with the same cells.
pub(crate) fn plane(ranks: usize) -> Vec<Case<2>> {
    let shape = [37, 23];
    let section = [3..36, 1..20];
    vec![
        case(shape, |l| l, section.clone()),
        case(shape, |l| l.ghost([2, 1]).split([Split::Even(2), Split::Even(ranks)]), section.clone()),
        case(
            shape,
            |l| l.ghost_sides([(1, 0), (0, 3)]).split([vec![30, 0, 7].into(), Split::Even(5)]),
            section.clone(),
        ),
        case(shape, |l| l.split([Split::Even(ranks), Split::Even(4)]), section),
    ]
}
