//! Texts of random kernels that load cells around their position.

use std::fmt::Write;

/// Statements of a kernel; always the same for a seed.
pub fn random_kernel(seed: u64) -> String {
    let mut text = Text { seed: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1, ..Text::default() };
    text.line("var q = p;");
    text.line("var i0 = 2;");
    text.line("var u0 = 1u;");
    (text.ints, text.uints) = (vec!["i0".into()], vec!["u0".into()]);
    for _ in 0..2 + text.below(3) {
        text.statement();
    }
    text.load();
    text.out
}

/// A text in the making.
#[derive(Default)]
struct Text {
    out: String,
    seed: u64,
    depth: usize,
    names: usize,
    /// Variables of type `i32` and `u32` that are in scope, by whether they can be stored to.
    ints: Vec<String>,
    uints: Vec<String>,
}

impl Text {
    fn below(&mut self, most: u64) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.seed >> 33) % most
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

    fn int_variable(&mut self) -> String {
        let at = self.below(self.ints.len() as u64) as usize;
        self.ints[at].clone()
    }

    fn uint_variable(&mut self) -> String {
        let at = self.below(self.uints.len() as u64) as usize;
        self.uints[at].clone()
    }

    /// An integer with a variable in it, so that no constant expression overflows.
    fn int(&mut self) -> String {
        let constant = self.below(4) + 1;
        match self.below(12) {
            0..4 => self.int_variable(),
            4 => format!("({} + {constant})", self.int()),
            5 => format!("({} - {constant})", self.int()),
            6 => format!("({} / {constant})", self.int()),
            7 => format!("({} % {constant})", self.int()),
            8 => format!("max({}, {constant})", self.int()),
            9 => format!("min({}, {constant})", self.int()),
            10 => format!("i32({})", self.uint()),
            _ => format!("-({})", self.int()),
        }
    }

    fn uint(&mut self) -> String {
        let constant = self.below(4) + 1;
        match self.below(10) {
            0..3 => self.uint_variable(),
            3 => format!("({} + {constant}u)", self.uint()),
            4 => format!("({} - {constant}u)", self.uint()),
            5 => format!("({} / {constant}u)", self.uint()),
            6 => format!("({} % {constant}u)", self.uint()),
            7 => format!("max({}, {constant}u)", self.uint()),
            8 => format!("min({}, {constant}u)", self.uint()),
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
        match self.below(24) {
            0..3 => "p".into(),
            3..7 => "q".into(),
            7..10 => format!("p + vec2(0, {})", self.int()),
            10..12 => format!("p - vec2({}, {})", self.int(), self.int()),
            12..14 => format!("vec2(p.x + {}, p.y - {})", self.int(), self.int()),
            14 => format!("q + vec2(0, {})", self.int()),
            15 => format!("select(p, q, {})", self.condition()),
            16..18 => format!("moved(q, {})", self.int()),
            18..20 => "own(id)".into(),
            20 => format!("max(q, p + vec2(0, {}))", self.int()),
            21 => format!("vec2(p.x, {})", self.int()),
            22 => "y_position(id + vec3(0u, 8u, 0u))".into(),
            _ => "y_position(vec3(id.x, id.y / 8u * 8u, id.z))".into(),
        }
    }

    fn load(&mut self) {
        let position = self.position();
        self.line(&format!("s = s * 31u + cell({position});"));
    }

    fn statement(&mut self) {
        let simple = 12;
        match self.below(if self.depth < 2 { simple + 9 } else { simple }) {
            0..5 => self.load(),
            5 | 6 => {
                let position = self.position();
                self.line(&format!("q = {position};"));
            }
            7 => {
                let (op, value) = (["=", "+=", "-="][self.below(3) as usize], self.int());
                self.line(&format!("q.y {op} {value};"));
            }
            8 | 9 => {
                let value = self.int();
                self.line(&format!("i0 = {value};"));
            }
            10 => {
                let value = self.uint();
                self.line(&format!("u0 = {value};"));
            }
            11 if self.one_in(2) => {
                let value = self.int();
                self.line(&format!("move_by(&q, {value});"));
            }
            11 if self.one_in(4) => self.line("s += id.y;"),
            11 => self.line("s += u32(p.y);"),
            12 | 13 => self.branch(),
            14 | 15 => self.switch(),
            16 | 17 => self.signed_loop(),
            18 | 19 => self.unsigned_loop(),
            _ => self.loop_with_continuing(),
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
        for _ in 0..1 + self.below(2) {
            self.statement();
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
        let head = match self.below(5) {
            0 | 1 => format!("var {k} = {}; {k} < {high}; {k} += {step}", first(self, low)),
            2 => format!("var {k} = {}; {k} <= {high}; {k} += {step}", first(self, low)),
            3 => format!("var {k} = {}; {k} > {low}; {k} -= {step}", first(self, high)),
            _ => format!("var {k} = {}; {k} >= {low}; {k} -= {step}", first(self, high)),
        };
        self.count(&head, |text| text.ints.push(k));
    }

    fn unsigned_loop(&mut self) {
        let (k, step) = (self.name("k"), 1 + self.below(2));
        let (low, high) = (self.below(3), 1 + self.below(4));
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
            declare(text);
            text.end_after(&passes);
            text.body();
        };
        self.block(&format!("for ({head}) {{"), body, "}");
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
        match self.below(4) {
            0 => self.line(&format!("if {condition} {{ break; }}")),
            1 | 2 => self.line(&format!("if {condition} {{ continue; }}")),
            _ => {}
        }
        self.statement();
    }

    /// A loop whose counter may be loaded at other times than a `for` loads it.
    fn loop_with_continuing(&mut self) {
        let (k, other, passes) = (self.name("k"), self.name("other"), self.passes());
        self.line(&format!("var {k} = 0;"));
        self.line(&format!("let {other} = {k};"));
        let condition = if self.one_in(3) { other.clone() } else { k.clone() };
        let before = if self.one_in(3) { other } else { k.clone() };
        let body = |text: &mut Self| {
            text.ints.push(k.clone());
            text.line(&format!("if {condition} < 3 {{}} else {{ break; }}"));
            text.end_after(&passes);
            text.body();
            let continuing = |text: &mut Self| {
                text.load();
                text.line(&format!("{k} = {before} + 1;"));
            };
            if text.one_in(2) {
                text.block("continuing {", continuing, "}");
            } else {
                text.line(&format!("continuing {{ {k} = {before} + 1; }}"));
            }
        };
        self.block("loop {", body, "}");
    }
}
