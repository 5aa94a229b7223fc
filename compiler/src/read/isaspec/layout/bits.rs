//! Fields for runs of bits, parts of which may already belong to other fields.

use isaforge_core::stream::{Notation, Piece};

use super::{Builder, Owner};
use crate::read::isaspec::c::Operator;
use crate::read::isaspec::graph::{Graph, Value};
use crate::stream::model::{self, Source, Type};

impl Builder<'_, '_, '_> {
    /// A field for a run of bits. If some of them already belong to other fields, it is computed from those.
    pub(super) fn bits(&mut self, name: &str, low: u16, high: u16) -> usize {
        let end = usize::from(high) + 1;
        let range = usize::from(low)..end.min(self.owners.len());
        let width = high - low + 1;
        let free = self.owners[range.clone()].iter().all(|owner| matches!(owner, Owner::Free));
        let source = if free {
            let index = self.layout.fields.len();
            self.owners[range].iter_mut().zip(0..).for_each(|(owner, bit)| *owner = Owner::Field(index, bit));
            Source::Bits(vec![Piece { at: low, width: width as u8 }])
        } else {
            let mut graph = Graph::default();
            let value = self.joined(&mut graph, low, high);
            Source::Computed { value: graph.finish(value, name), inverse: Vec::new() }
        };
        self.push(model::Field {
            name: name.to_owned(),
            doc: String::new(),
            span: self.layout.span,
            source,
            width: width as u8,
            signed: false,
            default: 0,
            ty: Type::Number(Notation::DECIMAL),
        })
    }

    /// Claims the free bits of a run.
    pub(super) fn claim(&mut self, low: u16, high: u16) {
        let mut at = usize::from(low);
        while at <= usize::from(high) {
            let free = |owner: &Owner| matches!(owner, Owner::Free);
            let count = self.owners[at..=usize::from(high)].iter().take(64).take_while(|owner| free(owner)).count();
            if count > 0 {
                self.bits(&format!("bits_{at}"), at as u16, (at + count - 1) as u16);
            }
            at += count.max(1);
        }
    }

    /// The bits of a run, at most 64, from the fields that own them.
    pub(super) fn joined(&mut self, graph: &mut Graph, low: u16, high: u16) -> Value {
        self.claim(low, high);
        let mut value = graph.number(0);
        let mut constant = 0u64;
        let mut at = low;
        while at <= high {
            match self.owners[usize::from(at)] {
                Owner::Free => at += 1,
                Owner::Fixed(set) => {
                    constant |= u64::from(set) << (at - low);
                    at += 1;
                }
                Owner::Field(index, first) => {
                    let same = |bit: u16| {
                        matches!(self.owners[usize::from(bit)],
                            Owner::Field(other, place) if other == index && place == first + (bit - at))
                    };
                    let count = (at..=high).take_while(|bit| same(*bit)).count() as u16;
                    let whole = self.input(graph, index);
                    let shift = graph.number(first.into());
                    let part = graph.binary(Operator::ShiftRight, whole, shift);
                    let part = if first + count < u16::from(self.layout.fields[index].width) {
                        let mask = graph.number(crate::read::isaspec::context::width_mask(count as u8));
                        graph.binary(Operator::And, part, mask)
                    } else {
                        part
                    };
                    let shift = graph.number((at - low).into());
                    let part = graph.binary(Operator::ShiftLeft, part, shift);
                    value = graph.binary(Operator::Or, value, part);
                    at += count;
                }
            }
        }
        let constant = graph.number(constant);
        graph.binary(Operator::Or, constant, value)
    }
}
