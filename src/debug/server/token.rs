//! What a viewer has to know.

use std::fmt::Write;

use crate::debug::protocol::greeting::TOKEN_DIGITS;

/// A token that nobody can guess, in hexadecimal digits.
///
/// # Errors
/// The system has no randomness, in words.
pub fn new_token() -> Result<String, String> {
    let mut bytes = [0; TOKEN_DIGITS / 2];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random token: {error}"))?;
    let mut token = String::new();
    for byte in bytes {
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}

/// A token that was given.
///
/// # Errors
/// It is none.
pub fn checked(token: String) -> Result<String, String> {
    let good = token.len() == TOKEN_DIGITS && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if good { Ok(token) } else { Err(format!("a token for viewers has {TOKEN_DIGITS} hexadecimal digits")) }
}
