//! An instruction set with its semantics and the names of its registers.

use isaforge_core::Isa;
use isaforge_core::Tables;
use isaforge_core::group::text::register;
use isaforge_core::machine::{self, Bank, Hardware, Service};
use isaforge_core::semantics::{NONE, Op, Semantics};
use isaforge_core::table::{Token, Type};
use isaforge_core::text::Line;

use crate::effects::Effects;
use crate::registers::Register;

/// An instruction set.
#[derive(Clone, Debug)]
pub struct Set {
    /// How its instructions are encoded.
    pub tables: Tables,
    /// Its semantics, if the specification defines them.
    pub semantics: Option<&'static Semantics>,
    /// The text before and after the number of a register, by bank; only for words.
    banks: Vec<(String, String)>,
    /// The machine that executes its programs, if known: it says which registers hold states and what calls of the host
    /// access.
    pub hardware: Option<&'static Hardware>,
    /// The address of a program's first byte.
    pub base: u64,
}

fn register_of(found: machine::Register) -> Register {
    Register { bank: found.bank, index: found.index }
}

impl Set {
    /// Creates an instruction set from its tables, with its semantics and its machine as far as they are known.
    pub fn new(tables: Tables, semantics: Option<&'static Semantics>, hardware: Option<&'static Hardware>) -> Self {
        let banks = match tables {
            Tables::Words(isa) => (0..isa.banks.len()).map(|bank| written(isa, bank)).collect(),
            _ => Vec::new(),
        };
        Set { tables, semantics, banks, hardware, base: 0 }
    }

    /// Places programs at an address, from which absolute branch targets count. The offsets of instructions and of
    /// branch targets still count from the first byte of a program.
    pub fn at(self, base: u64) -> Self {
        Set { base, ..self }
    }

    /// The address at an offset from a program's first byte.
    pub fn address(&self, offset: u64) -> u64 {
        self.base.wrapping_add(offset)
    }

    /// The register that holds a state.
    pub(crate) fn register(&self, state: u16) -> Option<Register> {
        let (_, found) = self.hardware?.aliases.iter().find(|(known, _)| *known == state)?;
        Some(register_of(*found))
    }

    /// Whether others may read a register after the program has ended.
    pub(crate) fn is_live_out(&self, register: Register) -> bool {
        self.bank(register).is_some_and(|bank| bank.live_out)
    }

    /// Whether programs cannot change a register.
    pub(crate) fn is_fixed(&self, register: Register) -> bool {
        self.is_zero(register) || self.bank(register).is_some_and(|bank| bank.fixed)
    }

    /// The machine's bank of a register.
    fn bank(&self, register: Register) -> Option<&'static Bank> {
        let hardware = self.hardware?;
        let bank = match self.tables {
            Tables::Groups(isa) => {
                machine::register_of(isa, hardware, register.bank.into(), register.index.into())?.first.bank
            }
            _ => register.bank,
        };
        hardware.banks.get(usize::from(bank))
    }

    /// Whether a register is always zero, whatever is written to it.
    pub(crate) fn is_zero(&self, register: Register) -> bool {
        let bank = self.hardware.and_then(|hardware| hardware.banks.get(usize::from(register.bank)));
        bank.is_some_and(|bank| bank.zero == Some(register.index))
    }

    /// The registers that a call of the host may read, and those that it may write.
    pub(crate) fn called(&self, intrinsic: u16) -> (Vec<Register>, Vec<Register>) {
        let calls = self.hardware.map_or(&[][..], |hardware| hardware.calls);
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for call in calls.iter().filter(|call| call.intrinsic == intrinsic) {
            reads.push(register_of(call.number));
            for (_, service) in call.services {
                match *service {
                    Service::Write { stream, address, size, result } => {
                        reads.extend([address, size].into_iter().chain(stream).map(register_of));
                        writes.extend(result.map(register_of));
                    }
                    Service::Exit { status } => reads.push(register_of(status)),
                }
            }
        }
        (reads, writes)
    }

    /// Whether an intrinsic ends the threads that call it, by the text that the machine has for it.
    pub(crate) fn ends(&self, intrinsic: u16) -> bool {
        let texts = self.hardware.map_or(&[][..], |hardware| hardware.intrinsics);
        let mut own = texts.iter().filter(|text| text.intrinsic == intrinsic);
        own.any(|text| text.operation.nodes.iter().any(|node| node.op == Op::End && node.args[0] == NONE))
    }

    /// Whether a call of the host may end the thread.
    pub(crate) fn exits(&self, intrinsic: u16) -> bool {
        let calls = self.hardware.map_or(&[][..], |hardware| hardware.calls);
        let mut services = calls.iter().filter(|call| call.intrinsic == intrinsic).flat_map(|call| call.services);
        self.ends(intrinsic) || services.any(|(_, service)| matches!(service, Service::Exit { .. }))
    }

    /// Whether an operation may keep threads from going on with the next instruction, other than by an end or a branch.
    pub(crate) fn stops(&self, effects: &Effects) -> bool {
        effects.faults || effects.leads || effects.intrinsics.iter().any(|intrinsic| self.exits(*intrinsic))
    }

    /// The assembly name of a register.
    pub fn name(&self, of: Register) -> String {
        match self.tables {
            Tables::Words(_) => {
                // Operands may write a register with a part of it, or with the key that leads to it.
                let hardware = self.hardware.filter(|hardware| {
                    hardware.banks.get(usize::from(of.bank)).is_some_and(|bank| !bank.open.is_empty())
                });
                if let Some(hardware) = hardware {
                    return hardware.name(machine::Register { bank: of.bank, index: of.index }).to_string();
                }
                let (before, after) = self.banks.get(usize::from(of.bank)).map_or(("", ""), |(b, a)| (b, a));
                format!("{before}{}{after}", of.index)
            }
            Tables::Groups(isa) => {
                let mut line = Line::new();
                register(isa, of.bank.into(), of.index.into(), &mut line);
                line.as_str().to_owned()
            }
            Tables::Streams(engine) => {
                let bank = engine.stream.banks.get(usize::from(of.bank));
                bank.map_or(String::new(), |bank| bank.name(of.index.into()).to_string())
            }
        }
    }

    /// The number of registers in a bank; 0 if the tables do not say.
    pub fn count(&self, bank: u16) -> u32 {
        let bank = usize::from(bank);
        match self.tables {
            Tables::Words(isa) => isa.banks.get(bank).map_or(0, |bank| bank.count),
            Tables::Groups(isa) => isa.banks.get(bank).map_or(0, |bank| bank.count),
            Tables::Streams(engine) => engine.stream.banks.get(bank).map_or(0, |bank| bank.count),
        }
    }
}

/// The text before and after a register's number in the operand kinds that read this bank.
fn written(isa: &'static Isa, bank: usize) -> (String, String) {
    let alternatives = isa.kinds.iter().flat_map(|kind| kind.alternatives);
    for alternative in alternatives {
        let field = alternative.fields.iter().position(|field| field.ty == Type::Register(bank as u16));
        let Some(at) = field.and_then(|field| alternative.text.iter().position(|t| *t == Token::Field(field as u8)))
        else {
            continue;
        };
        let text = |tokens: &[Token]| {
            let texts = tokens.iter().map(|token| if let Token::Text(text) = token { text.str } else { "" });
            texts.collect::<String>()
        };
        let (before, after) = alternative.text.split_at(at);
        return (text(before), text(after.get(1..).unwrap_or_default()));
    }
    (isa.banks.get(bank).map_or(String::new(), |bank| format!("{} ", bank.name)), String::new())
}
