//! The tables of a stream as a `static`.

use isaforge_core::semantics::Node;
use isaforge_core::stream::{
    Bank, Branch, Constants, Expression, Field, Input, Instruction, Layout, Lookup, Notation, Operand, Piece, Quick,
    Role, Set, Source, Stream, Tested, Token, Tree, Type, Wide,
};
use isaforge_core::table::{Base, Enum};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use crate::backend::rust::tables::{hexadecimal, n, provenance};

fn wide(word: Wide) -> TokenStream {
    if word.0[1..].iter().all(|chunk| *chunk == 0) {
        let low = hexadecimal(word.0[0]);
        return quote!(Wide::new(#low));
    }
    let chunks = word.0.map(hexadecimal);
    quote!(Wide([#(#chunks),*]))
}

fn variant(value: impl std::fmt::Debug) -> Ident {
    format_ident!("{}", format!("{value:?}"))
}

fn option(value: Option<impl Into<i128>>) -> TokenStream {
    value.map(n).map_or_else(|| quote!(None), |value| quote!(Some(#value)))
}

fn enumeration(e: &Enum) -> TokenStream {
    let (name, doc, default) = (e.name, e.doc, option(e.default));
    let values = e.values.iter().map(|v| {
        let (bits, name, text, doc) = (hexadecimal(v.bits), v.name, v.text, v.doc);
        quote!(Value { bits: #bits, name: #name, text: #text, doc: #doc })
    });
    quote!(Enum { name: #name, doc: #doc, values: &[#(#values),*], dotted: &[], default: #default })
}

fn bank(b: &Bank) -> TokenStream {
    let Bank { name, doc, open, close, names, .. } = b;
    let (count, width) = (n(b.count), n(b.width));
    let also = b.also.iter().map(|(name, number)| {
        let number = n(*number);
        quote!((#name, #number))
    });
    quote!(Bank {
        name: #name, doc: #doc, count: #count, width: #width, open: #open, close: #close,
        names: &[#(#names),*], also: &[#(#also),*],
    })
}

fn branch(branch: &Branch) -> TokenStream {
    match *branch {
        Branch::Nothing => quote!(Branch::Nothing),
        Branch::One(candidate) => {
            let candidate = n(candidate);
            quote!(Branch::One(#candidate))
        }
        Branch::List(list) => {
            let list = n(list);
            quote!(Branch::List(#list))
        }
        Branch::Look { shift, width, first } => {
            let (shift, width, first) = (n(shift), n(width), n(first));
            quote!(Branch::Look { shift: #shift, width: #width, first: #first })
        }
    }
}

fn tree(tree: &Tree) -> TokenStream {
    let (root, branches) = (branch(&tree.root), tree.branches.iter().map(branch));
    let lists = tree.lists.iter().map(|list| {
        let list = list.iter().map(|candidate| n(*candidate));
        quote!(&[#(#list),*])
    });
    quote!(Tree { root: #root, branches: &[#(#branches),*], lists: &[#(#lists),*] })
}

fn set(s: &Set) -> TokenStream {
    let Set { name, doc, parameters, .. } = s;
    let (bits, first, count, tree) = (n(s.bits), n(s.first), n(s.count), tree(&s.tree));
    quote!(Set {
        name: #name, doc: #doc, bits: #bits, parameters: &[#(#parameters),*], first: #first, count: #count, tree: #tree,
    })
}

fn notation(notation: &Notation) -> TokenStream {
    let Notation { upper, prefix, plus, quiet_zero, wraps, call, .. } = notation;
    let (radix, digits) = (n(notation.radix), n(notation.digits));
    let target = notation.target.map(|target| {
        let unit = n(target.unit);
        let base = match target.base {
            Base::Fixed(address) => {
                let address = hexadecimal(address);
                quote!(Base::Fixed(#address))
            }
            base => {
                let base = variant(base);
                quote!(Base::#base)
            }
        };
        quote!(Target { base: #base, unit: #unit })
    });
    let target = target.map_or_else(|| quote!(None), |target| quote!(Some(#target)));
    quote!(Notation {
        radix: #radix, upper: #upper, digits: #digits, prefix: #prefix, plus: #plus, quiet_zero: #quiet_zero, wraps: #wraps,
        target: #target, call: #call,
    })
}

fn pieces(pieces: &[Piece]) -> TokenStream {
    let pieces = pieces.iter().map(|piece| {
        let (at, width) = (n(piece.at), n(piece.width));
        quote!(Piece { at: #at, width: #width })
    });
    quote!([#(#pieces),*])
}

fn lookup(lookup: &Lookup) -> TokenStream {
    let (of, allowed) = (pieces(&lookup.pieces), lookup.allowed.iter().map(|row| hexadecimal(*row)));
    quote!(Lookup { pieces: #of, allowed: &[#(#allowed),*] })
}

fn constants(c: &Constants) -> TokenStream {
    let [mask, fixed, value] = [c.mask, c.fixed, c.value].map(hexadecimal);
    quote!(Constants { mask: #mask, fixed: #fixed, value: #value })
}

fn quick(q: &Quick) -> TokenStream {
    let (low, lookups) = (constants(&q.low), q.lookups.iter().map(lookup));
    let (conditions, len) = (n(q.conditions), n(q.len));
    let more = q.more.map(|more| {
        let (high, trees) = (more.high.iter().map(constants), more.trees.iter().map(tree));
        quote!(More { high: &[#(#high),*], trees: &[#(#trees),*] })
    });
    let more = more.map_or_else(|| quote!(None), |more| quote!(Some(&#more)));
    let lengths = q.lengths.map(tree);
    let lengths = lengths.map_or_else(|| quote!(None), |lengths| quote!(Some(&#lengths)));
    quote!(Quick {
        low: #low, lookups: &[#(#lookups),*], conditions: #conditions, len: #len, lengths: #lengths, more: #more,
    })
}

fn tested(t: &Tested) -> TokenStream {
    let (generation, tests) = (n(t.generation), t.tests.iter().map(|test| n(*test)));
    quote!(Tested { generation: #generation, tests: &[#(#tests),*] })
}

fn field(f: &Field) -> TokenStream {
    let Field { name, doc, signed, .. } = f;
    let source = match &f.source {
        Source::Bits(of) => {
            let of = pieces(of);
            quote!(Source::Bits(&#of))
        }
        Source::Computed { value, inverse } => {
            let value = n(*value);
            let inverse = inverse.iter().map(|(field, expression)| {
                let (field, expression) = (n(*field), n(*expression));
                quote!((#field, #expression))
            });
            quote!(Source::Computed { value: #value, inverse: &[#(#inverse),*] })
        }
        Source::Outer(parameter) => {
            let parameter = n(*parameter);
            quote!(Source::Outer(#parameter))
        }
    };
    let ty = match &f.ty {
        Type::Number(of) => {
            let of = notation(of);
            quote!(Type::Number(#of))
        }
        Type::Enum(e, otherwise) => {
            let (e, otherwise) = (n(*e), otherwise.as_ref().map(notation));
            let otherwise = otherwise.map_or_else(|| quote!(None), |of| quote!(Some(#of)));
            quote!(Type::Enum(#e, #otherwise))
        }
        Type::Register(bank) => {
            let bank = n(*bank);
            quote!(Type::Register(#bank))
        }
        Type::Set(set, arguments) => {
            let (set, arguments) = (n(*set), arguments.iter().map(|a| n(*a)));
            quote!(Type::Set(#set, &[#(#arguments),*]))
        }
        Type::Float(width) => {
            let width = n(*width);
            quote!(Type::Float(#width))
        }
    };
    let (width, default, leaves) = (n(f.width), hexadecimal(f.default), hexadecimal(f.leaves));
    quote!(Field {
        name: #name, doc: #doc, source: #source, width: #width, signed: #signed, default: #default, ty: #ty, leaves: #leaves,
    })
}

fn token(token: &Token) -> TokenStream {
    match token {
        Token::Text(text) => {
            let text = text.str;
            quote!(Token::Text(Text::new(#text)))
        }
        Token::Field(field) => {
            let field = n(*field);
            quote!(Token::Field(#field))
        }
        Token::Column(column) => {
            let column = n(*column);
            quote!(Token::Column(#column))
        }
        Token::If(condition, tokens) => {
            let (condition, tokens) = (n(*condition), tokens.iter().map(self::token));
            quote!(Token::If(#condition, &[#(#tokens),*]))
        }
        Token::Bits(field, of) => {
            let (field, of) = (n(*field), notation(of));
            quote!(Token::Bits(#field, #of))
        }
        Token::Aside(tokens) => {
            let tokens = tokens.iter().map(self::token);
            quote!(Token::Aside(&[#(#tokens),*]))
        }
    }
}

fn role(role: Role) -> TokenStream {
    let role = variant(role);
    quote!(Role::#role)
}

fn layout(l: &Layout) -> TokenStream {
    let Layout { name, key, simple, .. } = l;
    let (opcode, role, bits, length) = (n(l.opcode), role(l.role), n(l.bits), option(l.length));
    let (since, until) = (n(l.since), n(l.until));
    let [mask, value, fixed_mask, fixed_value, ignored] =
        [l.mask, l.value, l.fixed_mask, l.fixed_value, l.ignored].map(wide);
    let [conditions, otherwise] = [l.conditions, l.otherwise].map(|list| list.iter().map(|c| n(*c)));
    let (fields, text) = (l.fields.iter().map(field), l.text.iter().map(token));
    let operands = l.operands.iter().map(|Operand { field, access, size, sized }| {
        let (field, size, sized) = (n(*field), n(*size), option(*sized));
        let access = variant(*access);
        quote!(Operand { field: #field, access: Access::#access, size: #size, sized: #sized })
    });
    quote!(Layout {
        name: #name, opcode: #opcode, role: #role, bits: #bits, length: #length, since: #since, until: #until,
        mask: #mask, value: #value, fixed_mask: #fixed_mask, fixed_value: #fixed_value, ignored: #ignored,
        conditions: &[#(#conditions),*], otherwise: &[#(#otherwise),*], fields: &[#(#fields),*], text: &[#(#text),*], key: #key,
        operands: &[#(#operands),*], simple: #simple,
    })
}

fn instruction(i: &Instruction) -> TokenStream {
    let Instruction { name, title, doc, unit, source, note, .. } = i;
    let (provenance, preferred) = (provenance(i.provenance), i.preferred.iter().map(|p| n(*p)));
    quote!(Instruction {
        name: #name, title: #title, doc: #doc, unit: #unit, source: #source, provenance: #provenance, note: #note,
        preferred: &[#(#preferred),*],
    })
}

fn expression(e: &Expression) -> TokenStream {
    let text = e.text;
    let nodes = e.nodes.iter().map(|Node { op, imm, ty, args }| {
        let (op, imm, args) = (variant(op), n(*imm), args.map(n));
        let (class, bits, lanes) = (variant(ty.class), n(ty.bits), n(ty.lanes));
        quote!(ir::Node {
            op: ir::Op::#op, imm: #imm, ty: ir::Type { class: ir::Class::#class, bits: #bits, lanes: #lanes }, args: [#(#args),*],
        })
    });
    let (lists, constants) = (e.lists.iter().map(|l| n(*l)), e.constants.iter().map(|c| hexadecimal(*c)));
    let inputs = e.inputs.iter().map(|input| match input {
        Input::Field(field) => {
            let field = n(*field);
            quote!(Input::Field(#field))
        }
        Input::Generation => quote!(Input::Generation),
        Input::Length => quote!(Input::Length),
    });
    quote!(Expression {
        text: #text, nodes: &[#(#nodes),*], lists: &[#(#lists),*], constants: &[#(#constants),*], inputs: &[#(#inputs),*],
    })
}

/// Generates a module `tables` with `STREAM`.
pub(super) fn emit(stream: &Stream) -> TokenStream {
    let Stream { name, doc, exclusive, asides, .. } = stream;
    if stream.sequence.is_some() {
        return quote!(compile_error!("instructions that are sequences of operands have no crate; the command reads and writes them"););
    }
    let (unit, longest, swap) = (n(stream.unit), n(stream.longest), n(stream.swap));
    let (first, last) = (n(stream.generations.0), n(stream.generations.1));
    let generation_names = stream.generation_names.iter().map(|(name, number)| {
        let number = n(*number);
        quote!((#name, #number))
    });
    let (enums, banks) = (stream.enums.iter().map(enumeration), stream.banks.iter().map(bank));
    let (sets, layouts) = (stream.sets.iter().map(set), stream.layouts.iter().map(layout));
    let instructions = stream.instructions.iter().map(instruction);
    let expressions = stream.expressions.iter().map(expression);
    let (quick, tested) = (stream.quick.iter().map(quick), stream.tested.iter().map(tested));
    quote! {
        mod tables {
            #[allow(unused_imports, reason = "which of the shapes occur depends on the instruction set")]
            use super::__rt::{
                semantics as ir,
                stream::*,
                table::{Access, Base, Enum, Provenance, Target, Value},
                text::Text,
            };

            pub(super) static STREAM: Stream = Stream {
                name: #name,
                doc: #doc,
                unit: #unit,
                longest: #longest,
                swap: #swap,
                generations: (#first, #last),
                exclusive: #exclusive,
                asides: #asides,
                generation_names: &[#(#generation_names),*],
                sequence: None,
                enums: &[#(#enums),*],
                banks: &[#(#banks),*],
                sets: &[#(#sets),*],
                layouts: &[#(#layouts),*],
                instructions: &[#(#instructions),*],
                expressions: &[#(#expressions),*],
                quick: &[#(#quick),*],
                tested: &[#(#tested),*],
            };
        }
    }
}
