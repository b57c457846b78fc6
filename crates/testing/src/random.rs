//! Pseudo-random numbers. Results that tests expect depend on these functions: none may change.

/// Generator SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// 2014). Every seed is as good as every other.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

impl SplitMix64 {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        let number = splitmix64(self.0);
        self.0 = self.0.wrapping_add(GOLDEN_RATIO);
        number
    }
}

/// First number of [`SplitMix64`] with the seed `x`: a hash of `x`.
pub fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN_RATIO);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Hash by one multiplication with the golden ratio. High bits are good, low bits are not.
pub fn fibonacci_hash(x: u64) -> u64 {
    x.wrapping_mul(GOLDEN_RATIO)
}

/// Hash of an index to 32 bits: a multiplication, then the finaliser of MurmurHash3.
pub fn index_hash(index: usize) -> u32 {
    let x = (index as u32).wrapping_mul(0x9e37_79b9);
    let x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    let x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// Linear congruential generator with Knuth's constants of MMIX.
#[derive(Debug, Clone, Default)]
pub struct LinearCongruential(u64);

impl LinearCongruential {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// High bits are better than low bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    pub fn below(&mut self, end: u64) -> u64 {
        (self.next_u64() >> 33) % end
    }
}

/// Xorshift generator with the shifts 13, 7 and 17 (Marsaglia, "Xorshift RNGs", 2003). The seed
/// must not be zero.
#[derive(Debug, Clone)]
pub struct XorShift(u64);

impl XorShift {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Merge rule that is neither commutative nor associative: every change of order or number changes
/// the result.
pub fn merge_in_order(arriving: &u64, there: &u64) -> u64 {
    fibonacci_hash(*arriving).rotate_left(17) ^ there.wrapping_mul(31)
}
