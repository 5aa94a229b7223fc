//! Names of documents and paths of files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// The path of a document, if it is a file.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let encoded = uri.as_str().strip_prefix("file://")?;
    // Skip the host before the path.
    let encoded = encoded.get(encoded.find('/')?..)?;
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
    let path = String::from_utf8(bytes).ok()?;
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
    }
}
