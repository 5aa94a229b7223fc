//! Builds files from the published layouts.

/// An ELF file with one executable segment, which starts with the headers, one section with the same code, and the
/// symbol `main`.
#[derive(Clone, Copy)]
pub struct Elf<'a> {
    /// Whether addresses have 64 bits.
    pub is_wide: bool,
    /// `e_type`: 1 for an object, 2 for a program.
    pub kind: u16,
    /// The number of the processor.
    pub machine: u16,
    /// The address of the code.
    pub address: u32,
    /// The code.
    pub code: &'a [u8],
    /// Where in the code the symbol is.
    pub main: u32,
    /// The places that relocations are for.
    pub places: &'a [u32],
}

impl Elf<'_> {
    /// The offset of the code.
    pub fn code_at(self) -> usize {
        if self.is_wide { 64 + 56 } else { 52 + 32 }
    }

    /// The offset of the section headers.
    pub fn sections_at(self) -> usize {
        self.code_at() + self.code.len() + NAMES.len() + 2 * if self.is_wide { 24 } else { 16 }
    }

    /// The bytes of the file.
    pub fn bytes(self) -> Vec<u8> {
        let Elf { is_wide, kind, machine, address, code, main, places } = self;
        let (at, len) = (self.code_at() as u32, code.len() as u32);
        let (header, program, section, symbol, relocation) =
            if is_wide { (64, 56, 64, 24, 24) } else { (52, 32, 40, 16, 12) };
        let (names, symbols) = (at + len, at + len + NAMES.len() as u32);
        let (sections, relocations) = (symbols + 2 * symbol, symbols + 2 * symbol + 5 * section);
        let mut file = Fields { bytes: b"\x7fELF".to_vec(), is_wide };
        file.bytes.extend([if is_wide { 2 } else { 1 }, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        file.halves(&[kind, machine]).words(&[1]).longs(&[0, header, sections]).words(&[0]);
        file.halves(&[header as u16, program as u16, 1, section as u16, 5, 3]);
        // PT_LOAD, readable and executable.
        let start = address.saturating_sub(at);
        file.words(if is_wide { &[1, 5] } else { &[1] }).longs(&[0, start, 0, at + len, at + len]);
        file.words(if is_wide { &[] } else { &[5] }).longs(&[4]);
        file.bytes.extend(code);
        file.bytes.extend(NAMES);
        file.bytes.extend(vec![0; symbol as usize]);
        // A global function in section 1.
        match is_wide {
            true => file.words(&[20, 0x0001_0012]).longs(&[address + main, 0]),
            false => file.words(&[20]).longs(&[address + main, 0]).words(&[0x0001_0012]),
        };
        assert_eq!(file.bytes.len(), self.sections_at());
        let all = [
            [0; 10],
            [1, 1, 6, address, at, len, 0, 0, 4, 0],
            [7, 4, 0, 0, relocations, relocation * places.len() as u32, 4, 1, 4, relocation],
            [13, 3, 0, 0, names, NAMES.len() as u32, 0, 0, 1, 0],
            [0, 2, 0, 0, symbols, 2 * symbol, 3, 1, 4, symbol],
        ];
        for [name, kind, flags, address, offset, size, link, info, align, each] in all {
            file.words(&[name, kind]).longs(&[flags, address, offset, size]).words(&[link, info]).longs(&[align, each]);
        }
        for place in places {
            file.longs(&[*place, 1, 0]);
        }
        file.bytes
    }
}

const NAMES: &[u8; 28] = b"\0.text\0.rela\0.names\0main\0\0\0\0";

/// Fields of a file that is written.
struct Fields {
    bytes: Vec<u8>,
    is_wide: bool,
}

impl Fields {
    fn halves(&mut self, halves: &[u16]) -> &mut Self {
        self.bytes.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
        self
    }

    fn words(&mut self, words: &[u32]) -> &mut Self {
        self.bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        self
    }

    /// Numbers as wide as addresses.
    fn longs(&mut self, longs: &[u32]) -> &mut Self {
        let size = if self.is_wide { 8 } else { 4 };
        self.bytes.extend(longs.iter().flat_map(|long| u64::from(*long).to_le_bytes()[..size].to_vec()));
        self
    }
}
