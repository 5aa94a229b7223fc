//! The banks of a machine, whether its instructions are words or a stream.

use crate::model::{self, Isa};
use crate::stream::model::Bank;

/// The banks of an instruction set of words or a stream.
pub(crate) fn banks(isa: &Isa) -> Vec<Bank> {
    if let Some(stream) = isa.stream() {
        return stream.banks.clone();
    }
    let bank = |bank: &model::Bank| Bank {
        name: bank.name.clone(),
        doc: bank.doc.clone(),
        span: bank.span,
        count: bank.count,
        width: bank.width,
        prints: bank.prints.clone(),
        names: Vec::new(),
        also: Vec::new(),
    };
    isa.banks.iter().map(bank).collect()
}
