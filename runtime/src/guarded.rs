//! Values between two guard pages: the processor stops machine code that accesses memory beyond them.

use std::fmt;
use std::ops::{Deref, DerefMut};

use isaforge_core::machine::Bytes;

use pages::Pages;

/// A slice with a guard page before it and one after it, on targets where machine code can be executed.
///
/// It begins at a multiple of 64 bytes, and ends as close to the second guard page as that allows. An empty slice needs
/// no pages.
///
/// ```
/// let mut guarded = isaforge_runtime::Guarded::from(vec![1, 2, 3]);
/// guarded[1] = 7;
/// assert_eq!(*guarded, [1, 7, 3]);
/// ```
pub struct Guarded<T>(Pages<T>);

impl<T: fmt::Debug> fmt::Debug for Guarded<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The number of bytes that are skipped together if they are all zero.
const ZEROS: usize = 4096;

impl<T: Copy> Guarded<T> {
    /// Creates `len` copies of a value.
    pub fn filled(value: T, len: usize) -> Self {
        Guarded(Pages::collect(std::iter::repeat_n(value, len)))
    }
}

impl<T> Default for Guarded<T> {
    fn default() -> Self {
        Guarded(Pages::default())
    }
}

impl From<&[u8]> for Guarded<u8> {
    /// Memory is not committed for blocks of zeros until they are written.
    fn from(bytes: &[u8]) -> Self {
        let mut pages = Pages::zeroed(bytes.len());
        for (to, from) in pages.chunks_mut(ZEROS).zip(bytes.chunks(ZEROS)) {
            if *from != [0; ZEROS][..from.len()] {
                to.copy_from_slice(from);
            }
        }
        Guarded(pages)
    }
}

impl From<Vec<u8>> for Guarded<u8> {
    fn from(bytes: Vec<u8>) -> Self {
        Guarded::from(&bytes[..])
    }
}

impl Clone for Guarded<u8> {
    fn clone(&self) -> Self {
        Guarded::from(&**self)
    }
}

impl<T> Deref for Guarded<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Guarded<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: PartialEq> PartialEq for Guarded<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Guarded<T> {}

impl Bytes for Guarded<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self
    }

    fn copy(&self) -> Box<dyn Bytes> {
        Box::new(self.clone())
    }
}

/// Without machine code, all accesses are bounds-checked, and no guard pages are needed.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod pages {
    use std::ops::{Deref, DerefMut};

    pub struct Pages<T>(Vec<T>);

    impl<T> Default for Pages<T> {
        fn default() -> Self {
            Pages(Vec::new())
        }
    }

    impl<T> Pages<T> {
        pub fn collect(values: impl ExactSizeIterator<Item = T>) -> Self {
            Pages(values.collect())
        }
    }

    impl Pages<u8> {
        pub fn zeroed(len: usize) -> Self {
            Pages(vec![0; len])
        }
    }

    impl<T> Deref for Pages<T> {
        type Target = [T];

        fn deref(&self) -> &[T] {
            &self.0
        }
    }

    impl<T> DerefMut for Pages<T> {
        fn deref_mut(&mut self) -> &mut [T] {
            &mut self.0
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod pages {
    #![allow(unsafe_code, reason = "pages of the system as a slice")]

    use std::alloc::{Layout, handle_alloc_error};
    use std::ops::{Deref, DerefMut};
    use std::ptr::NonNull;

    use region::{Allocation, Protection};

    /// The alignment of the first value.
    const ALIGNMENT: usize = 64;

    /// Values in pages of their own.
    pub struct Pages<T> {
        /// The first of `len` initialized values, valid for as long as the pages are.
        start: NonNull<T>,
        len: usize,
        _pages: Option<Allocation>,
    }

    // SAFETY: the pages are reachable only through `self`, which owns the values.
    unsafe impl<T: Send> Send for Pages<T> {}
    // SAFETY: a shared reference gives only shared references to the values.
    unsafe impl<T: Sync> Sync for Pages<T> {}

    impl<T: Copy> Pages<T> {
        pub fn collect(values: impl ExactSizeIterator<Item = T>) -> Self {
            let len = values.len();
            let mut pages = Pages::without_values(len);
            for value in values.take(len) {
                // SAFETY: there is room for `len` values, and `pages.len` is less than `len`.
                unsafe { pages.start.add(pages.len).write(value) };
                pages.len += 1;
            }
            pages
        }

        /// Allocates memory for `len` values, zeroed and counted as 0 values so far.
        fn without_values(len: usize) -> Self {
            const { assert!(align_of::<T>() <= ALIGNMENT) };
            if len == 0 {
                return Pages::default();
            }
            let page = region::page::size();
            let layout = Layout::array::<T>(len).unwrap_or_else(|_| panic!("{len} values are more than memory"));
            let bytes = layout.size().next_multiple_of(ALIGNMENT);
            let inner = bytes.next_multiple_of(page);
            let pages = region::alloc(inner + 2 * page, Protection::READ_WRITE);
            let mut pages = pages.unwrap_or_else(|_| handle_alloc_error(layout));
            let first = pages.as_mut_ptr::<u8>();
            for guard in [first, first.wrapping_add(page + inner)] {
                // SAFETY: this is the first or the last page of the allocation, and holds no values.
                let guarded = unsafe { region::protect(guard, page, Protection::NONE) };
                guarded.unwrap_or_else(|_| handle_alloc_error(layout));
            }
            // The values end at the last page, except for the rounding to their alignment.
            let start = NonNull::new(first.wrapping_add(page + inner - bytes).cast());
            Pages { start: start.unwrap_or_else(|| handle_alloc_error(layout)), len: 0, _pages: Some(pages) }
        }
    }

    impl Pages<u8> {
        pub fn zeroed(len: usize) -> Self {
            // Pages from the operating system are zero, and zeros are valid bytes.
            Pages { len, ..Pages::without_values(len) }
        }
    }

    impl<T> Default for Pages<T> {
        fn default() -> Self {
            Pages { start: NonNull::dangling(), len: 0, _pages: None }
        }
    }

    impl<T> Deref for Pages<T> {
        type Target = [T];

        #[inline(always)]
        fn deref(&self) -> &[T] {
            // SAFETY: `len` values were written at `start`, and the pages live as long as `self`.
            unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
        }
    }

    impl<T> DerefMut for Pages<T> {
        #[inline(always)]
        fn deref_mut(&mut self) -> &mut [T] {
            // SAFETY: as above, and a unique reference to `self` makes the access to the values unique.
            unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use region::Protection;

    use super::*;

    #[test]
    fn nobody_may_access_what_lies_around_values() {
        for len in [1, 63, 64, 65, 4096, 4097, 1 << 20] {
            let values = Guarded::filled(7u8, len);
            let (start, end) = (values.as_ptr() as usize, values.as_ptr() as usize + len);
            assert_eq!(start % 64, 0);
            let page = region::page::size();
            let (below, beyond) = (start / page * page - page, end.next_multiple_of(64));
            for guard in [below, beyond] {
                let found = region::query(std::ptr::without_provenance::<u8>(guard)).unwrap();
                assert_eq!(found.protection(), Protection::NONE, "{guard:#x} around {len} values at {start:#x}");
            }
            assert!(values.iter().all(|value| *value == 7));
        }
    }

    #[test]
    fn bytes_come_as_they_were_given() {
        let bytes: Vec<u8> = (0..20_000).map(|at| if at / 4096 % 2 == 0 { 0 } else { at as u8 }).collect();
        assert_eq!(*Guarded::from(bytes.clone()), bytes);
        assert_eq!(Guarded::from(bytes.clone()).clone(), Guarded::from(bytes));
        assert!(Guarded::from(Vec::new()).is_empty());
    }
}
