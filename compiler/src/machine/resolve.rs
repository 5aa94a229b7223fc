//! Binds the names in `machine` sections.

use isaforge_core::machine::{Burst, Divergence, Named, Register, Service, Space};
use isaforge_core::semantics::{Class, NONE, Node, Op, Type};

use super::banks::banks;
use super::model::{Call, Facts, Machine};
use super::spec::{BeyondSpec, BurstSpec, CallSpec, DivergenceSpec, MachineSpec, ServiceSpec};
use crate::diagnostic::Diagnostic;
use crate::expression::scope::{Library, OperandInfo, Parameter};
use crate::expression::syntax::Block;
use crate::expression::{Built, Choices, Scope, build, parse_text};
use crate::model::{self, Isa, Shape};
use crate::resolve::resolver::Resolver;
use crate::semantics::resolve::field_scope;
use crate::semantics::spec::StateSpec;
use crate::source::{Span, Spanned};
use crate::stream::model::{self as stream, Bank, Field, Layout, Notation};

/// The maximum initial size of a memory, in bytes.
const MAX_MEMORY: u32 = 1 << 26;
/// The maximum width of a register in bits.
const MAX_WIDTH: u16 = 64;

impl Resolver<'_> {
    /// Binds the names in `machine` sections, and builds the graphs for reading operands.
    pub(crate) fn machine(&mut self) {
        let mut specs: Vec<MachineSpec> = self.files.iter().filter_map(|(_, file)| file.machine.clone()).collect();
        let spec = specs.pop();
        if let (Some(first), Some(second)) = (specs.first(), &spec) {
            let error = Diagnostic::error("E0102", second.span, "the machine is described twice").label("again here");
            self.out.push(error.secondary(first.span, "first here"));
        }
        let Some(semantics) = self.isa.semantics.take() else {
            if let Some(spec) = &spec {
                let error = Diagnostic::error("E0022", spec.span, "a machine with nothing to execute");
                self.out.push(error.help("give an instruction a text under `does`"));
            }
            return;
        };
        let spec_calls = spec.as_ref().and_then(|spec| spec.calls.clone()).unwrap_or_default();
        let mut machine = Machine {
            lanes: 1,
            divergence: Divergence::Refused,
            unit: 1,
            aligned: false,
            elf: None,
            banks: self.bank_facts(&semantics.library),
            named: self.named(),
            aliases: self.aliases(&semantics.library),
            uniform: self.uniform_states(&semantics.library),
            bits: Vec::new(),
            readings: self.readings(&semantics.library),
            calls: spec_calls.iter().filter_map(|(name, call)| self.call(name, call, &semantics.library)).collect(),
            declared: spec.is_some(),
            program: 0,
            discards: self.discards(),
            spaces: Vec::new(),
            intrinsics: Vec::new(),
            bursts: Vec::new(),
            unmasks: None,
            start: None,
        };
        if let Some(lanes) = spec.as_ref().and_then(|spec| spec.lanes.as_ref()) {
            self.in_range("the number of lanes", lanes, 1, 64);
            machine.lanes = lanes.value.clamp(1, 64);
        }
        machine.bits = self.states_of_bits(&semantics.library, machine.lanes);
        if let Some(spec) = &spec {
            for bank in banks(&self.isa).iter().filter(|bank| bank.width > MAX_WIDTH) {
                let message = format!("registers of {} bits: those of a machine have at most {MAX_WIDTH}", bank.width);
                let help = "give the bank narrower registers; an operand with a `size` takes several, as elements";
                self.out.push(Diagnostic::error("E0033", bank.span, message).help(help));
            }
            if let Some(unit) = &spec.unit {
                self.in_range("the unit of the program counter", unit, 1, 32);
                machine.unit = unit.value.clamp(1, 32);
                self.divides_instructions(unit);
            }
            machine.divergence = match spec.divergence {
                Some(DivergenceSpec::LowestFirst) => Divergence::LowestFirst,
                Some(DivergenceSpec::Masked) => Divergence::Masked,
                Some(DivergenceSpec::Together) => Divergence::Together,
                Some(DivergenceSpec::Refused) | None => Divergence::Refused,
            };
            machine.aligned = spec.aligned.unwrap_or(false);
            machine.elf = spec.elf.as_ref().map(|elf| elf.value);
            if let Some(program) = &spec.program {
                let most = MAX_MEMORY / u32::from(machine.unit);
                self.in_range("the size of program memory", program, 1, most.into());
                machine.program = program.value.clamp(1, most) * u32::from(machine.unit);
            }
            machine.spaces = self.spaces(spec, &semantics.library);
            machine.unmasks = spec.unmasks.as_ref().and_then(|name| self.known_intrinsic(name, &semantics.library));
            for (name, text) in spec.intrinsics.iter().flat_map(|named| named.iter()) {
                let Some(intrinsic) = self.known_intrinsic(name, &semantics.library) else { continue };
                let built = self.performed(intrinsic, text, &semantics.library);
                machine.intrinsics.extend(built.map(|built| (intrinsic, built)));
            }
            machine.bursts = self.bursts(spec, &semantics.library);
            machine.start = spec.start.as_ref().and_then(|text| {
                let block = self.block(text)?;
                let built = build(&Scope::new(&semantics.library), &block, None, self.out)?;
                let sets = |op: Op| op == Op::SetState || !op.is_effect();
                if built.nodes.iter().any(|node| !sets(node.op)) {
                    let message = "the text before a program starts can only set states";
                    let error = Diagnostic::error("E0126", text.span, message);
                    self.out.push(error.label("no memory is there yet, and nothing runs"));
                }
                Some(built)
            });
        }
        self.isa.semantics = Some(semantics);
        self.isa.machine = Some(machine);
    }

    /// Reports a unit of the program counter in which instructions have no whole addresses.
    fn divides_instructions(&mut self, unit: &Spanned<u8>) {
        let (stream, groups) = (self.isa.stream().map(|s| s.unit), self.isa.groups().map(|groups| groups.unit));
        let bytes = stream.or(groups).unwrap_or(self.isa.word_bits / 8);
        if (1..=32).contains(&unit.value) && bytes > 0 && !bytes.is_multiple_of(unit.value) {
            let s = if bytes == 1 { "" } else { "s" };
            let message =
                format!("a unit of {} bytes, but instructions start at multiples of {bytes} byte{s}", unit.value);
            let error = Diagnostic::error("E0033", unit.span, message);
            let words = if bytes == 1 { String::new() } else { format!(", or {bytes} if it counts instructions") };
            self.out.push(error.help(format!("write 1 if the program counter holds byte addresses{words}")));
        }
    }

    /// The properties of each bank.
    fn bank_facts(&mut self, library: &Library) -> Vec<Facts> {
        let specs = self.all(|file| &file.banks);
        let banks = banks(&self.isa);
        let mut all = vec![Facts::default(); banks.len()];
        for (name, spec) in specs {
            let Some(bank) = banks.iter().position(|bank| bank.name == name.value) else { continue };
            let facts = &mut all[bank];
            let last = u64::from(banks[bank].count.saturating_sub(1));
            if let Some(zero) = &spec.zero {
                self.in_range("the number of the register", zero, 0, last);
                facts.zero = Some(zero.value);
            }
            for (table, first) in spec.holds.iter().flat_map(|holds| holds.iter()) {
                let tables = self.isa.constants.iter().map(|known| (known.name.as_str(), Some(known.span)));
                let Some(found) = Resolver::find(self.out, "table of constants", table, tables) else { continue };
                let values: Vec<u64> = self.isa.constants[found].values.iter().map(|(value, _)| *value).collect();
                let most = (last + 1).saturating_sub(values.len() as u64);
                self.in_range("the number of the first register", first, 0, most);
                facts.holds.extend((first.value..).zip(values).filter(|(number, _)| u64::from(*number) <= last));
            }
            let states = library.states.iter().map(|state| (state.name.as_str(), Some(state.span)));
            facts.plus = spec.plus.as_ref().and_then(|name| Resolver::find(self.out, "state", name, states));
            (facts.uniform, facts.fixed) = (spec.uniform == Some(true), spec.fixed == Some(true));
            (facts.stays, facts.live_out) = (spec.stays == Some(true), spec.live_out == Some(true));
        }
        all
    }

    /// The registers that the names of registers in groups refer to.
    fn named(&mut self) -> Vec<Option<Named>> {
        let Some(groups) = self.isa.groups() else { return Vec::new() };
        let all: Vec<_> = groups.registers.iter().map(|name| name.at.clone()).collect();
        let named = all.into_iter().map(|at| {
            let (first, index) = at?;
            Some(Named { first: self.register(&first)?, index: index.as_ref().and_then(|name| self.register(name)) })
        });
        named.collect()
    }

    /// The alternatives of kinds that discard writes.
    fn discards(&self) -> Vec<(usize, String)> {
        let mut all = Vec::new();
        for (kind_name, spec) in self.all(|file| &file.kinds) {
            let kind = match self.isa.stream() {
                Some(stream) => {
                    stream.sets.iter().skip(1).position(|set| set.name == kind_name.value).map(|set| set + 1)
                }
                None => self.isa.kinds.iter().position(|kind| kind.name == kind_name.value),
            };
            let Some(kind) = kind else { continue };
            let lost = spec.alternatives.iter().filter(|(_, alternative)| alternative.discards == Some(true));
            all.extend(lost.map(|(name, _)| (kind, name.value.clone())));
        }
        all
    }

    fn known_intrinsic(&mut self, name: &Spanned<String>, library: &Library) -> Option<usize> {
        let names = library.intrinsics.iter().map(|intrinsic| (intrinsic.name.as_str(), Some(intrinsic.span)));
        Resolver::find(self.out, "intrinsic", name, names)
    }

    fn spaces(&mut self, spec: &MachineSpec, library: &Library) -> Vec<Space> {
        let mut spaces = Vec::new();
        for (name, space) in spec.spaces.iter().flat_map(|named| named.iter()) {
            let names = library.spaces.iter().map(|space| (space.as_str(), None));
            let Some(index) = Resolver::find(self.out, "address space", name, names) else { continue };
            self.in_range("the size of the memory", &space.size, 0, MAX_MEMORY.into());
            let open = matches!(space.beyond, Some(BeyondSpec::Zeros));
            spaces.push(Space { space: index as u16, size: space.size.value.min(MAX_MEMORY), open });
        }
        spaces
    }

    fn bursts(&mut self, spec: &MachineSpec, library: &Library) -> Vec<Burst> {
        let mut bursts = Vec::new();
        for (name, way) in spec.bursts.iter().flat_map(|named| named.iter()) {
            let Some(intrinsic) = self.known_intrinsic(name, library) else { continue };
            let known = &library.intrinsics[intrinsic];
            let stores = matches!(way, BurstSpec::Stores);
            let value = Parameter::Value;
            let all = [Parameter::Operand, value(Type::unsigned(64)), value(Type::U32), value(Type::U32)];
            let wanted = &all[..if stores { 4 } else { 3 }];
            if known.parameters != wanted || known.result.is_some() {
                let message = format!("`{}` does not have the parameters of a burst", known.name);
                let error = Diagnostic::error("E0122", name.span, message).secondary(known.span, "declared here");
                self.out.push(error.help(match way {
                    BurstSpec::Stores => "the parameters of one that stores are `operand, u64, u32, u32`",
                    BurstSpec::Loads => "the parameters of one that loads are `operand, u64, u32`",
                }));
            }
            bursts.push(Burst { intrinsic: intrinsic as u16, stores });
        }
        bursts
    }

    fn block(&mut self, text: &Spanned<String>) -> Option<Block> {
        parse_text(self.sources, text).map_err(|error| self.out.push(error)).ok()
    }

    /// Builds the graph of an intrinsic; the operands of the text are its parameters.
    fn performed(&mut self, intrinsic: usize, text: &Spanned<String>, library: &Library) -> Option<Built> {
        let block = self.block(text)?;
        let known = &library.intrinsics[intrinsic];
        let mut scope = Scope::new(library);
        for (parameter, name) in known.parameters.iter().zip(&known.names) {
            let ty = match parameter {
                Parameter::Value(ty) => *ty,
                Parameter::Operand => Type::U32,
            };
            scope.operands.push(OperandInfo {
                name: name.clone().unwrap_or_default(),
                ty,
                elements: 1,
                size_step: 0,
                choices: Choices::Number(ty.bits),
                suffixes: Vec::new(),
                partial: Vec::new(),
                reads: true,
                writes: false,
                span: known.span,
            });
        }
        let mut built = build(&scope, &block, known.result, self.out)?;
        if let Some(called) = built.nodes.iter().find(|node| node.op == Op::Intrinsic) {
            let called = library.intrinsics.get(usize::from(called.args[0])).map_or("", |called| called.name.as_str());
            let message = format!("the text of an intrinsic cannot call the intrinsic `{called}`");
            self.out.push(Diagnostic::error("E0121", text.span, message).help("write here what that one does"));
            return None;
        }
        if let (Some(ty), Some(value)) = (known.result, built.value) {
            let args = [scope.operands.len() as u16, 0, value, NONE];
            built.nodes.push(Node { op: Op::Write, imm: 0, ty, args });
        }
        Some(built)
    }

    /// Finds a register by name; reports an unknown one.
    fn register(&mut self, name: &Spanned<String>) -> Option<Register> {
        let banks = banks(&self.isa);
        let find = |(bank, known): (usize, &Bank)| {
            let index = known.number_of(&name.value)?;
            Some(Register { bank: bank as u16, index })
        };
        let found = banks.iter().enumerate().find_map(find);
        if found.is_none() {
            let error = Diagnostic::error("E0101", name.span, format!("there is no register called `{}`", name.value));
            let first = banks.first().map(|bank| format!("`{}0{}`", bank.prints.0, bank.prints.1));
            self.out.push(match first {
                Some(first) => error.help(format!("write it as instructions do, such as {first}")),
                None => error.help("describe a bank of registers under `banks`"),
            });
        }
        found
    }

    fn aliases(&mut self, library: &Library) -> Vec<(usize, Register)> {
        let mut aliases = Vec::new();
        for (name, spec) in self.states() {
            let Some(register) = &spec.register else { continue };
            let Some(state) = library.states.iter().position(|state| state.name == name.value) else { continue };
            let Some(found) = self.register(register) else { continue };
            let width = banks(&self.isa)[usize::from(found.bank)].width;
            let state_type = library.states[state].ty;
            if state_type.size() != u32::from(width) || library.states[state].count != 1 {
                let message = format!("a register of {width} bits is not a `{state_type}`");
                self.out
                    .push(Diagnostic::error("E0122", spec.r_type.span, message).secondary(register.span, "this one"));
            }
            aliases.push((state, found));
        }
        aliases
    }

    fn states(&self) -> Vec<(Spanned<String>, StateSpec)> {
        let states = self.files.iter().filter_map(|(_, file)| file.semantics.as_ref()?.states.clone());
        states.flat_map(|states| states.0).collect()
    }

    /// The states that all lanes share.
    fn uniform_states(&self, library: &Library) -> Vec<usize> {
        let uniform = self.states().into_iter().filter(|(_, spec)| spec.uniform == Some(true));
        let found = uniform.map(|(name, _)| library.states.iter().position(|state| state.name == name.value));
        found.flatten().collect()
    }

    /// The states that are bit masks of another state in all lanes.
    fn states_of_bits(&mut self, library: &Library, count: u8) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        for (name, spec) in self.states() {
            let Some(of) = &spec.bits_of else { continue };
            let Some(state) = library.states.iter().position(|state| state.name == name.value) else { continue };
            let names = library.states.iter().map(|state| (state.name.as_str(), Some(state.span)));
            let Some(found) = Resolver::find(self.out, "state", of, names) else { continue };
            let (bits, lanes) = (&library.states[state], &library.states[found]);
            if bits.ty.class != Class::Unsigned || bits.ty.lanes != 1 || (lanes.ty, lanes.count) != (Type::BOOL, 1) {
                let message = format!("`{}` cannot be the bits of `{}`", bits.name, lanes.name);
                let error = Diagnostic::error("E0122", of.span, message);
                self.out.push(error.help("the bits must be an unsigned number, and what they hold a `bool`"));
            } else if bits.ty.size() < count.into() {
                let message = format!("`{}` has {} bits, but there are {count} lanes", bits.name, bits.ty.size());
                let wide = [8, 16, 32].into_iter().find(|width| *width >= count).unwrap_or(64);
                self.out.push(Diagnostic::error("E0122", of.span, message).help(format!("give it the type `u{wide}`")));
            }
            all.push((state, found));
        }
        all
    }

    fn call(&mut self, name: &Spanned<String>, spec: &CallSpec, library: &Library) -> Option<Call> {
        let names = library.intrinsics.iter().map(|intrinsic| (intrinsic.name.as_str(), Some(intrinsic.span)));
        let intrinsic = Resolver::find(self.out, "intrinsic", name, names)?;
        let number = self.register(&spec.number)?;
        let mut services = Vec::new();
        for (key, service) in spec.services.iter() {
            let Ok(value) = key.value.parse() else {
                let error = Diagnostic::error("E0020", key.span, format!("`{}` is not a service number", key.value));
                self.out.push(error.help("write a whole number"));
                continue;
            };
            services.push((value, self.service(service)?));
        }
        Some(Call { intrinsic, number, services })
    }

    fn service(&mut self, spec: &ServiceSpec) -> Option<Service> {
        match (&spec.write, &spec.exit) {
            (Some(write), None) => {
                let stream = write.stream.as_ref().map(|name| self.register(name));
                let (address, size) = (self.register(&write.address)?, self.register(&write.size)?);
                let result = write.result.as_ref().map(|name| self.register(name));
                Some(Service::Write { stream: stream.flatten(), address, size, result: result.flatten() })
            }
            (None, Some(exit)) => Some(Service::Exit { status: self.register(&exit.status)? }),
            _ => {
                self.one_of(spec.span, "a service", &["write", "exit"]);
                None
            }
        }
    }

    /// Builds the graphs of the `value` keys of alternatives.
    fn readings(&mut self, library: &Library) -> Vec<(usize, String, Built)> {
        let specs = self.all(|file| &file.kinds);
        let mut readings = Vec::new();
        for (kind_name, spec) in specs {
            for (name, spec) in spec.alternatives.iter() {
                let Some(text) = &spec.value else { continue };
                let block = match parse_text(self.sources, text) {
                    Ok(block) => block,
                    Err(error) => {
                        self.out.push(error);
                        continue;
                    }
                };
                let Some((kind, bits, scope)) = reading_scope(&self.isa, &kind_name.value, &name.value, library) else {
                    continue;
                };
                let ty = Type::unsigned(bits);
                let before = self.out.iter().len();
                let Some(mut built) = build(&scope, &block, Some(ty), self.out) else {
                    let kind = &kind_name.value;
                    let note =
                        format!("operands of the kind `{kind}` are read as {bits} bits, the greatest `size` of one");
                    self.out.since(before).iter_mut().for_each(|error| error.notes.push(note.clone()));
                    continue;
                };
                // The result is written to the operand after the fields.
                let args = [scope.operands.len() as u16, 0, built.value.unwrap_or(NONE), NONE];
                built.nodes.push(Node { op: Op::Write, imm: 0, ty, args });
                readings.push((kind, name.value.clone(), built));
            }
        }
        readings
    }
}

/// The index of a kind, the width in bits of its widest operand, and the scope of an alternative's `value`.
fn reading_scope<'a>(isa: &Isa, kind_name: &str, name: &str, library: &'a Library) -> Option<(usize, u8, Scope<'a>)> {
    let most = |sizes: &mut dyn Iterator<Item = u16>| sizes.map(|size| size.clamp(1, 64) as u8).max().unwrap_or(32);
    if let Some(stream) = isa.stream() {
        let set = stream.sets.iter().skip(1).position(|set| set.name == kind_name)? + 1;
        let layout = stream.sets[set].layouts.iter().find(|layout| layout.name == name)?;
        let is_set = |layout: &Layout, field: usize| matches!(layout.fields.get(field).map(|f| &f.ty), Some(stream::Type::Set(s, _)) if *s == set);
        let layouts = stream.sets[0].layouts.iter();
        let mut sizes = layouts.flat_map(|layout| {
            layout.operands.iter().filter(move |o| is_set(layout, o.field)).map(|o| o.size).filter(|size| *size > 0)
        });
        let bits = most(&mut sizes);
        let fields = [layout.fields.as_slice(), &[size_field(layout.span)]].concat();
        return Some((set, bits, field_scope(isa, &stream.banks, &fields, &[], library)));
    }
    let kind = isa.kinds.iter().position(|kind| kind.name == kind_name)?;
    let alternative = isa.kinds[kind].alternatives.iter().find(|alternative| alternative.name == name)?;
    let operands = isa.forms.iter().flat_map(|form| &form.operands);
    let of_kind = operands.filter(|operand| matches!(operand.shape, Shape::One { kind: k, .. } if k == kind));
    let bits = most(&mut of_kind.map(|operand| operand.size));
    // Texts see the fields of words as they see those of streams.
    let fields = alternative.fields.iter().map(|field| as_stream_field(isa, field));
    let fields: Vec<Field> = fields.chain([size_field(alternative.span)]).collect();
    Some((kind, bits, field_scope(isa, &banks(isa), &fields, &[], library)))
}

/// A field for the number of bits read, which follows the other fields.
fn size_field(span: Span) -> Field {
    Field {
        name: "size".to_owned(),
        doc: String::new(),
        span,
        source: stream::Source::Bits(Vec::new()),
        width: 8,
        signed: false,
        default: 0,
        ty: stream::Type::Number(Notation::DECIMAL),
    }
}

fn as_stream_field(isa: &Isa, field: &model::Field) -> Field {
    let width = field.bits.width().min(64) as u8;
    let (ty, width) = match field.ty {
        model::Type::Register(bank) => (stream::Type::Register(bank), width),
        model::Type::Enum(e) => (stream::Type::Enum(e, None), width),
        model::Type::Constant(table) => {
            let wide = isa.constants[table].values.iter().any(|(value, _)| *value > u64::from(u32::MAX));
            (stream::Type::Number(Notation::HEX), if wide { 64 } else { 32 })
        }
        _ => (stream::Type::Number(Notation::DECIMAL), width),
    };
    Field {
        name: field.name.clone(),
        doc: String::new(),
        span: field.span,
        source: stream::Source::Bits(Vec::new()),
        width,
        signed: field.ty == model::Type::Signed,
        default: 0,
        ty,
    }
}
