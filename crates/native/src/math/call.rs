use super::{double, scalar};
use crate::ir::{Function, Type};

/// Function of the host with the calling convention of C; operands and result have one type.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Symbol in the generated code.
    pub symbol: &'static str,
    /// Address.
    pub address: *const u8,
    /// Number of operands.
    pub operands: usize,
}

macro_rules! calls {
    ($($function:ident $name:ident $operands:literal,)*) => {
        /// The function for operands of type `ty`; `None` for types other than `f32` and `f64`.
        pub fn call_of(function: Function, ty: Type) -> Option<Call> {
            match (function, ty) {
                $(
                    (Function::$function, Type::F32) => Some(Call {
                        symbol: concat!("zippy_", stringify!($name), "_f32"),
                        address: scalar::$name as *const u8,
                        operands: $operands,
                    }),
                    (Function::$function, Type::F64) => Some(Call {
                        symbol: concat!("zippy_", stringify!($name), "_f64"),
                        address: double::$name as *const u8,
                        operands: $operands,
                    }),
                )*
                _ => None,
            }
        }
    };
}

calls! {
    Sin sin 1,
    Cos cos 1,
    Tan tan 1,
    Asin asin 1,
    Acos acos 1,
    Atan atan 1,
    Atan2 atan2 2,
    Sinh sinh 1,
    Cosh cosh 1,
    Tanh tanh 1,
    Asinh asinh 1,
    Acosh acosh 1,
    Atanh atanh 1,
    Exp exp 1,
    Exp2 exp2 1,
    Log log 1,
    Log2 log2 1,
    Pow pow 2,
    Fma fma 3,
}
