//! What follows the handlers of a word, and which lanes a branch takes there.

/// What follows the handlers of a word.
#[derive(Clone, Copy, Debug)]
pub enum Exit {
    /// The next word.
    Next,
    /// The active lanes end.
    End,
    /// The active lanes jump to another word.
    Jump(u32),
    /// Some of the active lanes jump to another word, as the last handler determines.
    Branch(u32),
    /// The active lanes wait for their workgroup.
    Barrier,
    /// The word has no handlers: the reference executes it, as the
    /// [`Foreign`](super::code::Foreign) at this index of [`Lowered::steps`](super::code::Lowered::steps) describes.
    Step(u32),
    /// The word is not an executable instruction.
    Refused,
}

impl Exit {
    /// Returns the word that lanes may jump to.
    pub fn target(self) -> Option<usize> {
        match self {
            Exit::Jump(target) | Exit::Branch(target) => Some(target as usize),
            _ => None,
        }
    }

    /// Returns the word at which the active lanes continue after a run that ends before `end`, given the outcome of
    /// its branch.
    #[inline(always)]
    pub fn next(self, end: usize, taken: Taken) -> u32 {
        match (self, taken) {
            (Exit::Branch(target), Taken::All) | (Exit::Jump(target), _) => target,
            (Exit::Branch(_), Taken::Some(here)) => here,
            _ => end as u32,
        }
    }
}

/// Which active lanes take a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// None.
    None,
    /// All.
    All,
    /// Some. The active lanes are now those that continue at this word.
    Some(u32),
}
