//! Conditions from text.

use std::str::FromStr;

use super::{Condition, Function, Path, Relation, Test, is_of_name, is_plain};

/// More tests than this are not taken.
const MOST_TESTS: usize = 64;

impl FromStr for Condition {
    type Err = String;

    /// Reads a condition. An error says at which column what is wrong and what could stand there.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut reader = Reader { text, at: 0 };
        let mut any = vec![vec![reader.test()?]];
        let mut tests = 1;
        while !reader.is_at_end() {
            let begin = reader.at;
            match reader.word() {
                "and" => {}
                "or" => any.push(Vec::new()),
                _ => return Err(reader.wrong(begin, "`and`, `or` or the end")),
            }
            tests += 1;
            if tests > MOST_TESTS {
                return Err(format!("{}: a condition has at most {MOST_TESTS} tests", reader.column(begin)));
            }
            let test = reader.test()?;
            any.last_mut().expect("it began with one").push(test);
        }
        Ok(Self { any })
    }
}

/// What is left of a text.
#[derive(Clone, Copy)]
struct Reader<'a> {
    text: &'a str,
    /// Where it goes on, in bytes; behind spaces after each call.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// Takes a sign, if it is next.
    fn takes(&mut self, sign: &str) -> bool {
        let next = self.rest().starts_with(sign);
        if next {
            self.at += sign.len();
            self.skip_spaces();
        }
        next
    }

    /// Takes the letters, digits and underscores that are next.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_of_name(c)).unwrap_or(rest.len())];
        self.at += word.len();
        self.skip_spaces();
        word
    }

    /// Where a byte is, for people.
    fn column(&self, at: usize) -> String {
        format!("column {}", self.text[..at].chars().count() + 1)
    }

    /// Something else is expected than what stands at a byte.
    fn wrong(&self, at: usize, expected: &str) -> String {
        let rest = &self.text[at..];
        let word: String = rest.chars().take_while(|&c| is_of_name(c)).take(40).collect();
        let found = match rest.chars().next() {
            None => "the end".to_string(),
            Some(first) if word.is_empty() => format!("{:?}", first.to_string()),
            Some(_) => format!("{word:?}"),
        };
        format!("{}: expected {expected}, found {found}", self.column(at))
    }

    fn expects(&mut self, sign: &str, expected: &str) -> Result<(), String> {
        if self.takes(sign) { Ok(()) } else { Err(self.wrong(self.at, expected)) }
    }

    fn test(&mut self) -> Result<Test, String> {
        self.skip_spaces();
        let begin = self.at;
        let mut ahead = *self;
        let word = ahead.word();
        if !word.is_empty() && ahead.takes("(") {
            self.at = ahead.at;
            return self.found(word, begin);
        }
        let one = self.whole_array("a function, such as nan(f), or the name of an array", "they are compared")?;
        let same = match [self.takes("=="), self.takes("!=")] {
            [false, false] => {
                let expected = "`==` or `!=` and another array; numbers come from functions, as in max(f) > 1";
                return Err(self.wrong(self.at, expected));
            }
            [same, _] => same,
        };
        let other = self.whole_array("the name of an array", "they are compared")?;
        Ok(Test::Same { arrays: [one, other], same })
    }

    /// What stands behind `function(`.
    fn found(&mut self, word: &str, begin: usize) -> Result<Test, String> {
        let Some(function) = Function::ALL.into_iter().find(|function| function.name() == word) else {
            let all = Function::ALL.map(Function::name).join(", ");
            let expected = match word {
                "abs" => format!("one of the functions {all} around abs(…), as in max(abs(f)) > 1"),
                _ => format!("one of the functions {all}"),
            };
            return Err(self.wrong(begin, &expected));
        };
        let at = self.at;
        let mut ahead = *self;
        let abs = ahead.word() == "abs" && ahead.takes("(");
        if abs && (function.of_ghosts() || function == Function::Sum) {
            return Err(format!("{}: abs cannot stand in {word}(…)", self.column(at)));
        }
        let of = if abs {
            self.at = ahead.at;
            let of = self.path("the name of an array")?;
            self.expects(")", "`.` and a member or component, or `)`")?;
            of
        } else if function.of_ghosts() {
            let array = self.whole_array("the name of an array", &format!("{word}(…) looks at them"))?;
            Path { array, within: Vec::new() }
        } else {
            self.path("the name of an array or abs(…)")?
        };
        self.expects(")", if function.of_ghosts() || abs { "`)`" } else { "`.` and a member or component, or `)`" })?;
        let relation = Relation::ALL.into_iter().find(|relation| self.takes(relation.sign()));
        let Some(relation) = relation else {
            let equals = if self.rest().starts_with('=') { "; two signs `==` say equal" } else { "" };
            return Err(self.wrong(self.at, "one of > >= < <= == !=") + equals);
        };
        Ok(Test::Found { function, abs, of, relation, number: self.number()? })
    }

    /// An array without members.
    fn whole_array(&mut self, expected: &str, why: &str) -> Result<String, String> {
        let array = self.name(expected)?;
        match self.rest().starts_with('.') {
            true => Err(format!("{}: arrays are taken as a whole where {why}: leave this out", self.column(self.at))),
            false => Ok(array),
        }
    }

    fn path(&mut self, expected: &str) -> Result<Path, String> {
        let array = self.name(expected)?;
        let mut within = Vec::new();
        while self.takes(".") {
            within.push(self.name("the name of a member, or a component: x, y, z, w or its number")?);
        }
        Ok(Path { array, within })
    }

    fn name(&mut self, expected: &str) -> Result<String, String> {
        let begin = self.at;
        if !self.rest().starts_with('"') {
            let name = self.word();
            return if is_plain(name) { Ok(name.to_string()) } else { Err(self.wrong(begin, expected)) };
        }
        let mut name = String::new();
        let mut letters = self.rest().char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.at += at + 1;
                    self.skip_spaces();
                    return Ok(name);
                }
                '\\' => match letters.next() {
                    Some((_, escaped @ ('"' | '\\'))) => name.push(escaped),
                    _ => {
                        let column = self.column(begin + at);
                        return Err(format!("{column}: within quotes only `\\\"` and `\\\\` begin with a backslash"));
                    }
                },
                letter => name.push(letter),
            }
        }
        Err(format!("{}: the name that begins here has no `\"` behind it", self.column(begin)))
    }

    fn number(&mut self) -> Result<f64, String> {
        let (begin, rest) = (self.at, self.rest());
        let mut before = 'e';
        let ends = |c: char| {
            let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            before = c;
            !(sign || c.is_ascii_alphanumeric() || c == '.')
        };
        let text = &rest[..rest.find(ends).unwrap_or(rest.len())];
        match text.parse::<f64>() {
            Ok(number) if number.is_nan() => {
                Err(format!("{}: nothing compares with a NaN; nan(f) > 0 asks for them", self.column(begin)))
            }
            Ok(number) => {
                self.at += text.len();
                self.skip_spaces();
                Ok(number)
            }
            Err(_) => Err(self.wrong(begin, "a number, such as 0.3 or -1e-6")),
        }
    }
}
