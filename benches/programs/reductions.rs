//! Reduction programs: masked sums, sum, norm, argmin, extremes and histogram.

use zippy::algorithms::elementwise::Elementwise;
use zippy::algorithms::reduce::Bins;
use zippy::{Error, GlobalArray, Layout, Result, Split, World};

use super::values::{Values, hash, hash_at};
use super::{Program, Row};

const SUM: Row = Row {
    name: "sum",
    peer: "sum",
    sizes: &[1 << 22, 1 << 12],
    on_request: None,
    axes: 1,
    bytes: 4,
    start: |world, n| start(world, n, |world, cells| world.sum(cells)),
    by_hand: None,
};

pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "masked sums",
        peer: "masked",
        sizes: &[2048, 512],
        axes: 2,
        bytes: 9,
        start: |world, n| Ok(Box::new(Masked::new(world, n)?)),
        ..SUM
    },
    SUM,
    Row { name: "norm", peer: "norm", start: |world, n| start(world, n, |world, cells| world.norm(cells)), ..SUM },
    Row {
        name: "argmin",
        peer: "argmin",
        start: |world, n| start(world, n, |world, cells| Ok(expect_cells(world.argmin(cells)?)?.position[0] as f64)),
        ..SUM
    },
    Row {
        name: "extremes",
        peer: "extremes",
        start: |world, n| {
            start(world, n, |world, cells| {
                let extremes = expect_cells(world.extremes(cells)?)?;
                Ok(f64::from(extremes.min) + f64::from(extremes.max))
            })
        },
        ..SUM
    },
    Row { name: "histogram", peer: "histogram", start: |world, n| Ok(Box::new(Histogram::new(world, n)?)), ..SUM },
];

/// Unwraps a result that is `None` only for an array without cells.
fn expect_cells<T>(result: Option<T>) -> Result<T> {
    result.ok_or_else(|| Error::program("the array has no cells"))
}

fn vector(world: &World, n: i64) -> Result<GlobalArray<f32, 1>> {
    let cells = world.array::<f32, 1>("cells", &Layout::new([n]).split([Split::Auto]))?;
    cells.fill_with(|[i]| hash(5, i as u64))?;
    Ok(cells)
}

struct Reduction<'w> {
    world: &'w World,
    cells: GlobalArray<f32, 1>,
    reduce: Reduce,
    scalar: f64,
}

type Reduce = fn(&World, &GlobalArray<f32, 1>) -> Result<f64>;

fn start(world: &World, n: i64, reduce: Reduce) -> Result<Box<dyn Program + '_>> {
    Ok(Box::new(Reduction { world, cells: vector(world, n)?, reduce, scalar: 0.0 }))
}

impl Program for Reduction<'_> {
    fn step(&mut self) -> Result<()> {
        self.scalar = (self.reduce)(self.world, &self.cells)?;
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Ok(Values::default().with_scalar(self.scalar))
    }
}

struct Histogram<'w> {
    world: &'w World,
    cells: GlobalArray<f32, 1>,
    bins: Bins<f32>,
    counts: Vec<u64>,
}

impl<'w> Histogram<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        Ok(Self { world, cells: vector(world, n)?, bins: Bins::even(0.0, 1.0, 256)?, counts: Vec::new() })
    }
}

impl Program for Histogram<'_> {
    fn step(&mut self) -> Result<()> {
        self.counts = self.world.histogram(&self.cells, &self.bins)?.counts;
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Ok(Values::of_cells(self.counts.iter().map(|&count| count as f64)))
    }
}

/// Masked reductions of a field: sum and number of the masked cells, and position of the largest.
struct Masked<'w> {
    world: &'w World,
    field: GlobalArray<f32, 2>,
    mask: GlobalArray<u8, 2>,
    masked: GlobalArray<f32, 2>,
    choose: Elementwise,
    scalar: f64,
}

impl<'w> Masked<'w> {
    fn new(world: &'w World, n: i64) -> Result<Self> {
        let layout = Layout::new([n, n]).split_all(Split::Auto);
        let field = world.array::<f32, 2>("field", &layout)?;
        let mask = world.array::<u8, 2>("mask", &layout)?;
        let masked = world.array::<f32, 2>("masked", &layout)?;
        field.fill_with(|p| hash_at(0, n, p))?;
        mask.fill_with(|[x, y]| u8::from((x + n * y) / 7 % 3 == 0))?;
        let choose = world.elementwise("select(0.0, field, mask != 0u)");
        Ok(Self { world, field, mask, masked, choose, scalar: 0.0 })
    }
}

impl Program for Masked<'_> {
    fn step(&mut self) -> Result<()> {
        self.choose.call().read("field", &self.field).read("mask", &self.mask).write("masked", &self.masked)?;
        let sum = self.world.sum(&self.masked)?;
        let count = self.world.sum(&self.mask)? as f64;
        let [x, y] = expect_cells(self.world.argmax(&self.masked)?)?.position;
        self.scalar = sum + count + (x + self.masked.shape()[0] * y) as f64;
        Ok(())
    }

    fn values(&self) -> Result<Values> {
        Ok(Values::of_array(self.world, &self.masked)?.with_scalar(self.scalar))
    }
}
