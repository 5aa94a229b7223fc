//! Names of machines bound.

use isaforge_core::machine::{Divergence, Register, Service};
use isaforge_core::semantics::{Modifier, NONE, Node, Op, Type};

use super::Machine;
use super::spec::{CallSpec, DivergenceSpec, MachineSpec, ServiceSpec};
use crate::diagnostic::Diagnostic;
use crate::expression::scope::Library;
use crate::expression::{Built, Choices, ModifierInfo, OperandInfo, Scope, build, parse_text};
use crate::model::{self, Alternative, Isa, Shape};
use crate::resolve::Resolver;
use crate::source::Spanned;

impl Resolver<'_> {
    /// Binds the names of sections `machine`, and builds what reading operands gives.
    pub(crate) fn machine(&mut self) {
        let mut specs: Vec<MachineSpec> = self.files.iter().filter_map(|(_, file)| file.machine.clone()).collect();
        let zeros = self.zeros();
        let spec = specs.pop();
        if let (Some(first), Some(second)) = (specs.first(), &spec) {
            let error = Diagnostic::error("E0102", second.span, "the machine is described twice").label("again here");
            self.out.push(error.secondary(first.span, "first here"));
        }
        let Some(semantics) = self.isa.semantics.take() else {
            if let Some(spec) = &spec {
                let error = Diagnostic::error("E0022", spec.span, "a machine that has nothing to execute");
                self.out.push(error.help("say what an instruction `does`"));
            }
            return;
        };
        let spec_calls = spec.as_ref().and_then(|spec| spec.calls.clone()).unwrap_or_default();
        let mut machine = Machine {
            lanes: 1,
            divergence: Divergence::Refused,
            aligned: false,
            elf: None,
            zeros,
            aliases: self.aliases(&semantics.library),
            readings: self.readings(&semantics.library),
            calls: spec_calls.iter().filter_map(|(name, call)| self.call(name, call, &semantics.library)).collect(),
            declared: spec.is_some(),
        };
        if let Some(spec) = &spec {
            if let Some(lanes) = &spec.lanes {
                self.in_range("the number of lanes", lanes, 1, 64);
                machine.lanes = lanes.value.clamp(1, 64);
            }
            machine.divergence = match spec.divergence {
                Some(DivergenceSpec::LowestFirst) => Divergence::LowestFirst,
                Some(DivergenceSpec::Refused) | None => Divergence::Refused,
            };
            machine.aligned = spec.aligned.unwrap_or(false);
            machine.elf = spec.elf.as_ref().map(|elf| elf.value);
        }
        self.isa.semantics = Some(semantics);
        self.isa.machine = Some(machine);
    }

    /// The register of each bank that is zero.
    fn zeros(&mut self) -> Vec<Option<u32>> {
        let specs = self.all(|file| &file.banks);
        let mut zeros = vec![None; self.isa.banks.len()];
        for (name, spec) in specs {
            let (Some(zero), Some(bank)) = (spec.zero, self.isa.banks.iter().position(|b| b.name == name.value)) else {
                continue;
            };
            let last = u64::from(self.isa.banks[bank].count.saturating_sub(1));
            self.in_range("the number of the register", &zero, 0, last);
            zeros[bank] = Some(zero.value);
        }
        zeros
    }

    /// The register of a name; an unknown one is reported.
    fn register(&mut self, name: &Spanned<String>) -> Option<Register> {
        let find = |(bank, known): (usize, &model::Bank)| {
            let number = name.value.strip_prefix(known.prints.0.as_str())?.strip_suffix(known.prints.1.as_str())?;
            let index: u32 = number.parse().ok()?;
            (index < known.count).then_some(Register { bank: bank as u16, index })
        };
        let found = self.isa.banks.iter().enumerate().find_map(find);
        if found.is_none() {
            let error = Diagnostic::error("E0101", name.span, format!("there is no register called `{}`", name.value));
            let first = self.isa.banks.first().map(|bank| format!("`{}0{}`", bank.prints.0, bank.prints.1));
            self.out.push(match first {
                Some(first) => error.help(format!("write it as instructions do, such as {first}")),
                None => error.help("describe a bank of registers under `banks`"),
            });
        }
        found
    }

    fn aliases(&mut self, library: &Library) -> Vec<(usize, Register)> {
        let specs = self.files.iter().filter_map(|(_, file)| file.semantics.as_ref()?.states.clone());
        let specs: Vec<_> = specs.flat_map(|states| states.0).collect();
        let mut aliases = Vec::new();
        for (name, spec) in specs {
            let Some(register) = &spec.register else { continue };
            let Some(state) = library.states.iter().position(|state| state.name == name.value) else { continue };
            let Some(found) = self.register(register) else { continue };
            let (width, state_type) = (self.isa.banks[usize::from(found.bank)].width, library.states[state].ty);
            if state_type.size() != u32::from(width) || library.states[state].count != 1 {
                let message = format!("a register of {width} bits is no `{state_type}`");
                self.out
                    .push(Diagnostic::error("E0122", spec.r_type.span, message).secondary(register.span, "this one"));
            }
            aliases.push((state, found));
        }
        aliases
    }

    fn call(
        &mut self,
        name: &Spanned<String>,
        spec: &CallSpec,
        library: &Library,
    ) -> Option<(usize, Register, Vec<(u64, Service)>)> {
        let names = library.intrinsics.iter().map(|intrinsic| (intrinsic.name.as_str(), Some(intrinsic.span)));
        let intrinsic = Resolver::find(self.out, "intrinsic", name, names)?;
        let number = self.register(&spec.number)?;
        let mut services = Vec::new();
        for (key, service) in spec.services.iter() {
            let Ok(value) = key.value.parse() else {
                let error = Diagnostic::error("E0020", key.span, format!("`{}` is no number of a service", key.value));
                self.out.push(error.help("write a whole number"));
                continue;
            };
            services.push((value, self.service(service)?));
        }
        Some((intrinsic, number, services))
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

    /// What the `value` of alternatives says.
    fn readings(&mut self, library: &Library) -> Vec<(usize, usize, Built)> {
        let specs = self.all(|file| &file.kinds);
        let mut readings = Vec::new();
        for (name, spec) in specs {
            let Some(kind) = self.isa.kinds.iter().position(|kind| kind.name == name.value) else { continue };
            for (name, spec) in spec.alternatives.iter() {
                let Some(text) = &spec.value else { continue };
                let alternatives = &self.isa.kinds[kind].alternatives;
                let Some(at) = alternatives.iter().position(|a| a.name == name.value) else { continue };
                let block = match parse_text(self.sources, text.span) {
                    Ok(block) => block,
                    Err(error) => {
                        self.out.push(error);
                        continue;
                    }
                };
                let ty = Type::unsigned(size_of(&self.isa, kind));
                let alternative = &self.isa.kinds[kind].alternatives[at];
                let scope = fields_scope(&self.isa, alternative, library);
                let Some(mut built) = build(&scope, &block, Some(ty), self.out) else { continue };
                // The result goes to the operand behind the fields.
                let value = built.value.unwrap_or(NONE);
                let args = [alternative.fields.len() as u16, 0, value, NONE];
                built.nodes.push(Node { op: Op::Write, imm: 0, ty, args });
                readings.push((kind, at, built));
            }
        }
        readings
    }
}

/// The bits of the largest operand of a kind.
fn size_of(isa: &Isa, kind: usize) -> u8 {
    let operands = isa.forms.iter().flat_map(|form| &form.operands);
    let of_kind = operands.filter(|operand| matches!(operand.shape, Shape::One { kind: k, .. } if k == kind));
    of_kind.map(|operand| operand.size.clamp(1, 64) as u8).max().unwrap_or(32)
}

/// The names that the `value` of an alternative may use: its fields.
fn fields_scope<'a>(isa: &Isa, alternative: &Alternative, library: &'a Library) -> Scope<'a> {
    let mut scope = Scope::new(library);
    for (k, field) in alternative.fields.iter().enumerate() {
        let number = |signed: bool| {
            let bits = if field.bits.width() <= 32 { 32 } else { 64 };
            if signed { Type::signed(bits) } else { Type::unsigned(bits) }
        };
        let (name, ty) = match field.ty {
            model::Type::Register(bank) => {
                (field.name.clone(), Type::unsigned(isa.banks[bank].width.clamp(1, 64) as u8))
            }
            model::Type::Enum(e) => {
                let values = isa.enums[e].values.iter().map(|value| (value.name.clone(), value.bits)).collect();
                scope.modifiers.push(ModifierInfo {
                    name: field.name.clone(),
                    choices: Choices::Values(values),
                    reference: Modifier::Form(k as u8),
                    span: field.span,
                });
                // The operands keep the numbers of the fields; this one has no name.
                (String::new(), Type::U32)
            }
            model::Type::Constant(table) => {
                let wide = isa.constants[table].values.iter().any(|(value, _)| *value > u64::from(u32::MAX));
                (field.name.clone(), Type::unsigned(if wide { 64 } else { 32 }))
            }
            model::Type::Signed => (field.name.clone(), number(true)),
            _ => (field.name.clone(), number(false)),
        };
        let (elements, suffixes) = (1, Vec::new());
        scope.operands.push(OperandInfo { name, ty, elements, suffixes, reads: true, writes: false, span: field.span });
    }
    scope
}
