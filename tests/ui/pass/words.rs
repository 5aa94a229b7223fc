//! Words of all sizes, instructions with nothing in them and with nothing but one number.

isaforge::isa! { "specs/w8.yaml" }
isaforge::isa! { "specs/whole8.yaml" }
isaforge::isa! { "specs/lonely.yaml" }
isaforge::isa! { "specs/whole64.yaml" }
isaforge::isa! { "specs/signed64.yaml" }
isaforge::isa! { spec: "specs/w8.yaml", module: mute, text: false, }
isaforge::isa! { spec: "specs/w8.yaml", module: idle, semantics: none, tests: false }

fn main() {
    assert_eq!(w8::decode(1).map(|i| i.to_string()).as_deref(), Ok("GO"));
    assert!(w8::decode(2).is_err());
    assert_eq!(mute::decode(1).map(mute::Instruction::encode), Ok(1));
    assert_eq!(format!("{:?}", mute::decode(1)), "Ok(0x1)");
    assert_eq!("STOP".parse().map(idle::Instruction::encode), Ok(0));
    assert_eq!("STOP".parse().map(lonely::Instruction::encode), Ok(0xff));
    assert!(lonely::decode(0xfe).is_err());
    for word in 0..=u8::MAX {
        let text = whole8::decode(word).map(|i| i.to_string());
        assert_eq!(text, Ok(format!("SAY #{}", word as i8)));
    }
    for number in [0, 1, i64::MAX, i64::MIN, -1] {
        let say = signed64::Say::new(number).expect("every number fits");
        assert_eq!((say.what(), say.encode()), (number, number as u64));
        let say: signed64::Instruction = format!("SAY #{number}").parse().expect("every number can be written");
        assert_eq!(say.encode(), number as u64);
        let say: whole64::Instruction =
            format!("SAY #{:#x}", number as u64).parse().expect("every number can be written");
        assert_eq!(say.encode(), number as u64);
    }
}
