//! Fields in pieces, shared by operands, wider and narrower than what they name.

isaforge::isa! { "specs/fields.yaml" }

use all_fields::{Add, EncodeError, Instruction, Load, Memory, Narrow, Scalar, Source, Sparse, Table, Vector, Wait};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let scalar = |n| Source::Scalar(Scalar::new(n).expect("there are 64"));
    let add = Add::new(scalar(33), Source::Number(-8), Sparse::Many)?.with_wait(Wait::All).with_a_neg(true);
    let text = "ADD.all.many s33.neg, -8";
    assert_eq!(Instruction::from(add).to_string(), text);
    assert_eq!(text.parse::<Instruction>()?, add.into());
    assert_eq!((add.wait(), add.sparse(), add.a(), add.b()), (Wait::All, Sparse::Many, scalar(33), Source::Number(-8)));
    assert_eq!(add.with_b(scalar(34))?.b(), scalar(34));
    // Both would have to be on one page.
    assert!(matches!(add.with_b(scalar(1)), Err(EncodeError::Conflict { field: "page", .. })));
    assert_eq!(add.with_a(Source::Zero)?.encode() >> 30, 0, "nothing uses the page any more");
    let error = "ADD.many s1, s2".parse::<Instruction>().expect_err("one port");
    assert_eq!(error.to_string(), "too many scalars: at most 1 in one instruction");

    let error = add.with_b(Source::Number(8)).expect_err("four bits with a sign");
    assert_eq!(error, EncodeError::OutOfRange { field: "value", least: -8, greatest: 7 });

    let vector = |n| Vector::new(n).expect("there are 16");
    let acc = all_fields::Accumulator::new(0).expect("there is one");
    let load = Load::new(vector(13), 0xbeef, acc, -16)?;
    assert_eq!((load.dst(), load.number(), load.acc(), load.step()), (vector(13), 0xbeef, acc, -16));
    assert_eq!(load.with_dst(vector(2)).with_number(1).dst(), vector(2));
    assert!(load.with_step(16).is_err());

    // A register that the field cannot name is an error, not another register.
    let named = |n| Scalar::new(n).expect("there are 64");
    let from = Memory::new(65535).expect("there are 65536");
    let entry = |n| Table::new(n).expect("there are 5");
    let narrow = Narrow::new(named(7), from, entry(4))?;
    assert!(Narrow::new(named(8), from, entry(4)).is_err());
    assert!(narrow.with_dst(named(63)).is_err());
    // An operand called `from` is not in the way of the trait.
    assert_eq!((narrow.from_operand().index(), narrow.entry().value()), (65535, 5));
    assert!("NARROW s8, <1>, #1".parse::<Instruction>().is_err());
    Ok(())
}
