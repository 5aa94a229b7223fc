//! Paths as an editor writes them: as they are, or as URIs.

use std::path::{Path, PathBuf};

/// How an editor writes paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Paths {
    /// As the system does.
    #[default]
    Plain,
    /// As `file:` URIs.
    Uris,
}

impl Paths {
    /// The format with this name.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn named(name: &str) -> Result<Self, String> {
        match name {
            "path" => Ok(Paths::Plain),
            "uri" => Ok(Paths::Uris),
            _ => Err(format!("`pathFormat` is `path` or `uri`, not `{name}`")),
        }
    }

    /// The path that an editor has written.
    pub(super) fn read(self, text: &str) -> PathBuf {
        let rest = text.strip_prefix("file://").filter(|_| self == Paths::Uris);
        // A host may precede the path.
        let Some(rest) = rest.and_then(|rest| rest.find('/').map(|at| &rest[at..])) else { return text.into() };
        let path = String::from_utf8_lossy(&decoded(rest)).into_owned();
        let drive = path.get(1..).filter(|path| cfg!(windows) && path.chars().nth(1) == Some(':'));
        drive.unwrap_or(&path).into()
    }

    /// A path as an editor reads it.
    pub(super) fn write(self, path: &Path) -> String {
        let path = path.to_string_lossy();
        if self == Paths::Plain {
            return path.into_owned();
        }
        let path = if cfg!(windows) { format!("/{}", path.replace('\\', "/")) } else { path.into_owned() };
        let mut uri = "file://".to_owned();
        for byte in path.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(byte.into()),
                _ => uri.push_str(&format!("%{byte:02X}")),
            }
        }
        uri
    }
}

/// The bytes of a text with `%2F` and the like. What is not like that stays.
fn decoded(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        let digits = more.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_lead_back_to_their_paths() {
        for path in ["/programs/a.s", "/a b/ü%41?#.s"] {
            let uri = Paths::Uris.write(Path::new(path));
            assert!(uri.is_ascii() && uri.starts_with("file:///"), "{uri}");
            assert_eq!(Paths::Uris.read(&uri), Path::new(path));
            assert_eq!(Paths::Plain.read(path), Path::new(path));
        }
        assert_eq!(Paths::Uris.read("/plain/a.s"), Path::new("/plain/a.s"));
        assert_eq!(Paths::Uris.read("file://host/100%.s"), Path::new("/100%.s"));
    }
}
