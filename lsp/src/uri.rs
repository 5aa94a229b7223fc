//! Names of documents and paths of files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is escaped in the paths of URIs.
const ESCAPED: AsciiSet =
    NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// The last part of the name of a document, which need not be a file.
pub fn file_name(uri: &Uri) -> String {
    let whole = uri.as_str();
    let whole = whole.split(['?', '#']).next().unwrap_or(whole);
    let last = whole.rsplit(['/', ':']).next().unwrap_or_default();
    decoded(last).map_or_else(|| last.to_owned(), Cow::into_owned)
}

/// Replaces `%` and two digits by the byte that they stand for. `None` if the bytes are no text.
fn decoded(encoded: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(encoded).decode_utf8().ok()
}

/// The path of a document, if it is a file.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let encoded = uri.as_str().strip_prefix("file://")?;
    // Skip the host before the path.
    let encoded = encoded.get(encoded.find('/')?..)?;
    let path = decoded(encoded)?;
    // `/C:/folder` is a path with a drive letter.
    let drive = path.as_bytes().get(2) == Some(&b':') && cfg!(windows);
    Some(PathBuf::from(if drive { &path[1..] } else { &path[..] }))
}

/// The name of the document for a file with this absolute path.
pub fn of_path(path: &Path) -> Option<Uri> {
    let path = path.to_str()?;
    let path = if cfg!(windows) { Cow::from(path.replace('\\', "/")) } else { Cow::from(path) };
    let root = if path.starts_with('/') { "" } else { "/" };
    Uri::from_str(&format!("file://{root}{}", utf8_percent_encode(&path, &ESCAPED))).ok()
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
