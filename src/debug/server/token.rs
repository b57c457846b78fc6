//! Tokens: secrets that viewers must know.

use std::fmt::Write;

use zippy_protocol::greeting::TOKEN_DIGITS;

/// Creates a random token of hexadecimal digits.
///
/// # Errors
/// The system provides no random bytes.
pub(super) fn new_token() -> Result<String, String> {
    let mut bytes = [0; TOKEN_DIGITS / 2];
    getrandom::fill(&mut bytes).map_err(|error| format!("the system gives no random token: {error}"))?;
    let mut token = String::new();
    for byte in bytes {
        let _ = write!(token, "{byte:02x}");
    }
    Ok(token)
}

/// Validates a token from the settings.
///
/// # Errors
/// It does not have the form of a token.
pub(super) fn validate_token(token: String) -> Result<String, String> {
    let is_valid = token.len() == TOKEN_DIGITS && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_valid { Ok(token) } else { Err(format!("a token for viewers has {TOKEN_DIGITS} hexadecimal digits")) }
}
