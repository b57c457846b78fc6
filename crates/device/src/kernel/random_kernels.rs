//! Generator of random kernels that load cells around their position.

use std::fmt::Write;

use zippy_testing::random::{LinearCongruential, fibonacci_hash};

/// Returns the WGSL statements of a random kernel, determined by `seed`.
pub(super) fn random_kernel(seed: u64) -> String {
    let random = LinearCongruential::new(fibonacci_hash(seed) + 1);
    let mut text = KernelText { random, ..KernelText::default() };
    text.uses_ids = text.one_in(12);
    text.line("var q = p; var i0 = 2; var u0 = 1u;");
    (text.ints, text.uints) = (vec!["i0".into()], vec!["u0".into()]);
    for _ in 0..1 + text.below(2) {
        text.statement();
    }
    if text.uses_ids {
        text.other_use_of_id();
    }
    text.out
}

/// Generator of the statements of a kernel.
#[derive(Default)]
struct KernelText {
    out: String,
    random: LinearCongruential,
    depth: usize,
    names: usize,
    /// Names of the variables in scope of type `i32`.
    ints: Vec<String>,
    /// Names of the variables in scope of type `u32`.
    uints: Vec<String>,
    uses_ids: bool,
}

impl KernelText {
    fn below(&mut self, end: u64) -> u64 {
        self.random.below(end)
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.out, "{:1$}{line}", "", 2 + 2 * self.depth);
    }

    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Returns the name of a random `i32` variable; recent variables are more frequent.
    fn int_variable(&mut self) -> String {
        let at = self.recent_index(self.ints.len());
        self.ints[at].clone()
    }

    fn uint_variable(&mut self) -> String {
        let at = self.recent_index(self.uints.len());
        self.uints[at].clone()
    }

    fn recent_index(&mut self, length: usize) -> usize {
        (0..3).map(|_| self.below(length as u64)).max().unwrap_or(0) as usize
    }

    /// Returns a random expression with a variable, so that no constant expression overflows.
    fn int_expression(&mut self) -> String {
        let constant = self.below(4) + 1;
        match self.below(14) {
            0..5 => self.int_variable(),
            5 => format!("({} + {constant})", self.int_expression()),
            6 => format!("({} - {constant})", self.int_expression()),
            7 => format!("({} / {constant})", self.int_expression()),
            8 => format!("({} % {constant})", self.int_expression()),
            9 => format!("max({}, {constant})", self.int_expression()),
            10 => format!("min({}, {constant})", self.int_expression()),
            11 => format!("-({})", self.int_expression()),
            _ => format!("i32({})", self.uint_expression()),
        }
    }

    fn uint_expression(&mut self) -> String {
        let constant = self.below(4) + 1;
        match self.below(12) {
            0..4 => self.uint_variable(),
            4 => format!("({} + {constant}u)", self.uint_expression()),
            5 => format!("({} - {constant}u)", self.uint_expression()),
            6 => format!("({} / {constant}u)", self.uint_expression()),
            7 => format!("({} % {constant}u)", self.uint_expression()),
            8 => format!("max({}, {constant}u)", self.uint_expression()),
            9 => format!("min({}, {constant}u)", self.uint_expression()),
            10 => format!("max({} - {constant}u, 1u)", self.uint_variable()),
            _ => format!("u32({})", self.int_expression()),
        }
    }

    fn condition(&mut self) -> String {
        match self.below(5) {
            0 => "(p.x + p.y) % 3 == 0".into(),
            1 => "p.y % 2 == 1".into(),
            2 => "cell(p) % 4u == 1u".into(),
            3 => format!("{} > 1", self.int_variable()),
            _ => format!("{} < 3u", self.uint_variable()),
        }
    }

    fn position(&mut self) -> String {
        match self.below(20) {
            0 => "p".into(),
            1..6 => "q".into(),
            6 | 7 => format!("p + vec2(0, {})", self.int_expression()),
            8 | 9 => format!("p + vec2(0, i32({}))", self.uint_expression()),
            10 => format!("p - vec2({}, {})", self.int_expression(), self.int_expression()),
            11..14 => format!("vec2(p.x + {}, p.y - {})", self.int_expression(), self.int_expression()),
            14 => format!("q + vec2(0, {})", self.int_expression()),
            15 => format!("select(p, q, {})", self.condition()),
            16 => format!("max(p, p + vec2(0, {}))", self.int_expression()),
            17 => format!("moved(q, {})", self.int_expression()),
            _ => "own(id)".into(),
        }
    }

    fn load(&mut self) {
        let position = self.position();
        self.line(&format!("s = s * 31u + cell({position});"));
    }

    /// Adds a use of `id` other than as an argument of a helper.
    fn other_use_of_id(&mut self) {
        let use_of_id = match self.below(4) {
            0 => "s += id.y;",
            1 => "if id.y % 64u > 9u { s += 1u; }",
            2 => "s += cell(y_position(id + vec3(0u, 8u, 0u)));",
            _ => "s += cell(own(vec3(id.x, id.y / 8u * 8u, id.z)));",
        };
        self.line(use_of_id);
    }

    fn assignment(&mut self) {
        match self.below(7) {
            0 | 1 => {
                let position = self.position();
                self.line(&format!("q = {position};"));
            }
            2 => {
                let (op, value) = (["+=", "-="][self.below(2) as usize], self.int_expression());
                self.line(&format!("q.y {op} {value};"));
            }
            3 => {
                let value = self.int_expression();
                self.line(&format!("i0 = {value};"));
            }
            4 => {
                let value = self.uint_expression();
                self.line(&format!("u0 = {value};"));
            }
            5 if self.one_in(4) => {
                let value = self.int_expression();
                self.line(&format!("move_by(&q, {value});"));
            }
            5 | 6 => self.set_known_values(),
            _ => {}
        }
    }

    fn set_known_values(&mut self) {
        let (ahead, int, uint) = (self.below(9) as i64 - 4, self.below(9) as i64 - 4, self.below(4));
        self.line(&format!("q = p + vec2(0, {ahead}); i0 = {int}; u0 = {uint}u;"));
    }

    fn statement(&mut self) {
        if self.depth > 1 || self.one_in(3) {
            if self.one_in(2) {
                self.assignment();
            }
            return self.load();
        }
        match self.below(8) {
            0 => self.branch(),
            1 | 2 => self.switch(),
            3 => self.signed_loop(),
            4 | 5 => self.unsigned_loop(),
            _ => self.loop_with_continuing(),
        }
        // The variables are unknown here.
        if !self.one_in(6) {
            self.set_known_values();
        }
    }

    fn block(&mut self, begin: &str, inside: impl FnOnce(&mut Self), end: &str) {
        self.line(begin);
        self.depth += 1;
        let scope = (self.ints.len(), self.uints.len());
        inside(self);
        self.ints.truncate(scope.0);
        self.uints.truncate(scope.1);
        self.depth -= 1;
        self.line(end);
    }

    fn statements(&mut self) {
        if !self.one_in(3) {
            self.set_known_values();
        }
        self.statement();
        if self.one_in(2) {
            self.assignment();
        }
    }

    fn branch(&mut self) {
        let condition = self.condition();
        self.block(&format!("if {condition} {{"), Self::statements, "} else {");
        self.block("", Self::statements, "}");
    }

    fn switch(&mut self) {
        let selector = if self.one_in(2) { "p.y % 4".into() } else { self.int_expression() };
        let cases = |text: &mut Self| {
            for case in ["case 0: {", "case 1, 2: {", "default: {"] {
                text.block(case, Self::case, "}");
            }
        };
        self.block(&format!("switch {selector} {{"), cases, "}");
    }

    fn case(&mut self) {
        self.statements();
        if self.one_in(3) {
            let condition = self.condition();
            self.line(&format!("if {condition} {{ break; }}"));
            self.load();
        }
    }

    fn signed_loop(&mut self) {
        let (k, step) = (self.name("k"), 1 + self.below(2));
        let (low, high) = (self.below(6) as i64 - 3, self.below(6) as i64 - 1);
        let first =
            |text: &mut Self, value: i64| if text.one_in(4) { text.int_expression() } else { value.to_string() };
        let head = match self.below(4) {
            0 => format!("var {k} = {}; {k} < {high}; {k} += {step}", first(self, low)),
            1 => format!("var {k} = {}; {k} <= {high}; {k} += {step}", first(self, low)),
            2 => format!("var {k} = {}; {k} > {low}; {k} -= {step}", first(self, high)),
            _ => format!("var {k} = {}; {k} >= {low}; {k} -= {step}", first(self, high)),
        };
        self.bounded_loop(&head, |text| text.ints.push(k));
    }

    fn unsigned_loop(&mut self) {
        let (k, step) = (self.name("k"), 1 + self.below(2));
        let (low, high) = (self.below(2), 1 + self.below(4));
        let first =
            |text: &mut Self, value: u64| if text.one_in(4) { text.uint_expression() } else { format!("{value}u") };
        let head = match self.below(4) {
            0 => format!("var {k} = {}; {k} < {high}u; {k} += {step}u", first(self, low)),
            1 => format!("var {k} = {}; {k} <= {high}u; {k} += {step}u", first(self, low)),
            2 => format!("var {k} = {}; {k} > {low}u; {k} -= {step}u", first(self, high)),
            _ => format!("var {k} = {}; {k} >= {low}u; {k} -= {step}u", first(self, high)),
        };
        self.bounded_loop(&head, |text| text.uints.push(k));
    }

    /// Adds a loop of at most 9 passes, for any values of its counter.
    fn bounded_loop(&mut self, head: &str, declare: impl FnOnce(&mut Self)) {
        let passes = self.declare_passes();
        let body = |text: &mut Self| {
            let uints = text.uints.len();
            declare(text);
            text.end_after_passes(&passes);
            text.counted_load(text.uints.len() > uints);
            text.body();
        };
        self.block(&format!("for ({head}) {{"), body, "}");
    }

    /// Adds a load at a distance that depends on a counter.
    fn counted_load(&mut self, is_unsigned: bool) {
        let distance = if is_unsigned { format!("i32({})", self.uint_expression()) } else { self.int_expression() };
        self.line(&format!("s = s * 31u + cell(p + vec2(0, {distance}));"));
    }

    /// Declares a counter of the passes of a loop.
    fn declare_passes(&mut self) -> String {
        let passes = self.name("passes");
        self.line(&format!("var {passes} = 0;"));
        passes
    }

    fn end_after_passes(&mut self, passes: &str) {
        self.line(&format!("{passes} += 1; if {passes} > 9 {{ break; }}"));
    }

    fn body(&mut self) {
        self.statements();
        let condition = self.condition();
        match self.below(5) {
            0 => self.line(&format!("if {condition} {{ break; }}")),
            1..4 => self.line(&format!("if {condition} {{ continue; }}")),
            _ => {}
        }
        if !self.one_in(3) {
            self.set_known_values();
            self.load();
        }
    }

    /// Adds a `loop` with a `continuing` block: loads of its counter are not where a `for` has
    /// them, or the block loads `q`.
    fn loop_with_continuing(&mut self) {
        let (k, before, passes) = (self.name("k"), self.name("before"), self.declare_passes());
        self.line(&format!("var {k} = 0; let {before} = {k};"));
        let is_counter = self.one_in(2);
        let condition = if is_counter && self.one_in(3) { &before } else { &k };
        let own = if is_counter && self.one_in(3) { &before } else { &k };
        let body = |text: &mut Self| {
            text.line(&format!("if {condition} < 3 {{}} else {{ break; }}"));
            text.end_after_passes(&passes);
            if is_counter {
                text.ints.push(k.clone());
                text.counted_load(false);
            }
            text.body();
            let load = if is_counter { "" } else { "s = s * 31u + cell(q); " };
            text.line(&format!("continuing {{ {load}{k} = {own} + 1; }}"));
        };
        self.block("loop {", body, "}");
    }
}
