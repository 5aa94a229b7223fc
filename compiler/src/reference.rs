//! The reference of the spec language, derived from the types that read it.
//!
//! `specs/README.md` holds the text between two marker lines; a test fails when it is stale.

use std::fmt::Write;

use crate::keys::{KeyDoc, Vocabulary};
use crate::resolve::arm_xml::spec::{ArmSource, ArmSpec, ArmStaging};
use crate::semantics::spec::EffectSpec;
use crate::spec::{self, Access, Notation, Provenance, TargetKind, Unused};

/// The line that starts the generated part of a document.
pub const BEGIN: &str = "<!-- reference: written by the compiler, do not edit -->";
/// The line that ends it.
pub const END: &str = "<!-- end of reference -->";

fn section<V: Vocabulary>(out: &mut String, title: &str) {
    table(out, title, V::DOC, V::keys());
}

fn table(out: &mut String, title: &str, doc: &str, keys: Vec<KeyDoc>) {
    let _ = writeln!(out, "### {title}\n\n{doc}\n\n| key | | value | meaning |\n|---|---|---|---|");
    for KeyDoc { name, doc, required, expected, .. } in keys {
        let need = if required { "required" } else { "" };
        let _ = writeln!(out, "| `{name}` | {need} | {} | {} |", expected.replace('|', "\\|"), doc.replace('|', "\\|"));
    }
    out.push('\n');
}

fn words(out: &mut String, title: &str, all: impl Iterator<Item = &'static str>) {
    let list: Vec<String> = all.map(|w| format!("`{w}`")).collect();
    let _ = writeln!(out, "- {title}: {}", list.join(", "));
}

/// The vocabulary of groups.
fn groups(out: &mut String) {
    use crate::group::spec as group;

    section::<group::GroupSpec>(out, "`group`: how groups are built");
    section::<group::SlotSpec>(out, "`slots`: a place in a group");
    section::<group::DerivedSpec>(out, "`derived`: a field that follows from the group");
    section::<group::RuleSpec>(out, "`rules`: what a header must be");
    section::<group::PaddingSpec>(out, "`padding`: what fills a group");
    section::<group::ProgramSpec>(out, "`program`: how groups make a program");
    section::<group::BranchSpec>(out, "`targets`: a branch target");
    section::<group::ChoiceSpec>(out, "`choices`: alternative layouts of the same fields");
    section::<group::SharedFieldSpec>(out, "A field of a choice");
    section::<group::RecordSpec>(out, "`records`: a layout");
    section::<group::NarrowPlaceSpec>(out, "A field of a record, in full");
    section::<group::OperationSpec>(out, "`operations`: what a part of a group does");
    section::<group::WireSpec>(out, "`operands`: what stands for registers and wires");
    section::<group::RegisterPlaceSpec>(out, "`register`: where a register is named");
    section::<group::RegisterNameSpec>(out, "`registers`: how registers are written");
}

/// The vocabulary of semantics, and the language of texts.
fn semantics(out: &mut String) {
    use crate::expression::{builtins, parse};
    use crate::semantics::spec as semantics;

    section::<semantics::SemanticsSpec>(out, "`semantics`: what texts may use");
    section::<semantics::StateSpec>(out, "`states`: a register outside of banks");
    section::<semantics::IntrinsicSpec>(out, "`intrinsics`: a function without a text");
    section::<semantics::RegistersSpec>(out, "`registers` of an intrinsic");
    section::<semantics::FidelitySpec>(out, "`fidelity`: how true instructions are to the hardware");
    section::<semantics::EvidenceWords>(out, "`evidence`: what `known` stands for");
    section::<semantics::PreloadSpec>(out, "`preloads`: what programs find at their start");
    section::<semantics::CalleeSpec>(out, "`callees`: a program that others call");
    section::<semantics::FlowSpec>(out, "`flow`: what a modifier of all instructions does after them");
    section::<semantics::FlowValueSpec>(out, "A value of `flow`");
    section::<semantics::MessagesSpec>(out, "`messages`: instructions that go on while others are executed");
    let _ = writeln!(out, "### The grammar of texts\n\n```text\n{}```\n", parse::GRAMMAR);
    out.push_str("### Functions of texts\n\n| call | result |\n|---|---|\n");
    for builtin in builtins::BUILTINS {
        let _ = writeln!(out, "| `{}` | {} |", builtin.call, builtin.doc);
    }
    out.push('\n');
}

/// The vocabulary of machines.
fn machine(out: &mut String) {
    use crate::machine::spec as machine;

    section::<machine::MachineSpec>(out, "`machine`: what executes programs");
    section::<machine::SpaceSpec>(out, "`spaces`: a memory of its own");
    section::<machine::CallSpec>(out, "`calls`: a call to the environment");
    section::<machine::ServiceSpec>(out, "`services`: what a call may ask for");
    section::<machine::WriteSpec>(out, "`write`: a service that writes bytes");
    section::<machine::ExitSpec>(out, "`exit`: a service that ends the program");
}

/// Every key that a specification may have, as Markdown.
pub fn reference() -> String {
    let mut out = String::new();
    section::<spec::File>(&mut out, "A file");
    section::<spec::Credit>(&mut out, "`credits`: a work");
    section::<spec::EnumSpec>(&mut out, "`enums`: names for the values of a field");
    section::<spec::NamedValue>(&mut out, "A value of an enum, in full");
    section::<spec::ConstantsSpec>(&mut out, "`constants`: a table");
    section::<spec::DocumentedConstant>(&mut out, "A constant, in full");
    section::<spec::BankSpec>(&mut out, "`banks`: a bank of registers");
    section::<spec::SharedSpec>(&mut out, "`shared`: a field that operands share");
    section::<spec::KindSpec>(&mut out, "`kinds`: a kind of operand");
    section::<spec::AlternativeSpec>(&mut out, "An alternative of a kind");
    section::<spec::FieldSpec>(&mut out, "A field of an alternative");
    section::<spec::ModifierSpec>(&mut out, "A modifier or suffix");
    section::<spec::EverySpec>(&mut out, "`every`: what all instructions have");
    section::<spec::LimitSpec>(&mut out, "`limits`: a rule on operands");
    section::<spec::LimitException>(&mut out, "`except` of a limit");
    section::<spec::RulingSpec>(&mut out, "`rulings`: a decision");
    section::<spec::InstructionSpec>(&mut out, "`instructions`: an instruction");
    section::<spec::FamilySpec>(&mut out, "`family`: several instructions in one entry");
    section::<spec::OperandSpec>(&mut out, "An operand");
    section::<spec::AliasSpec>(&mut out, "`aliases`: another way to write an instruction");
    section::<spec::NotationSpec>(&mut out, "A number, in full");
    section::<spec::TargetSpec>(&mut out, "`target`: how a branch target counts");
    semantics(&mut out);
    machine(&mut out);
    section::<spec::XmlSpec>(&mut out, "`xml`: a file in the schema of Mesa's Valhall description");
    section::<spec::Opcode2Rule>(&mut out, "`opcode2`: a rule for the place of the secondary opcode");
    section::<spec::SizeRule>(&mut out, "`sizes`: what the end of a name says");
    section::<spec::XmlSources>(&mut out, "`sources`: how `<src>` is encoded");
    section::<spec::SourceField>(&mut out, "A field that an attribute of `<src>` adds");
    section::<spec::XmlDestination>(&mut out, "`destination`: how `dests` is encoded");
    section::<spec::XmlStaging>(&mut out, "`staging`: how `<sr>` is encoded");
    section::<spec::XmlSecondStaging>(&mut out, "`second`: the second list of staging registers");
    section::<spec::XmlImmediates>(&mut out, "`immediates`: how `<imm>` is written");
    section::<spec::XmlTarget>(&mut out, "`targets`: an immediate that is a branch target");
    section::<ArmSpec>(&mut out, "`arm`: a file in the schema of Arm's machine-generated description");
    section::<ArmSource>(&mut out, "`sources` of `arm`: a built-in type of sources");
    section::<ArmStaging>(&mut out, "`staging` of `arm`: how lists of staging registers are written");
    section::<spec::Erratum>(&mut out, "`errata`: a correction");
    groups(&mut out);
    out.push_str("### Words\n\n");
    words(&mut out, "`provenance`", Provenance::ALL.iter().map(|w| w.as_str()));
    words(&mut out, "`access`", Access::ALL.iter().map(|w| w.as_str()));
    words(&mut out, "`number`, `immediate`", Notation::ALL.iter().map(|w| w.as_str()));
    words(&mut out, "`target`", TargetKind::ALL.iter().map(|w| w.as_str()));
    words(&mut out, "`effects`", EffectSpec::ALL.iter().map(|w| w.as_str()));
    words(&mut out, "`unused`", Unused::ALL.iter().map(|w| w.as_str()));
    out
}

/// Returns `document` with its generated part replaced by [`reference()`]; `None` when it has no marker lines.
pub fn refreshed(document: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}{END}{after}", reference()))
}
