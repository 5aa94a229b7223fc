//! What instructions do with their operands, and to control flow.

use isaforge_core::semantics::Op;
use isaforge_core::stream::listing::disassemble;
use isaforge_core::stream::program::assemble;
use isaforge_core::stream::{Engine, branch, registers};
use isaforge_core::table::Access;

use super::{assembled, document, fixture, image, model, of, open, record, scalar, text, with};
use crate::support::bytes;

/// The operands of an instruction with the registers that it reads and writes, as `NAME:ACCESS`, `-REGISTERS` and
/// `+REGISTERS`.
fn accesses(engine: Engine, hex: &str) -> String {
    let decoded = engine.decode(&bytes(hex)).unwrap_or_else(|error| panic!("{hex}: {error}"));
    let layout = engine.scope(&decoded).layout;
    let mut found: Vec<String> = layout
        .operands
        .iter()
        .map(|operand| {
            let access = match operand.access {
                Access::None => "",
                Access::Read => ":r",
                Access::Write => ":w",
                Access::ReadWrite => ":rw",
            };
            format!("{}{access}", layout.fields[usize::from(operand.field)].name)
        })
        .collect();
    for (mark, write) in [("-", false), ("+", true)] {
        registers(engine, &decoded, write, &mut |found_here| {
            let name = |number: u16| engine.stream.banks[usize::from(found_here.bank)].name(number.into()).to_string();
            let last = found_here.first + found_here.count - 1;
            found.push(match found_here.count {
                1 => format!("{mark}{}", name(last)),
                _ => format!("{mark}{}..{}", name(found_here.first), name(last)),
            });
        });
    }
    found.join(" ")
}

/// The same without the operands.
fn registers_of(engine: Engine, hex: &str) -> String {
    let found = accesses(engine, hex);
    found.split(' ').filter(|word| word.starts_with(['-', '+'])).collect::<Vec<_>>().join(" ")
}

#[test]
fn operands_have_the_names_of_the_records_and_their_accesses() {
    let parts = "0111111 vdst:7:0 00000011 src0:8:0";
    let plain = |name: &str, op: &str, ins: &str, text: &str| {
        record(name, "GFX11", &parts.replace("00000011", op), " VGPROp_64:$vdst", ins, text)
    };
    let records = [
        plain("V_MOVE_gfx11", "00000011", " VSrc_f64:$src0, Clamp0:$clamp", "v_move$vdst, $src0"),
        with(
            "Constraints",
            "\\\"@earlyclobber $vdst,$vdst = $vdst_in\\\"",
            plain("V_TIED_gfx11", "00000100", " VSrc_f64:$src0, VGPROp_64:$vdst_in", "v_tied$vdst, $src0"),
        ),
        record(
            "V_HALF_gfx11",
            "GFX11",
            "0111111 vdst:7:0 00000101 src0:8:0",
            " VGPROp_16_Lo128:$vdst",
            " VSrcT_f16_Lo128:$src0",
            "v_half$vdst, $src0",
        ),
        record("S_HINT_gfx11", "GFX11", "1011111110000001 simm16:15:0", "", " i16imm:$simm16", "s_hint $simm16"),
        fixture_line(4),
    ];
    let engine = of("accesses", &records, "gfx1100");
    let rows = [
        ("0407047e", "vdst:w src0:r exec:r -v4..v5 -exec_lo +v2..v3", "v_move v[2:3], v[4:5]"),
        ("0409047e", "vdst:rw src0:r exec:r -v2..v3 -v4..v5 -exec_lo +v2..v3", "v_tied v[2:3], v[4:5]"),
        ("030b047f", "vdst:rw src0:r exec:r -v2 -v3 -exec_lo +v2", "v_half v2.h, v3.l"),
        ("050081bf", "simm16", "s_hint 5"),
        // Neither the offset nor the cache policy is separated from the operand before it.
        (
            "ff0f6ce000050303",
            "vdata:r srsrc:r soffset:r -v5..v6 -s12..s15 -s3",
            "buffer_keep_b64 v[5:6], off, s[12:15], s3 offset:4095",
        ),
    ];
    for (hex, expected, shown) in rows {
        assert_eq!(text(engine, &bytes(hex)).as_deref(), Ok(shown), "{hex}");
        assert_eq!(accesses(engine, hex), expected, "{shown}");
    }
}

/// A line of the fixture.
fn fixture_line(index: usize) -> String {
    let lines = std::fs::read_to_string(fixture()).expect("the fixture is there");
    format!("{}\n", lines.lines().nth(index).expect("the fixture has as many lines"))
}

#[test]
fn registers_with_names_are_registers_and_constants_are_none() {
    let wide = |table: &str| {
        let parts = "101111101 sdst:6:0 00000001 src0:7:0";
        record("S_WIDE", table, parts, " SReg_64:$sdst", " SSrc_b64:$src0", "s_wide $sdst, $src0")
    };
    let narrow = |table: &str| scalar("S_NARROW", table, "00000010", "s_narrow");
    let rows = [
        ("gfx1100", "7e01eabe", "s_wide vcc, exec", "-exec_lo..exec_hi +vcc_lo..vcc_hi"),
        ("gfx1100", "8101fcbe", "s_wide null, 1", ""),
        ("gfx1100", "7c02fdbe", "s_narrow m0, null", "+m0"),
        ("gfx1100", "6c028abe", "s_narrow s10, ttmp0", "-ttmp0 +s10"),
        ("gfx1100", "6c01f6be", "s_wide ttmp[10:11], ttmp[0:1]", "-ttmp0..ttmp1 +ttmp10..ttmp11"),
        ("gfx1030", "7d02fcbe", "s_narrow m0, null", "+m0"),
        ("gfx1030", "6801e6be", "s_wide s[102:103], s[104:105]", "-s104..s105 +s102..s103"),
        (
            "gfx908",
            "6801e6be",
            "s_wide flat_scratch, xnack_mask",
            "-xnack_mask_lo..xnack_mask_hi +flat_scratch_lo..flat_scratch_hi",
        ),
    ];
    for (generation, hex, shown, expected) in rows {
        let table = match generation {
            "gfx1100" => "GFX11",
            "gfx1030" => "GFX10",
            _ => "GFX9",
        };
        let engine = of(&format!("named-{generation}"), &[wide(table), narrow(table)], generation);
        assert_eq!(text(engine, &bytes(hex)).as_deref(), Ok(shown), "{hex}");
        assert_eq!(assembled(engine, shown).as_deref(), Ok(hex), "{shown}");
        assert_eq!(registers_of(engine, hex), expected, "{shown}");
    }
}

#[test]
fn registers_may_be_accessed_without_an_operand() {
    let compare = |name: &str, table: &str| {
        let parts = "0111110 01010101 src1:7:0 src0:8:0";
        let ins = " VSrc_b32:$src0, VGPR_32:$src1";
        record(name, table, parts, "", ins, "v_cmp_two $src0, $src1")
    };
    let add = |table: &str| scalar("S_ADD_I32_gfx", table, "00000011", "s_add_i32");
    let carry = |table: &str| scalar("S_ADDC_U32_gfx", table, "00000100", "s_addc_u32");
    let rows = [
        ("gfx1100", "V_CMP_TWO_e32_gfx11", "-v5 -v0 -exec_lo +vcc_lo"),
        ("gfx908", "V_CMP_TWO_e32_vi", "-v5 -v0 -exec_lo..exec_hi +vcc_lo..vcc_hi"),
        ("gfx1100", "V_CMPX_TWO_e32_gfx11", "-v5 -v0 -exec_lo +exec_lo"),
        ("gfx908", "V_CMPX_TWO_e32_vi", "-v5 -v0 -exec_lo..exec_hi +vcc_lo..vcc_hi +exec_lo..exec_hi"),
    ];
    for (generation, name, expected) in rows {
        let table = if generation == "gfx908" { "GFX9" } else { "GFX11" };
        let engine = of(&format!("implied-{name}"), &[compare(name, table), add(table), carry(table)], generation);
        assert_eq!(registers_of(engine, "0501aa7c"), expected, "{name}");
        assert_eq!(registers_of(engine, "030382be"), "-s3 +s2 +scc");
        assert_eq!(registers_of(engine, "030482be"), "-s3 -scc +s2 +scc");
    }
}

#[test]
fn the_data_of_an_image_instruction_are_as_many_registers_as_it_says() {
    let path = document("image-registers", &[image(5, 1)]);
    let engine = open(&path, "gfx1010").unwrap_or_else(|why| panic!("{why}"));
    // One component is in the mask, then three.
    for (hex, data) in [("0a0154f10201020003040506", "+v1"), ("0a0754f10201020003040506", "+v1..v3")] {
        let found = accesses(engine, hex);
        assert!(found.ends_with(data) && found.contains("-s8..s15"), "{found}");
        assert!(found.contains("-v2 -v3 -v4 -v5 -v6") && found.contains("-exec_lo"), "{found}");
    }
}

/// Instructions that lead elsewhere.
fn jumps() -> Vec<String> {
    let target = |name: &str, op: &str, text: &str| {
        let parts = format!("1011111110{op} simm16:15:0");
        with("isTerminator", "1", record(name, "GFX11", &parts, "", " SOPPBrTarget:$simm16", text))
    };
    let call = record(
        "S_CALL_B64_gfx11",
        "GFX11",
        "101100000 sdst:6:0 simm16:15:0",
        " SReg_64:$sdst",
        " SOPPBrTarget:$simm16",
        "s_call_b64 $sdst, $simm16",
    );
    let stop = record("S_STOP_gfx11", "GFX11", "10111111100000010000000000000000", "", "", "s_stop");
    vec![
        with("isBranch", "1", target("S_BRANCH_gfx11", "000010", "s_branch $simm16")),
        with("isBranch", "1", target("S_PERHAPS_gfx11", "000011", "s_perhaps $simm16")),
        call,
        with("isTerminator", "1", stop),
        with("isBranch", "1", target("S_CBRANCH_SCC1_gfx11", "000100", "s_cbranch_scc1 $simm16")),
        scalar("S_MOVE_gfx11", "GFX11", "00000010", "s_move"),
    ]
}

#[test]
fn branch_targets_count_words_from_the_next_instruction() {
    let engine = of("targets", &jumps(), "gfx1100");
    let rows = [
        ("000082bf", "s_branch 0", 0x104),
        ("030082bf", "s_branch 3", 0x110),
        ("ffff82bf", "s_branch 65535", 0x100),
        ("c0ff83bf", "s_perhaps 65472", 4),
        ("ff7f82bf", "s_branch 32767", 0x20100),
        ("feff04b0", "s_call_b64 s[4:5], 65534", 0xfc),
    ];
    for (hex, shown, target) in rows {
        let decoded = engine.decode(&bytes(hex)).expect("it is an instruction");
        assert_eq!(branch(engine, &decoded, 0x100), Some((target, false)), "{shown}");
        assert_eq!(text(engine, &bytes(hex)).as_deref(), Ok(shown), "{hex}");
        assert_eq!(assembled(engine, shown).as_deref(), Ok(hex), "{shown}");
    }
    assert_eq!(assembled(engine, "s_branch -1").as_deref(), Ok("ffff82bf"));
    assert!(assembled(engine, "s_branch 65536").is_err() && assembled(engine, "s_branch -32769").is_err());
    let program = bytes("010083bf000081bfffff82bf");
    let mut listing = String::new();
    assert_eq!(disassemble(engine, &program, &mut listing), 0);
    assert_eq!(listing, "s_perhaps l2\ns_stop\nl2:\ns_branch l2\n");
    assert_eq!(assemble(engine, &listing).as_deref(), Ok(&program[..]));
}

#[test]
fn records_and_the_table_say_how_control_flow_goes_on() {
    let isa = model(&document("flow", &jumps()), "gfx1100").unwrap_or_else(|why| panic!("{why}"));
    let semantics = isa.semantics.as_ref().expect("branches have texts");
    let names = isa.stream().into_iter().flat_map(|stream| &stream.instructions).map(|one| &one.name[..]);
    let flow = names.zip(&semantics.operations).map(|(name, operation)| {
        let nodes = operation.iter().flat_map(|operation| &operation.built.nodes);
        let ops: Vec<Op> = nodes.map(|node| node.op).collect();
        let depends = operation.as_ref().is_some_and(|operation| operation.text.starts_with("if "));
        (name, ops.contains(&Op::Branch), depends, ops.contains(&Op::Write), ops.contains(&Op::End))
    });
    // The name, whether it branches, whether it has a condition, whether it keeps an address, whether it ends.
    let expected = [
        ("S_BRANCH_gfx11", true, false, false, false),
        ("S_PERHAPS_gfx11", false, false, false, false),
        ("S_CALL_B64_gfx11", true, false, true, false),
        ("S_STOP_gfx11", false, false, false, true),
        ("S_CBRANCH_SCC1_gfx11", true, true, false, false),
        ("S_MOVE_gfx11", false, false, false, false),
    ];
    assert_eq!(flow.collect::<Vec<_>>(), expected);
    let unknown = [1, 5].map(|index: usize| semantics.operations[index].is_none());
    assert_eq!(unknown, [true, true], "a condition of which nothing is known, and what leads nowhere else");
}
