//! What an instruction does: its operation, and what that depends on besides: the values of its operands, flow
//! modifiers, messages.

use isaforge_core::group::GroupIsa;
use isaforge_core::machine::Hardware;
use isaforge_core::semantics::facts::Flow;
use isaforge_core::semantics::{Modifier, Op, Operation, Semantics};
use isaforge_core::stream::{Engine, Layout};
use isaforge_core::table::Isa;

use super::change::{Change, How, Subject, change};
use super::encoded::Encoded;
use super::meaning::{Meaning, Renamed, changed, code};
use super::revision::Revision;
use super::structure::renamed_values;

/// An instruction in one revision.
pub(super) struct Effects {
    semantics: Option<&'static Semantics>,
    hardware: Option<&'static Hardware>,
    operation: Option<&'static Operation>,
    encoded: Encoded,
}

impl Effects {
    /// Those of an instruction of words.
    pub(super) fn of_word(revision: Revision<&'static Isa>, opcode: u16) -> Effects {
        let encoded = Encoded::Word(revision.tables, &revision.tables.forms[usize::from(opcode)]);
        Effects::of(revision, operation_of(revision.semantics, opcode), encoded)
    }

    /// Those of an instruction of a stream, with one of its layouts.
    pub(super) fn of_stream(revision: Revision<Engine>, layout: &'static Layout) -> Effects {
        let encoded = Encoded::Stream(revision.tables, layout);
        Effects::of(revision, operation_of(revision.semantics, layout.opcode), encoded)
    }

    /// Those of an operation of a set of groups.
    pub(super) fn of_group(revision: Revision<&'static GroupIsa>, opcode: u16) -> Effects {
        let own = revision.tables.operations.get(usize::from(opcode));
        let encoded = Encoded::Group(revision.tables, own, roles(revision.semantics));
        Effects::of(revision, operation_of(revision.semantics, opcode), encoded)
    }

    /// Those of what a whole group does.
    pub(super) fn of_path(revision: Revision<&'static GroupIsa>, does: Option<&'static Operation>) -> Effects {
        Effects::of(revision, does, Encoded::Group(revision.tables, None, roles(revision.semantics)))
    }

    fn of<T>(revision: Revision<T>, operation: Option<&'static Operation>, encoded: Encoded) -> Effects {
        let Revision { semantics, hardware, .. } = revision;
        let operation = operation.filter(|found| !found.text.is_empty() || !found.nodes.is_empty());
        Effects { semantics, hardware, operation, encoded }
    }

    fn meaning<'a>(&self, renamed: &'a Renamed) -> Option<Meaning<'a>> {
        Some(Meaning { semantics: self.semantics?, operation: self.operation?, encoded: self.encoded, renamed })
    }

    /// Whether the operation has this node for an operand.
    fn has(&self, op: Op, operand: u16) -> bool {
        let nodes = self.operation.map_or(&[][..], |operation| operation.nodes);
        nodes.iter().any(|node| node.op == op && node.args[0] == operand)
    }

    /// How an alternative of a kind is read, where the specification says so.
    fn reading<'a>(&self, kind: u16, name: &str, encoded: Encoded, renamed: &'a Renamed) -> Option<Meaning<'a>> {
        let mut all = self.hardware?.readings.iter();
        let found = all.find(|reading| reading.kind == kind && reading.alternative == name)?;
        Some(Meaning { semantics: self.semantics?, operation: &found.operation, encoded, renamed })
    }

    fn discards(&self, kind: u16, alternative: &str) -> bool {
        self.hardware.is_some_and(|hardware| hardware.discards(kind, alternative))
    }

    /// The effects of flow modifiers: modifier, value, effect.
    fn flow(&self) -> Vec<(String, &'static str, String)> {
        let all = self.semantics.map_or(&[][..], |semantics| semantics.flow);
        let named = |flow: &Flow| {
            if let Encoded::Group(_, own, _) = self.encoded {
                let is_own = own.is_some_and(|own| own.name == flow.instruction);
                let has = flow.instruction.is_empty() && self.encoded.named(flow.modifier).is_some();
                return (is_own || has).then(|| (flow.modifier.to_owned(), flow.name, flow_text(flow)));
            }
            let (modifier, names) = self.encoded.named(flow.modifier)?;
            Some((modifier, names?.value(flow.value)?.name, flow_text(flow)))
        };
        all.iter().filter_map(named).collect()
    }

    /// The slots for which it sends messages, whatever its modifiers.
    fn sends(&self) -> String {
        let all = self.semantics.map_or(&[][..], |semantics| semantics.flow).iter();
        let own = |flow: &&Flow| matches!(self.encoded, Encoded::Word(_, form) if form.name.str == flow.instruction);
        let own = all.filter(|flow| flow.modifier.is_empty()).filter(own);
        slots(own.fold(0, |all, flow| all | flow.sends))
    }
}

/// What a machine reads of an alternative of a kind and whether it discards writes to it, as a part of a description.
pub(super) fn of_alternative<T>(revision: Revision<T>, kind: u16, name: &str, encoded: Encoded) -> String {
    let effects = Effects::of(revision, None, encoded);
    let same = Renamed::default();
    let value = effects.reading(kind, name, encoded, &same).map(|value| format!(", {}", code(&value.shown(&[]))));
    let discards = if effects.discards(kind, name) { ", discards writes" } else { "" };
    value.unwrap_or_default() + discards
}

/// What changed in what an instruction does. `members` lists members under their old and new name.
pub(super) fn changes(old: &Effects, new: &Effects, members: Vec<(String, String)>) -> Vec<Change> {
    let (same, mut renamed) = (Renamed::default(), Renamed { members, values: Vec::new() });
    renamed.values = values(old, new, &renamed);
    let mut out: Vec<Change> = changed(old.meaning(&same), new.meaning(&renamed)).into_iter().collect();
    if old.semantics.is_none() || new.semantics.is_none() {
        return out;
    }
    operands(old, new, &renamed, &mut out);
    let (before, after) = (old.flow(), new.flow());
    let find = |flow: &[(String, &str, String)], modifier: &str, value: &str| {
        flow.iter().find(|(m, v, _)| m == modifier && *v == value).map_or(String::new(), |(.., text)| text.clone())
    };
    let added = after.iter().filter(|(m, v, _)| !before.iter().any(|(n, w, _)| (m, v) == (n, w)));
    for (modifier, value, _) in before.iter().chain(added) {
        let (was, is) = (find(&before, modifier, value), find(&after, modifier, value));
        if was != is {
            out.push(operation(&format!("{modifier} = {value}"), was, is));
        }
    }
    let (was, is) = (old.sends(), new.sends());
    if was != is {
        out.push(operation("messages", was, is));
    }
    out
}

fn operation(name: &str, was: String, is: String) -> Change {
    let said = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
    change(Subject::Operation, How::Changed, name, said(was), said(is))
}

/// Compares how the alternatives of operands are read, and whether writes to them are discarded.
fn operands(old: &Effects, new: &Effects, renamed: &Renamed, out: &mut Vec<Change>) {
    let same = Renamed::default();
    let named = |index: u16| renamed.member(new.encoded.operand(index));
    let others = new.encoded.kinds();
    for (operand, kinds) in old.encoded.kinds() {
        let name = old.encoded.operand(operand);
        let (reads, writes) = (old.has(Op::Operand, operand), old.has(Op::Write, operand));
        let Some((_, wanted)) = others.iter().find(|(index, _)| named(*index) == name) else { continue };
        // The kind of the operand itself may have another name; nested ones are found by name.
        let outermost = kinds.first().copied().zip(wanted.first().copied());
        let nested = kinds.iter().skip(1).filter_map(|kind| {
            let same = |other: &&u16| new.encoded.kind(**other) == old.encoded.kind(*kind);
            Some((*kind, *wanted.iter().find(same)?))
        });
        for (kind, other) in outermost.into_iter().chain(nested) {
            let alternatives = new.encoded.alternatives(other);
            for (alternative, encoded) in old.encoded.alternatives(kind) {
                let Some((_, found)) = alternatives.iter().find(|(known, _)| *known == alternative) else { continue };
                let place = format!("{name} = {alternative}");
                let was = old.reading(kind, alternative, encoded, &same);
                let fields = Renamed { members: encoded.renamed_fields(*found), values: Vec::new() };
                let is = new.reading(other, alternative, *found, &fields);
                if let Some(change) = changed(was, is).filter(|_| reads) {
                    let name = if change.name.is_empty() { place.clone() } else { format!("{place}, {}", change.name) };
                    out.push(Change { name, ..change });
                }
                let said = |discards| if discards { "writes are discarded" } else { "writes are kept" }.to_owned();
                let (was, is) = (old.discards(kind, alternative), new.discards(other, alternative));
                if was != is && writes {
                    out.push(operation(&place, said(was), said(is)));
                }
            }
        }
    }
}

/// The values of modifiers that only have another name.
fn values(old: &Effects, new: &Effects, renamed: &Renamed) -> Vec<(String, &'static str, &'static str)> {
    let modifiers = |effects: &Effects| {
        let all = effects.operation.map_or(&[][..], |operation| operation.modifiers);
        let named = |modifier: &Modifier| effects.encoded.modifier(*modifier);
        all.iter().filter_map(named).filter_map(|(name, names)| Some((name, names?))).collect::<Vec<_>>()
    };
    let before = modifiers(old);
    let of = |(name, names): (String, &'static _)| {
        let name = renamed.member(&name);
        let found = before.iter().find(|(known, _)| *known == name);
        let pairs = found.map_or_else(Vec::new, |(_, was)| renamed_values(was, names));
        pairs.into_iter().map(move |(was, is)| (name.clone(), was, is))
    };
    modifiers(new).into_iter().flat_map(of).collect()
}

fn operation_of(semantics: Option<&'static Semantics>, opcode: u16) -> Option<&'static Operation> {
    semantics?.operations.get(usize::from(opcode))
}

fn roles(semantics: Option<&'static Semantics>) -> &'static [&'static str] {
    semantics.and_then(|semantics| semantics.path.as_ref()).map_or(&[], |path| path.roles)
}

/// The numbers of the slots in a set.
fn slots(set: u8) -> String {
    let numbers: Vec<String> = (0..u8::BITS).filter(|bit| set >> bit & 1 != 0).map(|bit| bit.to_string()).collect();
    numbers.join(", ")
}

/// The effect of a value of a flow modifier.
fn flow_text(flow: &Flow) -> String {
    let Flow {
        instruction: _,
        modifier: _,
        value: _,
        name: _,
        sends,
        waits,
        waits_for_itself,
        reconverges,
        discards,
        ends,
    } = *flow;
    let parts = [
        (sends != 0).then(|| format!("sends for {}", slots(sends))),
        (waits != 0).then(|| format!("waits for {}", slots(waits))),
        waits_for_itself.then(|| "waits for itself".to_owned()),
        reconverges.then(|| "reconverges".to_owned()),
        discards.then(|| "helper threads end".to_owned()),
        ends.then(|| "ends".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
