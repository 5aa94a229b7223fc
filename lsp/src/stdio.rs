//! Messages over byte streams. No message takes more memory than [`MAX_MESSAGE`], whatever length its header claims.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{JoinHandle, spawn};

use lsp_server::{Connection, ErrorCode, Message};
use serde_json::{Value, json};

/// The maximum length of a message in bytes.
pub const MAX_MESSAGE: u64 = 1 << 26;
/// The maximum length of a header line in bytes.
const LINE: u64 = 1 << 12;

/// The threads that read and write messages.
#[derive(Debug)]
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// The error that ended reading early. `None` when there has been none so far.
    pub fn failed(self) -> Option<io::Error> {
        if self.reader.is_finished() { self.reader.join().ok()?.err() } else { None }
    }

    /// Waits for both threads. The connection must have been dropped.
    ///
    /// # Errors
    /// When a stream failed, or if the input was not a message.
    pub fn join(self) -> io::Result<()> {
        let gone = |_| io::Error::other("a thread that forwards messages has panicked");
        self.reader.join().unwrap_or_else(|panic| Err(gone(panic)))?;
        self.writer.join().unwrap_or_else(|panic| Err(gone(panic)))
    }
}

/// A connection over byte streams. A frame without a valid message is answered with an error.
pub fn connect(mut input: impl BufRead + Send + 'static, output: impl Write + Send + 'static) -> (Connection, Threads) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let output = Arc::new(Mutex::new(output));
    let refusing = Arc::clone(&output);
    let reader = spawn(move || {
        while let Some(body) = read(&mut input)? {
            let message = match message(&body) {
                Ok(message) => message,
                Err(refusal) => {
                    let mut output = refusing.lock().unwrap_or_else(PoisonError::into_inner);
                    write!(output, "Content-Length: {}\r\n\r\n{refusal}", refusal.len())?;
                    output.flush()?;
                    continue;
                }
            };
            let ends = matches!(&message, Message::Notification(told) if told.method == "exit");
            // The receiver is gone, or this was the last message.
            if sender.send(message).is_err() || ends {
                break;
            }
        }
        Ok(())
    });
    let writer = spawn(move || {
        receiver.into_iter().try_for_each(|message| {
            let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
            message.write(&mut *output)
        })
    });
    (server, Threads { reader, writer })
}

/// The message in a frame.
///
/// # Errors
/// The response that says why it is none.
pub fn message(body: &[u8]) -> Result<Message, String> {
    let refused = |code: ErrorCode, message: String| {
        json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code as i32, "message": message } }).to_string()
    };
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| refused(ErrorCode::ParseError, format!("a message is not JSON: {error}")))?;
    let invalid = |why: String| refused(ErrorCode::InvalidRequest, format!("a message is none of the protocol: {why}"));
    // A request with another `id` would count as a notification, and its client would wait for ever.
    if let (Some(_), Some(id)) = (value.get("method"), value.get("id"))
        && !(id.is_string() || id.as_i64().is_some_and(|id| i32::try_from(id).is_ok()))
    {
        return Err(invalid(format!("the `id` of a request is a text or a whole number of 32 bits, not `{id}`")));
    }
    serde_json::from_value(value).map_err(|_| invalid("it is no request, notification or response".to_owned()))
}

/// Reads what is in the frame of a message. `None` at the end of the input.
///
/// # Errors
/// When the input cannot be read, or is not a frame of at most [`MAX_MESSAGE`] bytes.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let mut length = None;
    loop {
        let mut line = String::new();
        if input.take(LINE).read_line(&mut line)? == 0 {
            return if length.is_none() { Ok(None) } else { Err(invalid("the input ends within a message")) };
        }
        let Some(line) = line.strip_suffix("\r\n") else { return Err(invalid("a header does not end in CR LF")) };
        if line.is_empty() {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { return Err(invalid("a header has no value")) };
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.trim().parse::<u64>().map_err(|_| invalid("`Content-Length` is not a number"))?);
        }
    }
    let length = length.ok_or_else(|| invalid("a message has no `Content-Length`"))?;
    if length > MAX_MESSAGE {
        return Err(invalid(&format!("a message of {length} bytes is too long: at most {MAX_MESSAGE}")));
    }
    let mut body = Vec::new();
    input.take(length).read_to_end(&mut body)?;
    if (body.len() as u64) < length {
        return Err(invalid("the input ends within a message"));
    }
    Ok(Some(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(&mut text.as_bytes()).expect_err(text).to_string()
    }

    #[test]
    fn messages_that_are_none_are_refused_without_making_room_for_them() {
        assert!(read(&mut &b""[..]).is_ok_and(|message| message.is_none()));
        let body = r#"{"jsonrpc":"2.0","method":"exit","params":null}"#;
        let whole = format!("Content-Length: {}\r\nContent-Type: any\r\n\r\n{body}", body.len());
        assert!(read(&mut whole.as_bytes()).is_ok_and(|message| message.is_some()));
        let narrow = format!("content-length:{}\r\n\r\n{body}", body.len());
        assert!(read(&mut narrow.as_bytes()).is_ok_and(|message| message.is_some()));
        assert!(error("Content-Length: 100000000000000\r\n\r\n{}").contains("at most 67108864"));
        assert!(error("Content-Length: 99999999999999999999999\r\n\r\n").contains("not a number"));
        assert!(error("Content-Length: 60000000\r\n\r\n{}").contains("ends within"));
        assert!(error("Content-Length: 2\r\n").contains("ends within"));
        assert!(error("Content-Type: any\r\n\r\n{}").contains("no `Content-Length`"));
        assert!(error("nothing\r\n\r\n").contains("no value"));
        assert!(error(&"x".repeat(1 << 20)).contains("CR LF"));
    }

    #[test]
    fn what_is_no_message_is_answered_with_an_error() {
        let code = |body: &str| {
            let refused: Value = serde_json::from_str(&message(body.as_bytes()).expect_err(body)).expect("it is JSON");
            assert_eq!((&refused["jsonrpc"], refused.get("id")), (&json!("2.0"), Some(&Value::Null)));
            refused["error"]["code"].as_i64().expect("a code")
        };
        assert_eq!([code("{foo"), code("{]"), code("")], [-32700; 3]);
        assert_eq!([code("[]"), code("5"), code("{\"id\":5}"), code("{\"jsonrpc\":\"2\"}")], [-32600; 4]);
        for id in ["1.5", "null", "[]", "99999999999"] {
            assert_eq!(code(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"shutdown"}}"#)), -32600);
        }
        assert!(message(br#"{"jsonrpc":"2.0","id":"a","method":"shutdown"}"#).is_ok());
        assert!(message(br#"{"jsonrpc":"2.0","method":"exit"}"#).is_ok());
        assert!(message(br#"{"jsonrpc":"2.0","id":1,"result":null}"#).is_ok());
    }
}
