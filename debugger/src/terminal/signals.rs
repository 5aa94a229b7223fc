//! Signals that end or suspend the process.

use std::io;

/// From now on, the terminal is restored before a signal ends the process.
#[cfg(unix)]
pub(super) fn restore_at_end() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            super::restore();
            let _ = emulate_default_handler(signal);
        }
    });
    Ok(())
}

/// Stops the process until another one continues it.
#[cfg(unix)]
pub(super) fn suspend() -> io::Result<()> {
    signal_hook::low_level::raise(signal_hook::consts::SIGTSTP)
}

#[cfg(not(unix))]
pub(super) fn restore_at_end() -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn suspend() -> io::Result<()> {
    Ok(())
}
