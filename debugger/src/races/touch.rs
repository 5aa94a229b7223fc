//! Records of accesses, small enough that those of a word fit in a line of the host's cache.

use isaforge_runtime::machine::AccessKind;

use super::LINE;

/// The number of accesses kept per word.
pub(super) const TOUCHES: usize = 3;

/// The threads that make an access: one lane, or lane `n` at word `n` of a line, or several lanes at the same word, by
/// their number in [`Order`](super::order::Order).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lanes(pub u32);

impl Lanes {
    /// Lane `n` accesses word `n` of the line.
    pub(super) const LINE: Self = Lanes(64);
    /// The first number for several lanes.
    pub(super) const SEVERAL: u32 = 65;

    /// Whether one thread accesses each word.
    pub(super) fn is_one(self) -> bool {
        self.0 < Self::SEVERAL
    }
}

/// An access to a word, or to each word of a line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Touch {
    /// The warp, as an index into those of [`Order`](super::order::Order).
    pub warp: u32,
    /// The number of barriers that the workgroup had passed.
    pub epoch: u32,
    /// The number of atomics that all warps had executed before.
    pub clock: u32,
    pub lanes: Lanes,
    /// The accessed bytes of the word in the lowest bits, the kind, and the number of the instruction.
    what: u32,
}

impl Touch {
    /// The most instructions.
    pub(super) const SITES: u32 = 1 << 26;

    /// Creates an access of an instruction to all bytes of a word.
    pub(super) fn new([warp, epoch, clock]: [u32; 3], site: u32, kind: AccessKind) -> Self {
        Touch { warp, epoch, clock, lanes: Lanes::LINE, what: site << 6 | (kind as u32) << 4 | 0xf }
    }

    /// Returns the access by these lanes, to these bytes, as bits.
    pub(super) fn by(self, lanes: Lanes, bytes: u32) -> Self {
        Touch { lanes, what: self.what & !0xf | bytes, ..self }
    }

    pub(super) fn bytes(&self) -> u32 {
        self.what & 0xf
    }

    pub(super) fn kind(&self) -> AccessKind {
        match self.what >> 4 & 3 {
            0 => AccessKind::Load,
            1 => AccessKind::Store,
            _ => AccessKind::Atomic,
        }
    }

    /// The number of the instruction.
    pub(super) fn site(&self) -> u32 {
        self.what >> 6
    }

    /// Whether both are by the same thread, at each word.
    pub(super) fn is_by_thread_of(&self, other: &Touch) -> bool {
        self.warp == other.warp && self.lanes == other.lanes && self.lanes.is_one()
    }

    /// Returns the access to one word of an access to a line.
    pub(super) fn of_word(self, word: usize) -> Self {
        if self.lanes == Lanes::LINE { Touch { lanes: Lanes(word as u32), ..self } } else { self }
    }
}

/// The last accesses to a word.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(super) struct Touches {
    all: [Touch; TOUCHES],
    count: u32,
}

impl Touches {
    /// The accesses, the most recent last.
    pub(super) fn all(&self) -> &[Touch] {
        &self.all[..self.count as usize]
    }

    /// Adds an access, in place of one of those if it is given or if there is no room.
    pub(super) fn replace(&mut self, place: Option<usize>, touch: Touch) {
        let count = self.count as usize;
        if place.is_none() && count < TOUCHES {
            self.all[count] = touch;
            self.count += 1;
            return;
        }
        let place = place.unwrap_or(0);
        for next in place + 1..count {
            self.all[next - 1] = self.all[next];
        }
        self.all[count - 1] = touch;
    }

    /// Returns the accesses to one word of those to a line.
    fn of_word(&self, word: usize) -> Self {
        Touches { all: self.all.map(|touch| touch.of_word(word)), ..*self }
    }
}

/// What is known of a line of memory.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Line {
    /// The accesses to all of its words at once.
    pub whole: Touches,
    /// The number of the records of each word, once there were other accesses.
    pub words: Option<u32>,
}

impl Line {
    pub(super) fn is_untouched(&self) -> bool {
        self.words.is_none() && self.whole.all().is_empty()
    }

    /// Returns the accesses to each word, which have their own record in `all` from now on.
    pub(super) fn words<'a>(&mut self, all: &'a mut Vec<[Touches; LINE]>) -> &'a mut [Touches; LINE] {
        let number = *self.words.get_or_insert_with(|| {
            all.push(std::array::from_fn(|word| self.whole.of_word(word)));
            all.len() as u32 - 1
        });
        &mut all[number as usize]
    }
}
