//! Signals, such as Ctrl-C, while a program runs: Python handles them only where it is asked to.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long a run continues before the next look at signals, which takes the interpreter's lock.
const INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    /// When to look for signals next.
    static NEXT: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The exception that the handler of a signal has raised.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Calls a function without the interpreter's lock. Also returns the exception of a signal that has arrived meanwhile.
pub fn detached<T: Send>(py: Python<'_>, run: impl FnOnce() -> T + Send) -> (T, Option<PyErr>) {
    NEXT.set(Some(Instant::now() + INTERVAL));
    let result = py.detach(run);
    (result, RAISED.take().or_else(|| py.check_signals().err()))
}

/// Whether the program that this thread runs in [`detached`] should stop.
pub fn interrupted() -> bool {
    if RAISED.with_borrow(Option::is_some) {
        return true;
    }
    if NEXT.get().is_some_and(|next| Instant::now() < next) {
        return false;
    }
    // A handler may run a program itself. There is no interpreter while it ends.
    let raised = Python::try_attach(|py| py.check_signals().err()).flatten();
    NEXT.set(Some(Instant::now() + INTERVAL));
    let stops = raised.is_some();
    RAISED.set(raised);
    stops
}
