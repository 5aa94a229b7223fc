//! Executable memory for machine code, and the `unsafe` calls into it.
//!
//! [`check`] has verified that code in here keeps these rules: it reads and writes the [`Context`] it is given, the
//! register file below [`Emitted::slots`], and the windows of [`Emitted::windows`] within their sizes, and writes
//! only those that are writable; it returns with the callee-saved registers of `sysv64` and the stack unchanged, and
//! with the number of one of [`Emitted::exits`]; between two visits to the same place it subtracts from the context's
//! budget.

#![allow(unsafe_code, reason = "calls of machine code that was made while running")]

use isaforge_core::machine::{Memory, SpanBytes};
use memmap2::{Mmap, MmapMut};

use super::check::Refused;
use super::check::scalar::check;
use super::context::{Context, MAX_WINDOWS, SPILLS};
use super::emitted::{Emitted, Exit, Window};
use super::feature::Features;

/// The type of the compiled functions. Other processors have none.
#[cfg(target_arch = "x86_64")]
type Function = unsafe extern "sysv64" fn(*mut Context) -> u32;
#[cfg(not(target_arch = "x86_64"))]
type Function = unsafe extern "C" fn(*mut Context) -> u32;

/// The compiled function of a region.
#[derive(Debug)]
pub struct Compiled {
    code: Mmap,
    /// The code and what it relies on.
    pub emitted: Emitted,
}

/// How a function returned.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    /// The exit that it took.
    pub exit: Exit,
    /// The remaining budget.
    pub budget: u64,
    /// The target of a computed jump.
    pub next: u64,
    /// The offset, from the base of its last window, of an access that is in no window.
    pub miss: u64,
}

/// Why there is no function.
#[derive(Debug, thiserror::Error)]
pub enum NoCode {
    /// The processor or the operating system does not support it.
    #[error("machine code cannot be executed here")]
    Here,
    /// The check refused the code.
    #[error(transparent)]
    Refused(#[from] Refused),
}

impl Compiled {
    /// Checks code for a processor, if one is given, and copies it to executable memory.
    ///
    /// # Errors
    /// When the code may do something forbidden, or when the host is not an x86-64.
    pub fn new(emitted: Emitted, checked: Option<Features>) -> Result<Self, NoCode> {
        checked.map_or(Ok(()), |features| check(&emitted, features))?;
        if !cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
            return Err(NoCode::Here);
        }
        let mut code = MmapMut::map_anon(emitted.code.len()).map_err(|_| NoCode::Here)?;
        code.copy_from_slice(&emitted.code);
        let code = code.make_exec().map_err(|_| NoCode::Here)?;
        Ok(Compiled { code, emitted })
    }

    /// Executes the function with a budget of instructions. `None`, without any effect, if its windows do not exist.
    pub fn run(&self, file: &mut [[u64; 1]], memory: &mut Memory, budget: u64) -> Option<Left> {
        if file.len() < self.emitted.slots as usize {
            return None;
        }
        let mut windows = [std::ptr::null_mut(); MAX_WINDOWS];
        let mut found = 0;
        for span in memory.spans() {
            let (base, size, writable) =
                (span.base, span.bytes.len() as u64, matches!(span.bytes, SpanBytes::Write(_)));
            let start = match span.bytes {
                SpanBytes::Read(bytes) => bytes.as_ptr().cast_mut(),
                SpanBytes::Write(bytes) => bytes.as_mut_ptr(),
            };
            let wanted = self.emitted.windows.iter().zip(&mut windows);
            for (Window { base: from, size: bytes, writable: writes }, pointer) in wanted {
                let Some(offset) = from.checked_sub(base).filter(|offset| *offset < size) else { continue };
                if *bytes <= size - offset && (writable || !writes) {
                    // The offset is within the span.
                    *pointer = start.wrapping_add(offset as usize);
                    found += 1;
                }
            }
        }
        if found != self.emitted.windows.len() {
            return None;
        }
        let (spill, saved) = ([0; SPILLS], [0; 6]);
        let file = file.as_mut_ptr().cast();
        let mut context = Context { file, left: budget, next: 0, miss: 0, saved, spill, windows };
        // SAFETY: the function starts at the beginning of the code, which lives as long as `self`, and has this type.
        // The register file has all slots that it accesses: a slot is one `u64`, as there is one lane. Each of its
        // windows was found in a span of the memory, which is borrowed while the function runs; spans do not overlap,
        // and written windows are in writable spans. It may change the context freely.
        let number = unsafe {
            let function = std::mem::transmute::<*const u8, Function>(self.code.as_ptr());
            function(&raw mut context)
        };
        let exit = *self.emitted.exits.get(number as usize)?;
        let budget = context.left.wrapping_add(exit.refund);
        Some(Left { exit, budget, next: context.next, miss: context.miss })
    }
}
