//! Comparison of results with fixed bits, for every processor and optimisation level.

use super::{FORMULAS, Random, accuracy::reference, scalar, special_values};
use crate::math::{double, scalar::fma};

/// FNV-1a hash of results, with equal bits for all NaN.
struct ResultHash(u64);

impl ResultHash {
    fn add(&mut self, bits: u64) {
        for byte in bits.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn add_float(&mut self, value: f32) {
        self.add(if value.is_nan() { f32::NAN } else { value }.to_bits().into());
    }

    fn add_double(&mut self, value: f64) {
        self.add(if value.is_nan() { f64::NAN } else { value }.to_bits());
    }
}

fn hash(add_results: impl Fn(&mut ResultHash, f32, f32)) -> u64 {
    let mut hash = ResultHash(0xcbf2_9ce4_8422_2325);
    let mut random = Random::new(1);
    for _ in 0..20_000 {
        add_results(&mut hash, random.next_float(), random.next_float());
        let (x, y) = (random.next_between(-1.0, 1.0), random.next_between(-9.0, 9.0));
        add_results(&mut hash, x, y);
        add_results(&mut hash, y, x);
    }
    let special = special_values();
    for &x in &special {
        special.iter().for_each(|&y| add_results(&mut hash, x, y));
    }
    hash.0
}

#[test]
fn results_have_these_bits_on_every_processor() {
    let mut hashes = Vec::new();
    for (function, _) in FORMULAS {
        let of_float = hash(|hash, x, y| hash.add_float(scalar(function, x, y)));
        // Quotients by 3 have all bits of the significand.
        let of_double = hash(|hash, x, y| hash.add_double(reference(function, f64::from(x) / 3.0, f64::from(y) / 3.0)));
        hashes.push(format!("{function:?} {of_float:016x} {of_double:016x}"));
    }
    let of_float = hash(|hash, x, y| hash.add_float(fma(x, y, -(x * y))));
    let of_double = hash(|hash, x, y| {
        let (x, y) = (f64::from(x) / 3.0, f64::from(y) / 3.0);
        hash.add_double(double::fma(x, y, -(x * y)));
    });
    hashes.push(format!("Fma {of_float:016x} {of_double:016x}"));
    assert_eq!(hashes, EXPECTED);
}

/// Function, hash of `f32`, hash of `f64`.
const EXPECTED: [&str; 19] = [
    "Sin cb0ed5229ce42105 9806d0ba2013cfef",
    "Cos b39cd75d0f305c65 91bdda78f51f4ffd",
    "Tan cae7092ac393a78c 427e16cc1ba181f2",
    "Asin afc67c72a52e47b6 0b633bd733a5186a",
    "Acos 56efdb0fc03ae739 8a6d646f3b9ff1ba",
    "Atan c993b5909ecc8524 45387fd329994c4f",
    "Atan2 1102219f83805059 f8f0dea4b33ad336",
    "Sinh 5aa09d61a8242abd 9693149a818b8f1c",
    "Cosh cdb1596c14544f18 94eb1d8eb09c17bc",
    "Tanh 0a0edb1c3f9aea1f 3c1b2b201babfe5a",
    "Asinh b4c77249bd4b3328 06ba16088fb92da7",
    "Acosh 0b601ca15df4ca73 9e300cacfb4a5a40",
    "Atanh 04d599428212eb5c b14e27e66687f594",
    "Exp 2d5a6b5412bd8b79 c9a58cfbfcf43840",
    "Exp2 6c53dc527d9d66d4 a863519641cd8f16",
    "Log a777712215cd080e 3290f0a70b90712c",
    "Log2 8b15b2cb37f617e7 d0da75a79d13cb17",
    "Pow 7228a90e3d58de1c 2e872bec0c2b091d",
    "Fma c10323c4a857966a f7bdd69acf86a463",
];
