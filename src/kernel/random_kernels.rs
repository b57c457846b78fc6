//! Texts of random kernels that load cells around their position.

use std::fmt::Write;

/// Statements of a kernel; always the same for a seed.
pub fn random_kernel(seed: u64) -> String {
    let mut text = KernelText { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1, ..KernelText::default() };
    text.uses_ids = text.one_in(12);
    text.line("var q = p; var i0 = 2; var u0 = 1u;");
    (text.ints, text.uints) = (vec!["i0".into()], vec!["u0".into()]);
    for _ in 0..1 + text.below(2) {
        text.statement();
    }
    if text.uses_ids {
        text.use_of_ids();
    }
    text.out
}

/// A text in the making.
#[derive(Default)]
struct KernelText {
    out: String,
    /// State of the random numbers.
    state: u64,
    depth: usize,
    names: usize,
    /// Variables in scope of type `i32`.
    ints: Vec<String>,
    /// Variables in scope of type `u32`.
    uints: Vec<String>,
    uses_ids: bool,
}

impl KernelText {
    fn below(&mut self, end: u64) -> u64 {
        self.state = self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % end
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

    /// A variable, more often one of those declared last.
    fn int_variable(&mut self) -> String {
        let at = self.late(self.ints.len());
        self.ints[at].clone()
    }

    fn uint_variable(&mut self) -> String {
        let at = self.late(self.uints.len());
        self.uints[at].clone()
    }

    fn late(&mut self, length: usize) -> usize {
        (0..3).map(|_| self.below(length as u64)).max().unwrap_or(0) as usize
    }

    /// An integer with a variable in it, so that no constant expression overflows.
    fn int(&mut self) -> String {
        let constant = self.below(4) + 1;
        match self.below(14) {
            0..5 => self.int_variable(),
            5 => format!("({} + {constant})", self.int()),
            6 => format!("({} - {constant})", self.int()),
            7 => format!("({} / {constant})", self.int()),
            8 => format!("({} % {constant})", self.int()),
            9 => format!("max({}, {constant})", self.int()),
            10 => format!("min({}, {constant})", self.int()),
            11 => format!("-({})", self.int()),
            _ => format!("i32({})", self.uint()),
        }
    }

    fn uint(&mut self) -> String {
        let constant = self.below(4) + 1;
        match self.below(12) {
            0..4 => self.uint_variable(),
            4 => format!("({} + {constant}u)", self.uint()),
            5 => format!("({} - {constant}u)", self.uint()),
            6 => format!("({} / {constant}u)", self.uint()),
            7 => format!("({} % {constant}u)", self.uint()),
            8 => format!("max({}, {constant}u)", self.uint()),
            9 => format!("min({}, {constant}u)", self.uint()),
            10 => format!("max({} - {constant}u, 1u)", self.uint_variable()),
            _ => format!("u32({})", self.int()),
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
            6 | 7 => format!("p + vec2(0, {})", self.int()),
            8 | 9 => format!("p + vec2(0, i32({}))", self.uint()),
            10 => format!("p - vec2({}, {})", self.int(), self.int()),
            11..14 => format!("vec2(p.x + {}, p.y - {})", self.int(), self.int()),
            14 => format!("q + vec2(0, {})", self.int()),
            15 => format!("select(p, q, {})", self.condition()),
            16 => format!("max(p, p + vec2(0, {}))", self.int()),
            17 => format!("moved(q, {})", self.int()),
            _ => "own(id)".into(),
        }
    }

    fn load(&mut self) {
        let position = self.position();
        self.line(&format!("s = s * 31u + cell({position});"));
    }

    /// More than to pass the number of the invocation on.
    fn use_of_ids(&mut self) {
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
                let (op, value) = (["+=", "-="][self.below(2) as usize], self.int());
                self.line(&format!("q.y {op} {value};"));
            }
            3 => {
                let value = self.int();
                self.line(&format!("i0 = {value};"));
            }
            4 => {
                let value = self.uint();
                self.line(&format!("u0 = {value};"));
            }
            5 if self.one_in(4) => {
                let value = self.int();
                self.line(&format!("move_by(&q, {value});"));
            }
            5 | 6 => self.known(),
            _ => {}
        }
    }

    /// Gives all variables known values.
    fn known(&mut self) {
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
            self.known();
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
            self.known();
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
        let selector = if self.one_in(2) { "p.y % 4".into() } else { self.int() };
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
        let first = |text: &mut Self, value: i64| if text.one_in(4) { text.int() } else { value.to_string() };
        let head = match self.below(4) {
            0 => format!("var {k} = {}; {k} < {high}; {k} += {step}", first(self, low)),
            1 => format!("var {k} = {}; {k} <= {high}; {k} += {step}", first(self, low)),
            2 => format!("var {k} = {}; {k} > {low}; {k} -= {step}", first(self, high)),
            _ => format!("var {k} = {}; {k} >= {low}; {k} -= {step}", first(self, high)),
        };
        self.count(&head, |text| text.ints.push(k));
    }

    fn unsigned_loop(&mut self) {
        let (k, step) = (self.name("k"), 1 + self.below(2));
        let (low, high) = (self.below(2), 1 + self.below(4));
        let first = |text: &mut Self, value: u64| if text.one_in(4) { text.uint() } else { format!("{value}u") };
        let head = match self.below(4) {
            0 => format!("var {k} = {}; {k} < {high}u; {k} += {step}u", first(self, low)),
            1 => format!("var {k} = {}; {k} <= {high}u; {k} += {step}u", first(self, low)),
            2 => format!("var {k} = {}; {k} > {low}u; {k} -= {step}u", first(self, high)),
            _ => format!("var {k} = {}; {k} >= {low}u; {k} -= {step}u", first(self, high)),
        };
        self.count(&head, |text| text.uints.push(k));
    }

    /// A loop of at most 9 passes, whatever its counter does.
    fn count(&mut self, head: &str, declare: impl FnOnce(&mut Self)) {
        let passes = self.passes();
        let body = |text: &mut Self| {
            let uints = text.uints.len();
            declare(text);
            text.end_after(&passes);
            text.counted_load(text.uints.len() > uints);
            text.body();
        };
        self.block(&format!("for ({head}) {{"), body, "}");
    }

    /// A load at a distance that a counter has.
    fn counted_load(&mut self, is_unsigned: bool) {
        let distance = if is_unsigned { format!("i32({})", self.uint()) } else { self.int() };
        self.line(&format!("s = s * 31u + cell(p + vec2(0, {distance}));"));
    }

    /// Declares the passes of a loop.
    fn passes(&mut self) -> String {
        let passes = self.name("passes");
        self.line(&format!("var {passes} = 0;"));
        passes
    }

    fn end_after(&mut self, passes: &str) {
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
            self.known();
            self.load();
        }
    }

    /// A loop with a counter that may be loaded at other times than a `for` loads it, or with a load
    /// of `q` after each pass.
    fn loop_with_continuing(&mut self) {
        let (k, before, passes) = (self.name("k"), self.name("before"), self.passes());
        self.line(&format!("var {k} = 0; let {before} = {k};"));
        let is_counter = self.one_in(2);
        let condition = if is_counter && self.one_in(3) { &before } else { &k };
        let own = if is_counter && self.one_in(3) { &before } else { &k };
        let body = |text: &mut Self| {
            text.line(&format!("if {condition} < 3 {{}} else {{ break; }}"));
            text.end_after(&passes);
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
