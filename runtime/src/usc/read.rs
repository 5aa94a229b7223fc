//! Converts the parts of a group to what the interpreter executes, and rejects what cannot be executed.

use std::fmt::Display;
use std::sync::OnceLock;

use isaforge_usc::{
    Alu, AluOp, BeOp, Ctrlop, Dual, ExtraOp, Is0Sel, Is3Sel, Lower, Parts, Pck, PckFormat, Regbank, Single, Unit, Upper,
};

use crate::usc::error::LoadError;
use crate::usc::register::Register;
use crate::usc::step::{Action, Bitwise, Control, Main, Step};

/// Converts one group.
pub(super) struct Reader<'a> {
    pub at: usize,
    pub length: usize,
    pub slots: u16,
    pub parts: &'a Parts,
    pub text: &'a dyn Display,
}

impl Reader<'_> {
    fn text(&self) -> String {
        self.text.to_string()
    }

    fn unsupported(&self, what: &'static str) -> LoadError {
        LoadError::Unsupported { at: self.at, text: self.text(), what }
    }

    pub fn step(&self) -> Result<Step, LoadError> {
        let parts = self.parts;
        let header = &parts.header;
        let action = match header.unit {
            Unit::Main => Action::Main(Box::new(self.main(parts)?)),
            Unit::Bitwise => Action::Bitwise(Box::new(self.bitwise(parts)?)),
            Unit::Control => Action::Control(Box::new(self.control(parts)?)),
        };
        let control = header.unit == Unit::Control;
        let ends = if control { header.ctrlop == Ctrlop::Nop && header.miscctl == 1 } else { header.end };
        Ok(Step {
            at: self.at as u32,
            length: self.length as u32,
            condition: header.cc,
            repeat: if control { 1 } else { header.rpt.clamp(1, 4) as u16 },
            atomic: header.atom && !control,
            last: ends,
            action,
            values: Box::new(parts.values()),
            shape: OnceLock::new(),
        })
    }

    fn register(&self, bank: Regbank, number: u32) -> Result<Register, LoadError> {
        let none = || LoadError::Register { at: self.at, text: self.text(), bank, number };
        Register::new(bank, number).map(|register| register.with_slots(self.slots)).ok_or_else(none)
    }

    fn result(&self, bank: Regbank, number: u32) -> Result<Register, LoadError> {
        let register = self.register(bank, number)?;
        if register.is_writable() {
            Ok(register)
        } else {
            Err(LoadError::Fixed { at: self.at, text: self.text(), number })
        }
    }

    fn sources(&self, lower: &Lower, upper: &Upper) -> Result<[Register; 6], LoadError> {
        let mut sources = [Register::Column(0); 6];
        let named = [
            (lower.n >= 1, lower.sb0, lower.s0),
            (lower.n >= 2, lower.sb1, lower.s1),
            (lower.n >= 3, lower.sb2, lower.s2),
            (upper.n >= 1, upper.sb3, upper.s3),
            (upper.n >= 2, upper.sb4, upper.s4),
            (upper.n >= 3, upper.sb5, upper.s5),
        ];
        for (source, (there, bank, number)) in sources.iter_mut().zip(named) {
            if there {
                *source = self.register(bank, number)?;
            }
        }
        Ok(sources)
    }

    fn results(&self, parts: &Parts) -> Result<[Option<Register>; 2], LoadError> {
        let single = |part: Option<Single>| part.map(|p| self.result(p.db, p.d)).transpose();
        match parts.w01 {
            Some(Dual { db0, d0, db1, d1 }) => Ok([Some(self.result(db0, d0)?), Some(self.result(db1, d1)?)]),
            None => Ok([single(parts.w0)?, single(parts.w1)?]),
        }
    }

    /// Checks that every register named by a repetition exists.
    fn check_steps(&self, registers: impl Iterator<Item = Register>, repeat: u32) -> Result<(), LoadError> {
        let by = repeat.clamp(1, 4) as u16 - 1;
        // Internal registers end where slot registers begin.
        let exists = |register: Register| register.plus(by).is_some_and(|r| r.with_slots(self.slots) == r);
        match registers.into_iter().all(exists) {
            true => Ok(()),
            false => Err(LoadError::Steps { at: self.at, text: self.text(), by }),
        }
    }

    fn main(&self, parts: &Parts) -> Result<Main, LoadError> {
        let lower = parts.lower.unwrap_or_default();
        let main = Main {
            sources: self.sources(&lower, &parts.upper.unwrap_or_default())?,
            reads: reads(parts, selected(lower.is0)),
            extra: parts.extra,
            backend: parts.backend,
            results: self.results(parts)?,
            unpacks: parts.p0.is_some_and(|p| p.op == AluOp::Unpck),
        };
        let constant = |p: &Pck| !p.prog && matches!(p.pck_format, PckFormat::Zero | PckFormat::One);
        // Repetitions pack their values into one result.
        let gathers = parts.pck.is_some_and(|p| !constant(&p));
        let kept = |i: usize| main.unpacks && i == 0;
        let used = (0..6).filter(|i| main.reads >> i & 1 != 0 && !kept(*i)).map(|i| main.sources[i]);
        self.check_steps(used, parts.header.rpt)?;
        if !gathers {
            self.check_steps(main.results.iter().copied().flatten(), parts.header.rpt)?;
        }
        Ok(main)
    }

    fn bitwise(&self, parts: &Parts) -> Result<Bitwise, LoadError> {
        let lower = parts.lower.unwrap_or_default();
        let mut bitwise = Bitwise {
            sources: self.sources(&lower, &parts.upper.unwrap_or_default())?,
            reads: 0b1111,
            results: self.results(parts)?,
        };
        if parts.b2.is_some() {
            bitwise.reads |= 1 << 4;
        }
        let used = (0..6).filter(|i| bitwise.reads >> i & 1 != 0).map(|i| bitwise.sources[i]);
        self.check_steps(used.chain(bitwise.results.iter().copied().flatten()), parts.header.rpt)?;
        Ok(bitwise)
    }

    fn control(&self, parts: &Parts) -> Result<Control, LoadError> {
        let sources = match (&parts.lower, &parts.upper) {
            (Some(lower), Some(upper)) => self.sources(lower, upper)?,
            _ => [Register::Column(0); 6],
        };
        if parts.uniq.is_some() || parts.fetch.is_some() {
            return Err(self.unsupported("only its name is public, not what it does"));
        }
        if parts.header.ctrlop == Ctrlop::B && parts.branch.is_none() && parts.bpret.is_none() {
            return Err(self.unsupported("a branch without a target"));
        }
        Ok(Control { sources, result: self.results(parts)?[0], target: None, parts: *parts })
    }
}

/// The index of the source that selector 0 selects.
fn selected(is0: Is0Sel) -> usize {
    match is0 {
        Is0Sel::S0 => 0,
        Is0Sel::S1 => 1,
        Is0Sel::S2 => 2,
        Is0Sel::S3 => 3,
        Is0Sel::S4 => 4,
        Is0Sel::S5 => 5,
    }
}

/// The number of sources that an operation of phase 0 or 1 reads.
fn operands(alu: &Alu) -> u32 {
    match alu.op {
        AluOp::Fadd | AluOp::Fmul => 2,
        AluOp::Fmad | AluOp::Int32_64 | AluOp::Int8_16 | AluOp::Fromf64 => 3,
        AluOp::Sngl | AluOp::Gcmp | AluOp::Gexp | AluOp::Unpck | AluOp::Fred | AluOp::Fsqrt => 1,
    }
}

fn reads(parts: &Parts, selected: usize) -> u8 {
    // Selector 0 always counts as read: finding out whether its wire is used would cost as much as reading it.
    let mut reads = 1u8 << selected;
    if let Some(p0) = &parts.p0 {
        reads |= (1 << operands(p0)) - 1;
        if p0.op == AluOp::Fred {
            reads |= 1 << 3;
        }
    }
    if let Some(p1) = &parts.p1 {
        reads |= ((1 << operands(p1)) - 1) << 3;
    }
    if parts.pck.is_some() && parts.iss.unwrap_or_default().is3 == Is3Sel::S2 {
        reads |= 1 << 2;
    }
    if parts.sop.is_some() {
        reads |= 0b11_1111;
    }
    if let Some(extra) = &parts.extra {
        reads |= match extra.op {
            ExtraOp::Sopmov | ExtraOp::SopmovU8 => 1 << 3,
            ExtraOp::Sopu8madmov => 1 << 0,
            ExtraOp::Tof64 | ExtraOp::Fadd | ExtraOp::Fmul => 0,
            ExtraOp::Gta => 0b11_1011,
        };
    }
    if let Some(backend) = &parts.backend {
        reads |= match backend.op {
            BeOp::Atst => 0b111,
            BeOp::Emitpix => 0b101,
            _ => 0,
        };
    }
    reads
}
