//! WGSL text of reduction kernels: traversal, loading, ordering and reduction of cells.

use zippy_device::kernel::{WgslComposer, WgslModule};
use zippy_device::wgsl_module;

use super::format::{Format, Load, Order};
use crate::element::ElementInfo;

/// Operation of a reduction kernel.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// Name of the kernel for error messages.
    pub name: &'static str,
    /// WGSL text of the operation.
    pub module: WgslModule,
    /// Number of words that a workgroup writes.
    pub words: usize,
}

/// Kernel operation that computes sums. Its first words are 16-bit digits from exponent `lowest`
/// on; the optional next words are the numbers of NaNs, +infinities and −infinities.
#[derive(Debug, Clone)]
pub(super) struct SumWork {
    pub work: Work,
    pub digits: usize,
    /// Exponent of the lowest digit.
    pub lowest: i32,
}

pub(super) static SUM_FLOAT: SumWork = SumWork {
    work: Work { name: "sum", module: wgsl_module!("../../../shaders/reduce/sum_float.wgsl"), words: 21 },
    digits: 18,
    lowest: -149,
};
pub(super) static SUM_INTEGER: SumWork = SumWork {
    work: Work { name: "sum", module: wgsl_module!("../../../shaders/reduce/sum_integer.wgsl"), words: 2 },
    digits: 2,
    lowest: 0,
};
pub(super) static DOT_FLOAT: SumWork = SumWork {
    work: Work { name: "dot", module: wgsl_module!("../../../shaders/reduce/dot_float.wgsl"), words: 39 },
    digits: 36,
    lowest: -298,
};
pub(super) static DOT_INTEGER: SumWork = SumWork {
    work: Work { name: "dot", module: wgsl_module!("../../../shaders/reduce/dot_integer.wgsl"), words: 4 },
    digits: 4,
    lowest: 0,
};
/// Minimum and maximum key, and the number of ignored numbers.
pub(super) static EXTREMES: Work =
    Work { name: "extremes", module: wgsl_module!("../../../shaders/reduce/extremes.wgsl"), words: 3 };
/// Counts of numbers below the first edge, in each bin, and from the last edge on; NaNs in the last
/// word.
pub(super) static HISTOGRAM: Work =
    Work { name: "histogram", module: wgsl_module!("../../../shaders/reduce/histogram.wgsl"), words: 1024 };

pub(super) static DIFFERING: Work =
    Work { name: "differing", module: wgsl_module!("../../../shaders/reduce/differing.wgsl"), words: 1 };

impl Load {
    /// WGSL function `name` that loads a number of the array `input`.
    fn module(self, name: &str, input: &str) -> WgslModule {
        let module = match self {
            Self::Word => wgsl_module!("../../../shaders/reduce/load/word.wgsl"),
            Self::U8 => wgsl_module!("../../../shaders/reduce/load/u8.wgsl"),
            Self::I8 => wgsl_module!("../../../shaders/reduce/load/i8.wgsl"),
            Self::U16 => wgsl_module!("../../../shaders/reduce/load/u16.wgsl"),
            Self::I16 => wgsl_module!("../../../shaders/reduce/load/i16.wgsl"),
            Self::F16 => wgsl_module!("../../../shaders/reduce/load/f16.wgsl"),
        };
        module.define("LOAD", name).define("INPUT", input)
    }
}

impl Order {
    fn module(self) -> WgslModule {
        match self {
            Self::Unsigned => wgsl_module!("../../../shaders/reduce/order/unsigned.wgsl"),
            Self::Signed => wgsl_module!("../../../shaders/reduce/order/signed.wgsl"),
            Self::Float => wgsl_module!("../../../shaders/reduce/order/float.wgsl"),
        }
    }

    /// WGSL functions for the magnitude of a number.
    fn magnitude_module(self) -> WgslModule {
        match self {
            Self::Unsigned => wgsl_module!("../../../shaders/reduce/size/unsigned.wgsl"),
            Self::Signed => wgsl_module!("../../../shaders/reduce/size/signed.wgsl"),
            Self::Float => wgsl_module!("../../../shaders/reduce/size/float.wgsl"),
        }
    }
}

/// Start of the text of a kernel whose workgroups write `words` words.
fn start_text(words: usize) -> WgslComposer {
    let composer = WgslComposer::new().constant("WORDS", words as u32);
    composer.module(wgsl_module!("../../../shaders/reduce/walk.wgsl"))
}

/// Name and text of the kernel for the lengths of vectors with this number of components.
pub(super) fn kernel_of_lengths(
    work: &Work,
    element: &ElementInfo,
    format: Format,
    components: usize,
) -> (String, impl Fn() -> WgslComposer) {
    let Work { name, module, words } = work.clone();
    let source = move || {
        start_text(words)
            .constant("COMPONENTS", components as u32)
            .module(format.load.module("load_number", "first"))
            .module(format.order.magnitude_module())
            .module(wgsl_module!("../../../shaders/reduce/load/length.wgsl"))
            .module(Order::Float.module())
            .module(module.clone())
    };
    (format!("{name} of {components} {}", element.name), source)
}

/// Name and text of the kernel for cells of a type with this format.
pub(super) fn kernel(work: &Work, element: &ElementInfo, format: Format) -> (String, impl Fn() -> WgslComposer) {
    let Work { name, module, words } = work.clone();
    let source = move || {
        start_text(words)
            .module(format.load.module("load", "first"))
            .module(format.load.module("load_second", "second"))
            .module(format.order.module())
            .module(module.clone())
    };
    (format!("{name} of {}", element.name), source)
}
