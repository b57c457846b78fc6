//! Reading and writing JSON, as far as Cargo's messages and the project's own result lines need it.

use std::fmt::{self, Write};

/// A JSON value; objects keep their order.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, kept as it was written.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a whole text.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut parser = Parser { bytes: text.as_bytes(), at: 0, depth: 0 };
        let value = parser.value()?;
        parser.space();
        if parser.at == text.len() { Ok(value) } else { Err(format!("unexpected text at byte {}", parser.at)) }
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        match self {
            Json::Object(members) => members.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value of a boolean.
    pub fn bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The elements of an array; nothing for anything else.
    pub fn list(&self) -> &[Json] {
        match self {
            Json::List(items) => items,
            _ => &[],
        }
    }

    /// An object of these members.
    pub fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
        Json::Object(members.into_iter().map(|(key, value)| (key.to_string(), value)).collect())
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::Text(text.to_string())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::Text(text)
    }
}

impl From<usize> for Json {
    fn from(number: usize) -> Self {
        Json::Number(number.to_string())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, open, close, items: Vec<String>| {
            write!(f, "{open}{}{close}", items.join(", "))
        };
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{value}"),
            Json::Number(text) => f.write_str(text),
            Json::Text(text) => f.write_str(&quote(text)),
            Json::List(items) => list(f, '[', ']', items.iter().map(Json::to_string).collect()),
            Json::Object(members) => {
                list(f, '{', '}', members.iter().map(|(key, value)| format!("{}: {value}", quote(key))).collect())
            }
        }
    }
}

fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            c if c < ' ' => write!(quoted, "\\u{:04x}", c as u32).expect("a String takes everything"),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn error<T>(&self, what: &str) -> Result<T, String> {
        Err(format!("expected {what} at byte {}", self.at))
    }

    fn eat(&mut self, literal: &str) -> bool {
        let found = self.bytes[self.at..].starts_with(literal.as_bytes());
        self.at += if found { literal.len() } else { 0 };
        found
    }

    fn value(&mut self) -> Result<Json, String> {
        self.space();
        match self.peek() {
            Some(b'{') => self.nested(|parser| parser.object()),
            Some(b'[') => self.nested(|parser| parser.list()),
            Some(b'"') => self.string().map(Json::Text),
            _ if self.eat("null") => Ok(Json::Null),
            _ if self.eat("true") => Ok(Json::Bool(true)),
            _ if self.eat("false") => Ok(Json::Bool(false)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.error("a value"),
        }
    }

    fn nested(&mut self, read: impl Fn(&mut Self) -> Result<Json, String>) -> Result<Json, String> {
        self.depth += 1;
        if self.depth > 100 {
            return self.error("less nesting");
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Json, String> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.space();
            if self.eat("]") {
                return Ok(Json::List(items));
            }
            if !items.is_empty() && !self.eat(",") {
                return self.error("`,` or `]`");
            }
            items.push(self.value()?);
        }
    }

    fn object(&mut self) -> Result<Json, String> {
        self.at += 1;
        let mut members = Vec::new();
        loop {
            self.space();
            if self.eat("}") {
                return Ok(Json::Object(members));
            }
            if !members.is_empty() && !self.eat(",") {
                return self.error("`,` or `}`");
            }
            self.space();
            let key = self.string()?;
            self.space();
            if !self.eat(":") {
                return self.error("`:`");
            }
            members.push((key, self.value()?));
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        while self.peek().is_some_and(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')) {
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.bytes[start..self.at]).into_owned();
        if text.parse::<f64>().is_ok() { Ok(Json::Number(text)) } else { self.error("a number") }
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.eat("\"") {
            return self.error("a string");
        }
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.peek() else { return self.error("the end of a string") };
            self.at += 1;
            match byte {
                b'"' => return String::from_utf8(bytes).or_else(|_| self.error("UTF-8")),
                b'\\' => bytes.extend(self.escape()?.to_string().bytes()),
                byte => bytes.push(byte),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        let Some(byte) = self.peek() else { return self.error("an escape") };
        self.at += 1;
        Ok(match byte {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => {
                let mut unit = self.hex()?;
                if (0xd800..0xdc00).contains(&unit) && self.eat("\\u") {
                    let low = self.hex()?;
                    unit = 0x10000 + ((unit - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff);
                }
                char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            b'"' | b'\\' | b'/' => byte as char,
            _ => return self.error("a known escape"),
        })
    }

    fn hex(&mut self) -> Result<u32, String> {
        let digits = self.bytes.get(self.at..self.at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
        let Some(unit) = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()) else {
            return self.error("four hexadecimal digits");
        };
        self.at += 4;
        Ok(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let text = r#"{"a": [1, -2.5e3, true, null], "ä\"\\\n": {"b": ""}, "c": []}"#;
        let value = Json::parse(text).unwrap();
        assert_eq!(value.to_string(), text);
        assert_eq!(value.get("a").unwrap().list()[2].bool(), Some(true));
        assert_eq!(value.get("a").unwrap().list()[1], Json::Number("-2.5e3".into()));
        assert_eq!(value.get("missing"), None);
    }

    #[test]
    fn escapes() {
        assert_eq!(Json::parse(r#""\u00e9\ud83d\ude00\/\t""#).unwrap().text(), Some("é😀/\t"));
        assert_eq!(Json::parse(r#""\ud83d""#).unwrap().text(), Some("\u{fffd}"));
    }

    #[test]
    fn rejects_what_is_not_json() {
        for text in ["", "{", "[1,]", "[1 2]", "{\"a\" 1}", "\"\\q\"", "nul", "1 2", "--", "\"\\u12\"", "{,}"] {
            assert!(Json::parse(text).is_err(), "{text:?}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }
}
