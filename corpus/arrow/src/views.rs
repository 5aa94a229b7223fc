//! Columns of texts that are stored in a shared table: sixteen bytes per value, without copying the text.
//!
//! Checking that every view refers to valid UTF-8 costs more than decoding the instruction, so columns are built
//! without the check. Views come from [`Names`], which checked them, or are made here from a `&str`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::make_view;
use arrow_array::{ArrayRef, ListArray, StringViewArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use crate::column::element;

/// A text in a [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name(u128);

impl Name {
    /// The empty text.
    pub const EMPTY: Name = Name(0);
}

/// Distinct texts. Those of more than twelve bytes are stored in a buffer that columns share.
#[derive(Debug, Default)]
pub struct Names {
    known: HashMap<String, Name>,
    long: Vec<u8>,
}

impl Names {
    /// Returns the name of a text, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(known) = self.known.get(text) {
            return *known;
        }
        let offset = u32::try_from(self.long.len()).expect("names of a set have less than 4 GiB");
        let name = Name(make_view(text.as_bytes(), 0, offset));
        if text.len() > INLINE {
            self.long.extend_from_slice(text.as_bytes());
        }
        self.known.insert(text.to_owned(), name);
        name
    }

    /// The buffer that columns of these names share.
    pub fn texts(self) -> Texts {
        Texts(Buffer::from_vec(self.long))
    }
}

/// The buffer that names refer to.
#[derive(Clone, Debug)]
pub struct Texts(Buffer);

/// Texts up to this length are stored in the view itself.
const INLINE: usize = 12;

/// A column of names. All of its names must come from the [`Names`] whose [`Texts`] it is finished with.
#[derive(Debug, Default)]
pub struct Views {
    views: Vec<u128>,
}

impl Views {
    /// Appends a value.
    #[inline]
    pub fn push(&mut self, name: Name) {
        self.views.push(name.0);
    }

    /// Appends a value several times.
    pub fn push_n(&mut self, name: Name, count: usize) {
        self.views.resize(self.views.len() + count, name.0);
    }

    /// The number of values.
    #[inline]
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// Builds the column.
    #[allow(unsafe_code, reason = "views that were made of `&str`")]
    pub fn finish(&mut self, texts: &Texts, nulls: Option<NullBuffer>) -> StringViewArray {
        let views = ScalarBuffer::from(std::mem::take(&mut self.views));
        debug_assert!(StringViewArray::try_new(views.clone(), [texts.0.clone()], nulls.clone()).is_ok());
        // SAFETY: Every view was made by `Names::intern` from a whole `&str`, for its place in buffer 0. `Names::texts`
        // turned that into this buffer, which belongs only to those `Names`. Null places hold the empty text.
        unsafe { StringViewArray::new_unchecked(views, [texts.0.clone()], nulls) }
    }
}

impl FromIterator<Name> for Views {
    fn from_iter<I: IntoIterator<Item = Name>>(names: I) -> Views {
        Views { views: names.into_iter().map(|name| name.0).collect() }
    }
}

/// A column of names from several [`Names`].
#[derive(Debug, Default)]
pub(crate) struct MixedViews {
    views: Vec<u128>,
    texts: Vec<Buffer>,
    /// The index of the buffer of the last long name.
    last: usize,
}

impl MixedViews {
    /// Appends a value. The texts must be those of the [`Names`] that the name comes from.
    #[inline]
    pub fn push(&mut self, Name(view): Name, Texts(texts): &Texts) {
        if view as u32 <= INLINE as u32 {
            return self.views.push(view);
        }
        if !self.texts.get(self.last).is_some_and(|known| known.ptr_eq(texts)) {
            self.last = self.texts.iter().position(|known| known.ptr_eq(texts)).unwrap_or(self.texts.len());
            if self.last == self.texts.len() {
                self.texts.push(texts.clone());
            }
        }
        self.views.push(view | (self.last as u128) << BUFFER);
    }

    /// Builds the column.
    #[allow(unsafe_code, reason = "views that were made of `&str`")]
    pub fn finish(self) -> StringViewArray {
        let views = ScalarBuffer::from(self.views);
        debug_assert!(StringViewArray::try_new(views.clone(), self.texts.clone(), None).is_ok());
        // SAFETY: `Names::intern` made every view from a whole `&str`, for the buffer that became the texts of its
        // `Names`. `push` receives both, and stores the index of these texts where `intern` left 0.
        unsafe { StringViewArray::new_unchecked(views, self.texts, None) }
    }
}

/// The bit position of the buffer index in a view.
const BUFFER: u32 = 64;

/// A column of lists of names.
#[derive(Debug)]
pub struct Lists {
    /// The elements of all lists.
    pub views: Views,
    ends: Vec<i32>,
}

impl Default for Lists {
    fn default() -> Lists {
        Lists::new(Views::default(), vec![0])
    }
}

impl Lists {
    /// Lists with these elements. The first list begins at the first of the ends, which is 0, and ends at the second.
    pub fn new(views: Views, ends: Vec<i32>) -> Lists {
        Lists { views, ends }
    }

    /// Ends a list, which contains the elements appended since the end of the last list.
    #[inline]
    pub fn end(&mut self) {
        self.ends.push(self.views.len() as i32);
    }

    /// Builds the column.
    pub fn finish(mut self, texts: &Texts, nulls: Option<NullBuffer>) -> ListArray {
        let values: ArrayRef = Arc::new(self.views.finish(texts, None));
        ListArray::new(element(), OffsetBuffer::new(ScalarBuffer::from(self.ends)), values, nulls)
    }
}

/// A column of texts that it stores itself.
#[derive(Debug, Default)]
pub struct Strings {
    views: Vec<u128>,
    bytes: Vec<u8>,
}

impl Strings {
    /// Appends a value.
    #[inline]
    pub fn push(&mut self, text: &str) {
        self.views.push(make_view(text.as_bytes(), 0, self.bytes.len() as u32));
        if text.len() > INLINE {
            self.bytes.extend_from_slice(text.as_bytes());
        }
    }

    /// The size in bytes of all values that are not stored in their views.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Builds the column.
    #[allow(unsafe_code, reason = "views that were made of `&str`")]
    pub fn finish(&mut self, nulls: Option<NullBuffer>) -> StringViewArray {
        let views = ScalarBuffer::from(std::mem::take(&mut self.views));
        let texts = Buffer::from_vec(std::mem::take(&mut self.bytes));
        assert!(u32::try_from(texts.len()).is_ok(), "callers end a column before its texts have 4 GiB");
        // SAFETY: `push` made every view from a whole `&str`, for the place in buffer 0 where it stored the bytes, and
        // all offsets fit into 32 bits.
        unsafe { StringViewArray::new_unchecked(views, [texts], nulls) }
    }
}
