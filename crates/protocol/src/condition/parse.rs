//! Parser of conditions.

use std::str::FromStr;

use super::{Condition, ConditionTest, Function, NumberPath, Relation, is_name_char, is_plain};

const MAX_TESTS: usize = 64;

impl FromStr for Condition {
    type Err = String;

    /// Parses a condition. An error has the column, the text there and the valid alternatives.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parser = Parser { text, at: 0 };
        let mut alternatives = vec![vec![parser.test()?]];
        let mut tests = 1;
        while !parser.is_at_end() {
            let begin = parser.at;
            match parser.word() {
                "and" => {}
                "or" => alternatives.push(Vec::new()),
                _ => return Err(parser.unexpected(begin, "`and`, `or` or the end")),
            }
            tests += 1;
            if tests > MAX_TESTS {
                return Err(format!("{}: a condition has at most {MAX_TESTS} tests", parser.column(begin)));
            }
            let test = parser.test()?;
            alternatives.last_mut().expect("it is not empty").push(test);
        }
        Ok(Self { alternatives })
    }
}

#[derive(Clone, Copy)]
struct Parser<'a> {
    text: &'a str,
    /// Offset of the rest in bytes. Each method leaves it after spaces.
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// Consumes a sign if it is next; returns true on success.
    fn consume(&mut self, sign: &str) -> bool {
        let next = self.rest().starts_with(sign);
        if next {
            self.at += sign.len();
            self.skip_spaces();
        }
        next
    }

    /// Consumes the next letters, digits and underscores.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let word = &rest[..rest.find(|c| !is_name_char(c)).unwrap_or(rest.len())];
        self.at += word.len();
        self.skip_spaces();
        word
    }

    /// Text of the column of a byte offset, from 1.
    fn column(&self, at: usize) -> String {
        format!("column {}", self.text[..at].chars().count() + 1)
    }

    /// Error text for unexpected text at a byte offset.
    fn unexpected(&self, at: usize, expected: &str) -> String {
        let rest = &self.text[at..];
        let word: String = rest.chars().take_while(|&c| is_name_char(c)).take(40).collect();
        let found = match rest.chars().next() {
            None => "the end".to_string(),
            Some(first) if word.is_empty() => format!("{:?}", first.to_string()),
            Some(_) => format!("{word:?}"),
        };
        format!("{}: expected {expected}, found {found}", self.column(at))
    }

    fn expect(&mut self, sign: &str, expected: &str) -> Result<(), String> {
        if self.consume(sign) { Ok(()) } else { Err(self.unexpected(self.at, expected)) }
    }

    fn test(&mut self) -> Result<ConditionTest, String> {
        self.skip_spaces();
        let begin = self.at;
        let mut lookahead = *self;
        let word = lookahead.word();
        if !word.is_empty() && lookahead.consume("(") {
            self.at = lookahead.at;
            return self.function_test(word, begin);
        }
        let first = self.whole_array("a function, such as nan(f), or the name of an array", "in a comparison")?;
        let same = match [self.consume("=="), self.consume("!=")] {
            [false, false] => {
                let expected = "`==` or `!=` and another array; numbers come from functions, as in max(f) > 1";
                return Err(self.unexpected(self.at, expected));
            }
            [same, _] => same,
        };
        let second = self.whole_array("the name of an array", "in a comparison")?;
        Ok(ConditionTest::Same { arrays: [first, second], same })
    }

    /// Parses the rest of a test after `function(`.
    fn function_test(&mut self, word: &str, begin: usize) -> Result<ConditionTest, String> {
        let Some(function) = Function::ALL.into_iter().find(|function| function.name() == word) else {
            let all = Function::ALL.map(Function::name).join(", ");
            let expected = match word {
                "abs" => format!("one of the functions {all} around abs(…), as in max(abs(f)) > 1"),
                _ => format!("one of the functions {all}"),
            };
            return Err(self.unexpected(begin, &expected));
        };
        let at = self.at;
        let mut lookahead = *self;
        let abs = lookahead.word() == "abs" && lookahead.consume("(");
        if abs && (function.is_about_ghosts() || function == Function::Sum) {
            return Err(format!("{}: abs is not allowed in {word}(…)", self.column(at)));
        }
        let path = if abs {
            self.at = lookahead.at;
            let path = self.path("the name of an array")?;
            self.expect(")", "`.` and a member or component, or `)`")?;
            path
        } else if function.is_about_ghosts() {
            let array = self.whole_array("the name of an array", &format!("in {word}(…)"))?;
            NumberPath { array, members: Vec::new() }
        } else {
            self.path("the name of an array or abs(…)")?
        };
        self.expect(
            ")",
            if function.is_about_ghosts() || abs { "`)`" } else { "`.` and a member or component, or `)`" },
        )?;
        let relation = Relation::ALL.into_iter().find(|relation| self.consume(relation.sign()));
        let Some(relation) = relation else {
            let equals = if self.rest().starts_with('=') { "; equality is `==`" } else { "" };
            return Err(self.unexpected(self.at, "one of > >= < <= == !=") + equals);
        };
        Ok(ConditionTest::Found { function, abs, path, relation, number: self.number()? })
    }

    fn whole_array(&mut self, expected: &str, context: &str) -> Result<String, String> {
        let array = self.name(expected)?;
        if self.rest().starts_with('.') {
            return Err(format!("{}: only whole arrays are allowed {context}: remove this", self.column(self.at)));
        }
        Ok(array)
    }

    fn path(&mut self, expected: &str) -> Result<NumberPath, String> {
        let array = self.name(expected)?;
        let mut members = Vec::new();
        while self.consume(".") {
            members.push(self.name("the name of a member, or a component: x, y, z, w or its number")?);
        }
        Ok(NumberPath { array, members })
    }

    fn name(&mut self, expected: &str) -> Result<String, String> {
        let begin = self.at;
        if !self.rest().starts_with('"') {
            let name = self.word();
            return if is_plain(name) { Ok(name.to_string()) } else { Err(self.unexpected(begin, expected)) };
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
        Err(format!("{}: the name that begins here has no closing `\"`", self.column(begin)))
    }

    fn number(&mut self) -> Result<f64, String> {
        let (begin, rest) = (self.at, self.rest());
        let mut previous = 'e';
        let ends = |c: char| {
            let sign = matches!(c, '+' | '-') && matches!(previous, 'e' | 'E');
            previous = c;
            !(sign || c.is_ascii_alphanumeric() || c == '.')
        };
        let text = &rest[..rest.find(ends).unwrap_or(rest.len())];
        match text.parse::<f64>() {
            Ok(number) if number.is_nan() => {
                Err(format!("{}: a condition cannot compare with NaN; nan(f) > 0 finds NaNs", self.column(begin)))
            }
            Ok(number) => {
                self.at += text.len();
                self.skip_spaces();
                Ok(number)
            }
            Err(_) => Err(self.unexpected(begin, "a number, such as 0.3 or -1e-6")),
        }
    }
}
