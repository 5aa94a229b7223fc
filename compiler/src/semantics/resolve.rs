//! Binds the names in the texts of instructions and builds their graphs.
//!
//! - here: the text of each instruction, and the declarations that all texts may use
//! - `scope`: the names that the text of one instruction may use
//!
//! The declarations come first; then the scope of each instruction is made, and its graph is built in it.

mod scope;

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Effects, Modifier, Registers, Type};

use super::check::Unread;
use super::model::{Operation, Semantics, tidy};
use super::spec::{EffectSpec, IntrinsicSpec, SemanticsSpec, StateSpec};
use crate::diagnostic::Diagnostic;
use crate::expression::builtins::BUILTINS;
use crate::expression::parse::{KEYWORDS, Signature};
use crate::expression::scope::{Function, IntrinsicInfo, Library, Parameter, StateInfo};
use crate::expression::types::parse_type;
use crate::expression::{build, parse_signature, parse_text};
use crate::leak::text;
use crate::machine::banks::banks;
use crate::resolve::resolver::Resolver;
use crate::source::{Span, Spanned};
use crate::suggest::did_you_mean;
use scope::{form_uses, stream_scope};

pub use scope::{Use, form_scope};

pub(crate) use scope::field_scope;

/// How many instructions a mistake in a shared text lists at most.
const SHOWN: usize = 3;

/// The maximum number of nodes of all operations of a set.
const MAX_NODES: usize = 100_000;

impl Resolver<'_> {
    /// Builds the graphs for the texts of all instructions.
    pub(crate) fn semantics(&mut self) {
        let specs: Vec<SemanticsSpec> = self.files.iter().filter_map(|(_, file)| file.semantics.clone()).collect();
        let own = self.all(|file| &file.instructions);
        let own: Vec<(Spanned<String>, Spanned<String>)> =
            own.into_iter().filter_map(|(name, spec)| Some((name, spec.does?))).collect();
        let texts: HashMap<&str, &Spanned<String>> =
            own.iter().map(|(name, does)| (name.value.as_str(), does)).collect();
        // Instructions of a stream may share a name.
        let exact: HashMap<(&str, Span), &Spanned<String>> =
            own.iter().map(|(name, does)| ((name.value.as_str(), name.span), does)).collect();
        if specs.is_empty() && texts.is_empty() {
            return;
        }
        let mut semantics = Semantics::default();
        self.wires(&mut semantics);
        for spec in &specs {
            self.declarations(spec, &mut semantics);
            self.facts(spec, &mut semantics);
        }
        let mut given: HashMap<String, Spanned<String>> = HashMap::new();
        for (name, text) in specs.iter().flat_map(|spec| spec.does.iter().flat_map(|does| does.iter())) {
            if self.isa.groups().is_some() || !self.instruction_names().any(|known| known == name.value) {
                // A set that builds on another may have removed some of its instructions.
                if !self.bases.contains(&name.span.file) && !self.out.pass_over(&name.value) {
                    self.no_such_instruction(name);
                }
            } else if let Some(first) = texts.get(name.value.as_str()).copied().or(given.get(&name.value)) {
                // A set may override the texts of its base, which comes later in the order.
                if self.bases.contains(&name.span.file) {
                    continue;
                }
                let message = format!("the behaviour of `{}` is given twice", name.value);
                let error = Diagnostic::error("E0102", text.span, message).label("again here");
                self.out.push(error.secondary(first.span, "first given here"));
            } else {
                given.insert(name.value.clone(), text.clone());
            }
        }
        let known: Vec<(String, Span)> = match self.isa.stream() {
            Some(stream) => stream.instructions.iter().map(|i| (i.name.clone(), i.span)).collect(),
            None => self.isa.forms.iter().map(|form| (form.name.clone(), form.span)).collect(),
        };
        // The rows of an entry and the members of a family share its text.
        let text_of = |resolver: &Self, name: &String, span: Span| {
            let own = exact.get(&(name.as_str(), span)).or_else(|| texts.get(name.as_str())).copied();
            given.get(name).or(own).or_else(|| resolver.family_text(span)).cloned()
        };
        let own: Vec<_> = known.iter().map(|(name, span)| text_of(self, name, *span)).collect();
        let mut shares: HashMap<Span, usize> = HashMap::new();
        own.iter().flatten().for_each(|text| *shares.entry(text.span).or_default() += 1);
        let mut told: HashMap<Diagnostic, (usize, Vec<&str>)> = HashMap::new();
        let first = self.out.iter().count();
        let (mut nodes, mut unread) = (0, Unread::default());
        for (opcode, ((name, _), text)) in known.iter().zip(&own).enumerate() {
            let before = self.out.iter().count();
            let text_left = text.as_ref().filter(|_| nodes <= MAX_NODES);
            let operation = text_left.and_then(|text| self.operation_text(opcode, text, &semantics, &mut unread));
            nodes += operation.as_ref().map_or(0, |operation| operation.built.nodes.len());
            if let Some(text) = text_left.filter(|_| nodes > MAX_NODES) {
                let message = format!("the texts up to this one expand to more than {MAX_NODES} operations");
                self.out.push(Diagnostic::error("E0127", text.span, message));
            }
            let shares = text.as_ref().and_then(|text| shares.get(&text.span)).copied().unwrap_or(1);
            for found in self.out.since(before).iter().filter(|_| shares > 1) {
                told.entry(found.clone()).or_insert((shares, Vec::new())).1.push(name);
            }
            semantics.operations.push(operation);
        }
        unread.report(self.out);
        // If a mistake in a shared text affects only some of its instructions, the message lists them.
        for found in self.out.since(first) {
            if let Some((shares, names)) = told.get(found)
                && names.len() < *shares
            {
                let named = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                let more = names.len().saturating_sub(SHOWN);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                found.notes.push(format!("of {named}{more}"));
            }
        }
        self.group_semantics(&mut semantics);
        self.isa.semantics = Some(semantics);
    }

    /// The names of all instructions, or of the operations of groups, in index order.
    pub(super) fn instruction_names(&self) -> impl Iterator<Item = &str> + Clone {
        let words = self.isa.forms.iter().map(|form| form.name.as_str());
        let stream = self.isa.stream().into_iter().flat_map(|stream| &stream.instructions).map(|i| i.name.as_str());
        let groups = self.isa.groups().into_iter().flat_map(|groups| &groups.operations).map(|o| o.name.as_str());
        words.chain(stream).chain(groups)
    }

    fn family_text(&self, form: Span) -> Option<&Spanned<String>> {
        let entries =
            self.files.iter().filter_map(|(_, file)| file.instructions.as_ref()).flat_map(|named| named.iter());
        entries.filter(|(name, _)| name.span == form).find_map(|(_, spec)| spec.does.as_ref())
    }

    pub(super) fn no_such_instruction(&mut self, name: &Spanned<String>) {
        let error = Diagnostic::error("E0101", name.span, format!("there is no instruction called `{}`", name.value));
        let near = did_you_mean(&name.value, self.instruction_names());
        self.out.push(match near {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        });
    }

    fn operation_text(
        &mut self,
        opcode: usize,
        text: &Spanned<String>,
        semantics: &Semantics,
        unread: &mut Unread,
    ) -> Option<Operation> {
        let library = &semantics.library;
        let block = match parse_text(self.sources, text) {
            Ok(block) => block,
            Err(error) => {
                self.out.push(error);
                return None;
            }
        };
        let (name, scope, uses) = match self.isa.stream().map(|stream| stream_scope(&self.isa, stream, opcode, library))
        {
            Some(found) => found?,
            None => {
                let form = &self.isa.forms[opcode];
                (form.name.clone(), form_scope(&self.isa, form, library), form_uses(&self.isa, form))
            }
        };
        let built = build(&scope, &block, None, self.out)?;
        let modifiers = self.modifiers_of_texts(opcode, semantics);
        super::check::operation(&name, &scope, (&uses, &modifiers), &built, text.span, unread, self.out);
        Some(Operation { text: tidy(&text.value), span: text.span, built })
    }

    /// The modifiers of an instruction to which only its text can give a meaning: not those of every instruction, those
    /// that `flow` describes, those that decide how other fields are read, and those of a foreign document, which says
    /// what the hardware has, whether or not it is known what for.
    fn modifiers_of_texts(&self, opcode: usize, semantics: &Semantics) -> Vec<Modifier> {
        let every = self.files.iter().filter_map(|(_, file)| file.every.as_ref()?.modifiers.as_ref());
        let every: Vec<Span> = every.flat_map(|named| named.iter()).map(|(name, _)| name.span).collect();
        let common = |name: &str, span: Span| {
            every.iter().any(|known| (known.file, known.start) == (span.file, span.start))
                || semantics.facts.flow.iter().any(|flow| flow.modifier == name)
                || self.sources.text(span.file).trim_start().starts_with('<')
        };
        if let Some(stream) = self.isa.stream() {
            let own = stream.sets.first().into_iter().flat_map(|set| &set.layouts).find(|l| l.opcode == opcode);
            let Some(layout) = own else { return Vec::new() };
            let used = layout.used_fields();
            let open = layout.modifiers.iter().filter(|field| used >> (**field & 63) & 1 == 0);
            let open = open.filter(|field| !common(&layout.fields[**field].name, layout.fields[**field].span));
            return open.map(|field| Modifier::Form(*field as u8)).collect();
        }
        let form = &self.isa.forms[opcode];
        let shared = |span: Span| self.isa.shared.iter().any(|shared| shared.span == span);
        let open = form.modifiers.iter().enumerate().filter(|(_, m)| !common(&m.name, m.span) && !shared(m.span));
        open.map(|(index, _)| Modifier::Form(index as u8)).collect()
    }

    fn declarations(&mut self, spec: &SemanticsSpec, semantics: &mut Semantics) {
        for (ty, bits) in spec.nan.iter().flat_map(|nan| nan.iter()) {
            match parse_type(&ty.value) {
                Some(found) if found.is_float() && found.lanes == 1 => {
                    if !found.format().is_nan(*bits) || *bits > ones(found.bits.into()) {
                        let message = format!("{bits:#x} is not a NaN of type `{}`", ty.value);
                        self.out.push(Diagnostic::error("E0125", ty.span, message));
                    }
                    semantics.nan.push((found.bits, *bits));
                    semantics.library.canonical.push(found.bits);
                }
                _ => {
                    let error = Diagnostic::error("E0122", ty.span, format!("`{}` is not a float type", ty.value));
                    self.out.push(error.help("write `f16`, `f32` or `f64`"));
                }
            }
        }
        if let Some(pc) = &spec.pc {
            match parse_type(&pc.value) {
                Some(ty @ (Type::U32 | Type::U64)) => semantics.library.pc = Some(ty),
                _ => {
                    let error =
                        Diagnostic::error("E0122", pc.span, format!("a program counter of type `{}`", pc.value));
                    self.out.push(error.help("write `u32` or `u64`"));
                }
            }
        }
        let library = &mut semantics.library;
        for (names, given, what) in
            [(&mut library.spaces, &spec.spaces, "address space"), (&mut library.faults, &spec.faults, "fault")]
        {
            for name in given.iter().flatten() {
                if names.contains(&name.value) {
                    let message = format!("there are two {what}s called `{}`", name.value);
                    self.out.push(Diagnostic::error("E0102", name.span, message));
                }
                names.push(name.value.clone());
            }
        }
        for (name, state) in spec.states.iter().flat_map(|states| states.iter()) {
            self.state(name, state, library);
        }
        for (name, intrinsic) in spec.intrinsics.iter().flat_map(|named| named.iter()) {
            self.intrinsic(name, intrinsic, library);
        }
        for (head, body) in spec.functions.iter().flat_map(|named| named.iter()) {
            self.function(head, body, library);
        }
    }

    pub(crate) fn state(&mut self, name: &Spanned<String>, state: &StateSpec, library: &mut Library) {
        let Some(ty) = parse_type(&state.r_type.value) else {
            let message = format!("`{}` is not a type", state.r_type.value);
            return self.out.push(Diagnostic::error("E0122", state.r_type.span, message));
        };
        if KEYWORDS.contains(&name.as_str()) {
            let error = Diagnostic::error("E0120", name.span, format!("a state cannot be called `{}`", name.value));
            return self.out.push(
                error.help(format!("the language has the words `{}`; take another name", KEYWORDS.join("`, `"))),
            );
        }
        let count = state.count.as_ref().map_or(1, |count| count.value);
        if count == 0 || count > 1 << 20 {
            let span = state.count.as_ref().map_or(name.span, |count| count.span);
            let error = Diagnostic::error("E0032", span, format!("a state cannot have {count} elements"));
            return self.out.push(error.help("write a number from 1 to 1048576"));
        }
        let doc = state.doc.clone().unwrap_or_default();
        library.states.push(StateInfo { name: name.value.clone(), doc, ty, count, span: name.span });
    }

    fn intrinsic(&mut self, head: &Spanned<String>, spec: &IntrinsicSpec, library: &mut Library) {
        let signature = match parse_signature(self.sources, head.span) {
            Ok(signature) => signature,
            Err(error) => return self.out.push(error),
        };
        let mut parameters = Vec::new();
        for parameter in &signature.parameters {
            parameters.push(match parse_type(&parameter.value) {
                Some(ty) => Parameter::Value(ty),
                None if parameter.value == "operand" => Parameter::Operand,
                None => return self.no_type(parameter, "types of arguments are types of values, or `operand`"),
            });
        }
        let result = match &signature.result {
            Some(result) => match parse_type(&result.value) {
                Some(ty) => Some(ty),
                None => return self.no_type(result, "types are `u32`, `f16x2` and the like"),
            },
            None => None,
        };
        let has = |effect| spec.effects.iter().flatten().any(|e| *e == effect);
        let effects = Effects {
            reads: has(EffectSpec::Reads),
            writes: has(EffectSpec::Writes),
            waits: has(EffectSpec::Waits),
            flow: has(EffectSpec::Flow),
        };
        let registers = self.registers(&signature, &parameters, spec);
        if self.is_taken(&signature.name, library) {
            return;
        }
        library.intrinsics.push(IntrinsicInfo {
            name: signature.name.value,
            doc: spec.doc.clone(),
            parameters,
            names: signature.names,
            result,
            effects,
            registers,
            span: head.span,
        });
    }

    /// Resolves the registers that an intrinsic accesses.
    fn registers(&mut self, head: &Signature, parameters: &[Parameter], spec: &IntrinsicSpec) -> Vec<Registers> {
        let banks = banks(&self.isa);
        let mut found = Vec::new();
        for (name, spec) in spec.registers.iter().flat_map(|named| named.iter()) {
            if self.isa.groups().is_none() {
                let message = "only intrinsics of groups have `registers`";
                let error = Diagnostic::error("E0122", name.span, message);
                self.out.push(error.help("the operand that is passed to it has a `size`"));
                continue;
            }
            let names = head.names.iter().map(|name| (name.as_deref().unwrap_or(""), None));
            let Some(first) = Resolver::find(self.out, "parameter", name, names.clone()) else { continue };
            let bank = match &spec.bank {
                None => None,
                Some(bank) => {
                    let banks = banks.iter().map(|bank| (bank.name.as_str(), Some(bank.span)));
                    let Some(found) = Resolver::find(self.out, "bank", bank, banks) else { continue };
                    Some(found as u16)
                }
            };
            let is_number = |parameter: usize| parameters.get(parameter) == Some(&Parameter::Value(Type::U32));
            if bank.is_some() != is_number(first) || bank.is_none() && parameters[first] != Parameter::Operand {
                let message = format!("`{}` is not the first of some registers", name.value);
                let error = Diagnostic::error("E0122", name.span, message);
                self.out.push(error.help("that is an `operand`, or a `u32` together with `bank`"));
                continue;
            }
            let mut count = None;
            if let Some(name) = &spec.count {
                count = Resolver::find(self.out, "parameter", name, names);
                if count.is_some_and(|count| !is_number(count)) {
                    let error = Diagnostic::error("E0122", name.span, format!("`{}` is not a number", name.value));
                    self.out.push(error.help("the number of registers is a `u32`"));
                }
            }
            found.push(Registers {
                first: first as u8,
                name: text(&name.value),
                bank,
                count: count.map(|count| count as u8),
                times: spec.times.as_ref().map_or(1, |times| times.value),
                writes: spec.writes.unwrap_or(false),
            });
        }
        found
    }

    fn no_type(&mut self, name: &Spanned<String>, help: &str) {
        self.out.push(Diagnostic::error("E0122", name.span, format!("`{}` is not a type", name.value)).help(help));
    }

    fn is_taken(&mut self, name: &Spanned<String>, library: &Library) -> bool {
        let taken = BUILTINS.iter().any(|builtin| builtin.name == name.value)
            || library.functions.contains_key(&name.value)
            || library.intrinsics.iter().any(|i| i.name == name.value);
        if taken {
            let error = Diagnostic::error("E0102", name.span, format!("a function `{}` already exists", name.value));
            self.out.push(error.help("choose another name"));
        }
        taken
    }

    fn function(&mut self, head: &Spanned<String>, body: &Spanned<String>, library: &mut Library) {
        let signature = match parse_signature(self.sources, head.span) {
            Ok(signature) => signature,
            Err(error) => return self.out.push(error),
        };
        let block = match parse_text(self.sources, body) {
            Ok(block) => block,
            Err(error) => return self.out.push(error),
        };
        let known = if signature.value.is_some() { &library.writers } else { &library.functions };
        // A set may override the functions of its base, which comes later in the order.
        if self.bases.contains(&head.span.file) && known.contains_key(&signature.name.value) {
            return;
        }
        let parameters = signature.parameters.iter().chain(&signature.value).map(|p| p.value.clone()).collect();
        let function = Function { parameters, body: block, span: head.span };
        if signature.value.is_some() {
            if library.writers.insert(signature.name.value.clone(), function).is_some() {
                let message = format!("a writer `{}` already exists", signature.name.value);
                self.out.push(Diagnostic::error("E0102", head.span, message).help("choose another name"));
            }
        } else if !self.is_taken(&signature.name, library) {
            library.functions.insert(signature.name.value, function);
        }
    }
}
