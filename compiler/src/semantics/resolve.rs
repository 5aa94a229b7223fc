//! Binds the names in the texts of instructions and builds their graphs.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::semantics::{Effects, Modifier, Type};

use super::spec::{EffectSpec, IntrinsicSpec, SemanticsSpec, StateSpec};
use super::{Operation, Semantics};
use crate::diagnostic::Diagnostic;
use crate::expression::builtins::BUILTINS;
use crate::expression::scope::{Function, IntrinsicInfo, Library, Parameter, StateInfo};
use crate::expression::types::parse_type;
use crate::expression::{Choices, ModifierInfo, OperandInfo, Scope, build, parse_signature, parse_text};
use crate::model::{self, Form, Isa, Shape};
use crate::resolve::Resolver;
use crate::source::{Span, Spanned};
use crate::spec::Access;
use crate::stream::model::{self as stream, Bank, Field, Layout, Role, Stream};
use crate::stream::tree::order;
use crate::suggest::did_you_mean;

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
        let mut nodes = 0;
        for (opcode, ((name, _), text)) in known.iter().zip(&own).enumerate() {
            let before = self.out.iter().count();
            let text_left = text.as_ref().filter(|_| nodes <= MAX_NODES);
            let operation = text_left.and_then(|text| self.operation_text(opcode, text, &semantics.library));
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

    fn operation_text(&mut self, opcode: usize, text: &Spanned<String>, library: &Library) -> Option<Operation> {
        let block = match parse_text(self.sources, text) {
            Ok(block) => block,
            Err(error) => {
                self.out.push(error);
                return None;
            }
        };
        let (name, scope, access) =
            match self.isa.stream().map(|stream| stream_scope(&self.isa, stream, opcode, library)) {
                Some(found) => found?,
                None => {
                    let form = &self.isa.forms[opcode];
                    let access =
                        form.operands.iter().map(|operand| Some((operand.access, operand.suffixes.len()))).collect();
                    (form.name.clone(), form_scope(&self.isa, form, library), access)
                }
            };
        let built = build(&scope, &block, None, self.out)?;
        super::check::operation(&name, &scope, &access, &built, text.span, self.out);
        Some(Operation { text: tidy(&text.value), span: text.span, built })
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
        library.spaces.extend(spec.spaces.iter().flatten().map(|name| name.value.clone()));
        library.faults.extend(spec.faults.iter().flatten().map(|name| name.value.clone()));
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
            span: head.span,
        });
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

/// The names that are in scope in the text of a form.
pub fn form_scope<'a>(isa: &Isa, form: &Form, library: &'a Library) -> Scope<'a> {
    let mut scope = Scope::new(library);
    let modifier = |m: &model::Modifier, reference| ModifierInfo {
        name: m.name.clone(),
        choices: choices(isa, m.ty, m.bits.width()),
        reference,
        span: m.span,
    };
    let suffix = |k: usize, j: usize, m: &model::Modifier| modifier(m, Modifier::Suffix(k as u8, j as u8));
    scope.numbers = isa.parameters.get(&form.name).cloned().into_iter().collect();
    scope.modifiers = form.modifiers.iter().enumerate().map(|(i, m)| modifier(m, Modifier::Form(i as u8))).collect();
    for (k, operand) in form.operands.iter().enumerate() {
        let (ty, elements) = operand_type(isa, operand);
        let mut suffixes: Vec<_> = operand.suffixes.iter().enumerate().map(|(j, m)| suffix(k, j, m)).collect();
        if let Shape::One { kind, .. } = operand.shape {
            let first = suffixes.len();
            let fields = isa.kinds[kind].common_fields();
            suffixes.extend(fields.map(|(j, f)| ModifierInfo {
                name: f.name.clone(),
                choices: choices(isa, f.ty, f.bits.width()),
                reference: Modifier::Suffix(k as u8, (first + j) as u8),
                span: f.span,
            }));
        }
        scope.operands.push(OperandInfo {
            name: operand.name.clone(),
            ty,
            elements,
            choices: Choices::Number(ty.bits),
            suffixes,
            reads: true,
            writes: matches!(operand.access, Access::Write | Access::ReadWrite),
            span: operand.span,
        });
    }
    scope
}

/// How an instruction accesses each operand in its scope, and how many suffixes the operand has.
type Accesses = Vec<Option<(Access, usize)>>;

/// The name of an instruction of a stream, the scope of its text, and how it accesses each operand in that scope.
/// Fields that are not operands are numbers, or modifiers if an enum names their values.
fn stream_scope<'a>(
    isa: &Isa,
    stream: &Stream,
    opcode: usize,
    library: &'a Library,
) -> Option<(String, Scope<'a>, Accesses)> {
    let own = |layout: &&Layout| layout.opcode == opcode && layout.role == Role::Own;
    let layout = stream.sets.first()?.layouts.iter().find(own)?;
    let mut access = vec![None; layout.fields.len()];
    let mut sizes = vec![0; layout.fields.len()];
    for operand in &layout.operands {
        access[operand.field] = Some((operand.access, 0));
        sizes[operand.field] = operand.size;
    }
    let mut scope = field_scope(isa, &stream.banks, &layout.fields, &sizes, library);
    for field in &layout.modifiers {
        let suffixes = modifier_field(isa, layout, *field, &mut scope);
        if let Some((_, suffixes)) = suffixes.and_then(|operand| access.get_mut(operand)?.as_mut()) {
            *suffixes += 1;
        }
    }
    for (k, field) in layout.fields.iter().enumerate() {
        let stream::Type::Set(set, _) = field.ty else { continue };
        scope.operands[k].suffixes.extend(common_fields(isa, &stream.sets[set], k));
    }
    for (operand, access) in scope.operands.iter_mut().zip(&mut access) {
        operand.writes = matches!(access, Some((Access::Write | Access::ReadWrite, _)));
        // A field that became a modifier is not an operand.
        *access = access.filter(|_| !operand.name.is_empty());
    }
    Some((stream.instructions.get(opcode)?.name.clone(), scope, access))
}

/// Makes a field a modifier of an operand, and returns the operand's index, or else of the instruction.
fn modifier_field(isa: &Isa, layout: &Layout, index: usize, scope: &mut Scope<'_>) -> Option<usize> {
    let field = &layout.fields[index];
    let reference = Modifier::Form(index as u8);
    scope.modifiers.retain(|modifier| modifier.reference != reference);
    scope.operands[index].name.clear();
    let (operand, name) = match field.name.split_once('.') {
        Some((operand, name)) => (scope.operands.iter_mut().enumerate().find(|(_, o)| o.name == operand), name),
        None => (None, field.name.as_str()),
    };
    let choices = field_choices(isa, field).unwrap_or(Choices::Flag);
    let modifier = ModifierInfo { name: name.to_owned(), choices, reference, span: field.span };
    match operand {
        Some((number, operand)) => {
            operand.suffixes.push(modifier);
            Some(number)
        }
        None => {
            scope.modifiers.push(modifier);
            None
        }
    }
}

/// The named values of a field; `None` unless an enum names them all.
fn field_choices(isa: &Isa, field: &Field) -> Option<Choices> {
    let stream::Type::Enum(e, None) = field.ty else { return None };
    Some(Choices::Values(isa.enums[e].values.iter().map(|value| (value.name.clone(), value.bits)).collect()))
}

/// The fields that all alternatives of an operand have, as its suffixes. Fields that are registers or operands are left
/// out, since they are what the operand reads.
fn common_fields(isa: &Isa, set: &stream::Set, operand: usize) -> Vec<ModifierInfo> {
    // In the order of the tables, in which the fields are numbered by the first alternative.
    let mut readings = order(set).into_iter().map(|index| &set.layouts[index]);
    let Some(first) = readings.next() else { return Vec::new() };
    let others: Vec<&Layout> = readings.collect();
    let plain = |field: &Field| {
        matches!(field.ty, stream::Type::Number(_) | stream::Type::Enum(..))
            && !matches!(field.source, stream::Source::Outer(_))
            && !field.signed
    };
    let same = |a: &Field, b: &Field| a.name == b.name && a.ty == b.ty && a.width == b.width;
    let fields = first.fields.iter().enumerate().filter(|(_, field)| plain(field));
    let fields = fields.filter(|(_, field)| others.iter().all(|other| other.fields.iter().any(|f| same(f, field))));
    let suffix = |(j, field): (usize, &Field)| ModifierInfo {
        name: field.name.clone(),
        choices: field_choices(isa, field).unwrap_or(Choices::Number(field.width)),
        reference: Modifier::Suffix(operand as u8, j as u8),
        span: field.span,
    };
    fields.map(suffix).collect()
}

/// The scope of a layout's fields; `sizes` holds the width in bits of those that are operands, or 0. An operand has the
/// index of its field; the entry of a modifier has no name.
pub(crate) fn field_scope<'a>(
    isa: &Isa,
    banks: &[Bank],
    fields: &[Field],
    sizes: &[u16],
    library: &'a Library,
) -> Scope<'a> {
    let mut scope = Scope::new(library);
    for (k, field) in fields.iter().enumerate() {
        let bits = |size: u16| Type::unsigned(size.clamp(1, 64) as u8);
        let width = if field.width <= 32 { 32 } else { 64 };
        let number = if field.signed { Type::signed(width) } else { Type::unsigned(width) };
        let size = sizes.get(k).copied().filter(|size| *size > 0);
        let (name, ty) = match field.ty {
            stream::Type::Register(bank) => {
                let width = banks.get(bank).map_or(32, |bank| bank.width);
                (field.name.clone(), bits(size.unwrap_or(width)))
            }
            stream::Type::Set(..) => (field.name.clone(), bits(size.unwrap_or(32))),
            stream::Type::Float(width) => (field.name.clone(), bits(width.into())),
            stream::Type::Enum(_, None) => {
                let reference = Modifier::Form(k as u8);
                let choices = field_choices(isa, field).unwrap_or(Choices::Flag);
                scope.modifiers.push(ModifierInfo { name: field.name.clone(), choices, reference, span: field.span });
                (String::new(), Type::U32)
            }
            _ => (field.name.clone(), number),
        };
        scope.operands.push(OperandInfo {
            name,
            ty,
            elements: 1,
            choices: Choices::Number(field.width.min(ty.bits)),
            suffixes: Vec::new(),
            reads: true,
            writes: false,
            span: field.span,
        });
    }
    scope
}

/// The values of a modifier or a field.
fn choices(isa: &Isa, ty: model::Type, bits: u32) -> Choices {
    match ty {
        model::Type::Flag => Choices::Flag,
        model::Type::Enum(e) => Choices::Values(isa.enums[e].values.iter().map(|v| (v.name.clone(), v.bits)).collect()),
        _ => Choices::Number(bits.min(64) as u8),
    }
}

/// The type of an operand's elements, and their number. An operand that can be a register has the width of whole
/// registers, even if the instruction uses fewer bits.
fn operand_type(isa: &Isa, operand: &model::Operand) -> (Type, u16) {
    let word = |bits: u16| Type::unsigned(bits.clamp(1, 64) as u8);
    let register = |kind: usize| {
        let fields = isa.kinds[kind].alternatives.iter().flat_map(|alternative| &alternative.fields);
        let widths = fields.filter_map(|field| match field.ty {
            model::Type::Register(bank) => Some(isa.banks[bank].width),
            _ => None,
        });
        widths.max().unwrap_or(1).max(1)
    };
    match &operand.shape {
        Shape::One { .. } if operand.size > 64 => (word(32), operand.size.div_ceil(32)),
        Shape::One { kind, .. } => (word(operand.size.next_multiple_of(register(*kind))), 1),
        Shape::List { count, .. } => {
            let more = count.bits.as_ref().map_or(0, |bits| ones(bits.width()).min(255) as u16);
            (word(operand.size.min(32)), u16::from(count.plus) + more)
        }
        Shape::Number { bits, ty, .. } => {
            let width = if bits.width() <= 32 { 32 } else { 64 };
            (if *ty == model::Type::Signed { Type::signed(width) } else { Type::unsigned(width) }, 1)
        }
    }
}

/// Removes trailing spaces and the empty lines around a text, for display.
pub(crate) fn tidy(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(0);
    lines[first..].join("\n").trim_end().to_owned()
}
