//! Whether the process of the client is still there: one that was killed may leave the connection open.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Whether there is no process with this number, or it has ended and its parent has not been told. `false` where this
/// cannot be known.
pub fn has_ended(process: u32) -> bool {
    if Path::new("/proc/self/stat").exists() {
        let Ok(state) = fs::read_to_string(format!("/proc/{process}/stat")) else {
            return !Path::new(&format!("/proc/{process}")).exists();
        };
        // The name before the state is in parentheses, and may contain some.
        let state = state.rsplit_once(')').and_then(|(_, rest)| rest.trim_start().chars().next());
        return matches!(state, Some('Z' | 'X'));
    }
    if !cfg!(unix) {
        return false;
    }
    let number = process.to_string();
    let mut ps = Command::new("ps");
    ps.args(["-p", &number]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ps.status().is_ok_and(|status| status.code() == Some(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_one_without_a_number_does_not() {
        assert!(!has_ended(std::process::id()));
        assert!(!cfg!(unix) || has_ended(u32::MAX >> 1));
    }

    #[cfg(unix)]
    #[test]
    fn a_process_that_nobody_waited_for_has_ended() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("it starts");
        assert!(!has_ended(child.id()));
        child.kill().expect("it runs");
        let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
        while !has_ended(child.id()) {
            assert!(std::time::Instant::now() < until, "it never ends");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        child.wait().expect("it can be waited for");
        assert!(has_ended(child.id()));
    }
}
