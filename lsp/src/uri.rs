//! Names of documents and paths of files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The last part of the name of a document, which need not be a file.
pub fn file_name(uri: &Uri) -> String {
    let whole = uri.as_str();
    let whole = whole.split(['?', '#']).next().unwrap_or(whole);
    let last = whole.rsplit(['/', ':']).next().unwrap_or_default();
    decoded(last).unwrap_or_else(|| last.to_owned())
}

/// Replaces `%` and two digits by the byte that they stand for.
fn decoded(encoded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                (digit(rest.next())? << 4 | digit(rest.next())?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The path of a document, if it is a file.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let encoded = uri.as_str().strip_prefix("file://")?;
    // Skip the host before the path.
    let encoded = encoded.get(encoded.find('/')?..)?;
    let path = decoded(encoded)?;
    // `/C:/folder` is a path with a drive letter.
    let drive = path.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if drive { &path[1..] } else { &path }))
}

/// The name of the document for a file with this absolute path.
pub fn of_path(path: &Path) -> Option<Uri> {
    let mut encoded = String::from("file://");
    let path = path.to_str()?;
    if !path.starts_with('/') {
        encoded.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'\\' if cfg!(windows) => encoded.push('/'),
            b'/' | b'-' | b'.' | b'_' | b'~' | b':' => encoded.push(byte.into()),
            _ if byte.is_ascii_alphanumeric() => encoded.push(byte.into()),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    Uri::from_str(&encoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_with_any_characters_come_back() {
        let folder = Path::new("/a b/ü#?%/x.s");
        let uri = of_path(folder).unwrap();
        assert_eq!((path(&uri).as_deref(), uri.as_str().is_ascii()), (Some(folder), true));
        assert_eq!(path(&Uri::from_str("untitled:Untitled-1").unwrap()), None);
        let name = |uri: &str| file_name(&Uri::from_str(uri).unwrap());
        assert_eq!(name("vscode-vfs://github/a/b%20c.valhall.s?x=1"), "b c.valhall.s");
        assert_eq!((name("untitled:Untitled-1"), name("file:///")), ("Untitled-1".to_owned(), String::new()));
    }
}
