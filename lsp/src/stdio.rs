//! Messages over byte streams. No message takes more memory than [`MAX_MESSAGE`], whatever length its header claims.

use std::io::{self, BufRead, Read, Write};
use std::thread::{JoinHandle, spawn};

use lsp_server::{Connection, Message};

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

/// A connection over byte streams.
pub fn connect(
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> (Connection, Threads) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let reader = spawn(move || {
        while let Some(message) = read(&mut input)? {
            let ends = matches!(&message, Message::Notification(told) if told.method == "exit");
            // The receiver is gone, or this was the last message.
            if sender.send(message).is_err() || ends {
                break;
            }
        }
        Ok(())
    });
    let writer = spawn(move || receiver.into_iter().try_for_each(|message| message.write(&mut output)));
    (server, Threads { reader, writer })
}

/// Reads a message. `None` at the end of the input.
///
/// # Errors
/// When the input cannot be read, or is not a message of at most [`MAX_MESSAGE`] bytes.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Message>> {
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
    serde_json::from_slice(&body).map(Some).map_err(io::Error::from)
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
        assert!(!error("Content-Length: 2\r\n\r\n{]").is_empty());
    }
}
