//! Paths as an editor writes them: as they are, or as URIs.

use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What is escaped in the paths of URIs.
const ESCAPED: AsciiSet = NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

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
        let path = percent_decode_str(rest).decode_utf8_lossy();
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
        format!("file://{}", utf8_percent_encode(&path, &ESCAPED))
    }
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
