//! Messages on a stream: headers, and a body in JSON.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// The maximum length of a message in bytes.
const MAX_MESSAGE: u64 = 16 << 20;
/// The maximum length of a header line in bytes.
const LINE: u64 = 1 << 12;
/// The number of characters that are shown of a message that is not understood.
const SHOWN: usize = 200;

/// Why a message cannot be answered as a request is. `None` if it can.
pub(super) fn refusal(message: &Value) -> Option<String> {
    let is_request = message["type"] == "request" && message["seq"].is_i64() && message["command"].is_string();
    let text = || message.to_string().chars().take(SHOWN).collect::<String>();
    (!is_request).then(|| format!("a message is no request, and is ignored: {}", text()))
}

/// Reads a message. `None` at the end of the input.
///
/// # Errors
/// When the input cannot be read, or is not a message of the protocol.
pub fn read(input: &mut dyn BufRead) -> io::Result<Option<Value>> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let (mut length, mut first) = (None, true);
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(LINE).read_until(b'\n', &mut line)? == 0 {
            return if first { Ok(None) } else { Err(invalid("the input ends within a message".to_owned())) };
        }
        first = false;
        let line = String::from_utf8_lossy(&line);
        match line.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                let value = value.trim().parse::<u64>();
                length = Some(value.map_err(|_| invalid("`Content-Length` is not a number".to_owned()))?);
            }
            Some(_) => {}
            None if line.trim().is_empty() => break,
            None => return Err(invalid("a header has no value".to_owned())),
        }
    }
    let length = length.ok_or_else(|| invalid("a message has no `Content-Length`".to_owned()))?;
    if length > MAX_MESSAGE {
        return Err(invalid(format!("a message of {length} bytes is too long: at most {MAX_MESSAGE}")));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(invalid("the input ends within a message".to_owned()));
    }
    serde_json::from_slice(&body).map(Some).map_err(|error| invalid(format!("a message is not JSON: {error}")))
}
