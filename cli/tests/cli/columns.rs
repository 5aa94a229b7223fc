//! Numbers in lines: addresses, counters, decimals, and the marks that other tools put in front.

use super::*;

const TEXT: &str = "MOV.i32 r1, r2\nMOV.i32 r3, r4\nMOV.i32 r5, r6\nMOV.i32 r7, r8\n";

fn dis(text: impl AsRef<[u8]>) -> Run {
    isaforge_with(&["dis", "valhall"], text)
}

#[test]
fn addresses_counters_and_decimals_are_told_from_code() {
    for (text, note) in [
        // hexdump -e '"%08_ax  " 2/4 "%08x " "\n"'
        (
            "00000000  00000002 0091c100 \n00000008  00000004 0091c300 \n00000010  00000006 0091c500 \n\
             00000018  00000008 0091c700 \n",
            "without the first number of each line",
        ),
        // hexdump -e '"%_ad  " 1/8 "%016x " "\n"'
        (
            "0  0091c10000000002 \n8  0091c30000000004 \n16  0091c50000000006 \n24  0091c70000000008 \n",
            "without the first number of each line",
        ),
        // cat -n, nl -ba
        (
            "     1\t0091c10000000002\n     2\t0091c30000000004\n     3\t0091c50000000006\n     4\t0091c70000000008\n",
            "without the first number of each line",
        ),
        (
            "0,0091c10000000002\n1,0091c30000000004\n2,0091c50000000006\n3,0091c70000000008\n",
            "without the first number of each line",
        ),
        (
            "0 02 00 00 00 00 c1 91 00\n8 04 00 00 00 00 c3 91 00\n16 06 00 00 00 00 c5 91 00\n\
             24 08 00 00 00 00 c7 91 00\n",
            "without the first number of each line",
        ),
        // od -An -tu1
        (
            "   2   0   0   0   0 193 145   0   4   0   0   0   0 195 145   0\n   \
             6   0   0   0   0 197 145   0   8   0   0   0   0 199 145   0\n",
            "as decimal bytes",
        ),
        // od -tu1
        (
            "0000000   2   0   0   0   0 193 145   0   4   0   0   0   0 195 145   0\n\
             0000020   6   0   0   0   0 197 145   0   8   0   0   0   0 199 145   0\n0000040\n",
            "as decimal bytes without the first number of each line",
        ),
        // od -An -tx4
        (
            " 00000002 0091c100 00000004 0091c300\n 00000006 0091c500 00000008 0091c700\n",
            "with each number as a value of its own",
        ),
    ] {
        let run = dis(text).expect(0);
        assert_eq!(run.out(), TEXT, "{text}{}", run.err);
        assert!(run.err.contains(&format!("note: read {note}")), "{text}{}", run.err);
    }
    let run = dis("0x00000002\n0x0091c100\n").expect(0);
    assert_eq!(run.out(), "MOV.i32 r1, r2\n");
    assert!(!run.err.contains("addresses"), "{}", run.err);
    // A star stands for lines like the one before, up to the next address.
    let run = dis("0000000   2   0   0   0   0 193 145   0\n*\n0000040\n").expect(0);
    assert_eq!(run.out(), "MOV.i32 r1, r2\n".repeat(4));
    // If no reading is code, the digits are shown as they are written.
    let run = dis("1 ffffffffffffffff\n2 ffffffffffffffff\n").expect(1);
    assert!(!run.err.contains("note: read"), "{}", run.err);
    // Octal digits without addresses are too much like others.
    let run = dis("300 000 000 000 000 300 020 151\n".repeat(8)).expect(1);
    assert!(run.err.contains("note: 0 of 12 instructions decode, so these digits may be something"), "{}", run.err);
}

#[test]
fn what_is_pasted_with_marks_or_directives_is_read() {
    for text in [
        "\t.text\nshader:\n\t.quad 0x0091c10000000002, 0x0091c30000000004\n\t.quad 0x0091c50000000006 # more\n\
         \t.quad 0x0091c70000000008\n",
        ".byte 0x02,0,0,0,0,0xc1,0x91,0\n.byte 4,0,0,0,0,0xc3,0x91,0\n.byte 6,0,0,0,0,0xc5,0x91,0\n\
         .byte 8,0,0,0,0,0xc7,0x91,0\n",
        ".long 0x2, 0x91c100\n.long 0x4, 0x91c300\n.long 6\n.long 0x91c500\n.long 8, 0x91c700\n",
        "> 0091c10000000002\n> 0091c30000000004\n>\n> 0091c50000000006\n> 0091c70000000008\n",
        "+0091c10000000002\n+0091c30000000004\n+0091c50000000006\n+0091c70000000008\n",
        "diff --git a/s.hex b/s.hex\nindex 1..2 100644\n--- a/s.hex\n+++ b/s.hex\n@@ -1,3 +1,4 @@\n 0091c10000000002\n\
         -0091c30000000008\n+0091c30000000004\n+0091c50000000006\n 0091c70000000008\n",
        "(2, 0, 0, 0, 0, 193, 145, 0, 4, 0, 0, 0, 0, 195, 145, 0, 6, 0, 0, 0, 0, 197, 145, 0, 8, 0, 0, 0, 0, 199, 145, 0)",
        "code = (0x91c10000000002, 0x91c30000000004,\n        0x91c50000000006, 0x91c70000000008)\n",
    ] {
        let run = dis(text).expect(0);
        assert_eq!((run.out(), run.err.as_str()), (TEXT, ""), "{text}");
    }
    let run = isaforge(&["explain", "valhall", "0x0091c10000000002ULL"]).expect(0);
    assert_eq!(run.out(), isaforge(&["explain", "valhall", "0x0091c10000000002"]).expect(0).out());
}

#[test]
fn a_text_without_code_says_so() {
    for text in ["", "\n", "# header\n", "// nothing\n; here\n", "/*0000*/ /* 0x0091c10000000002 */\n"] {
        let run = dis(text).expect(0);
        assert_eq!((run.out(), run.err.as_str()), ("", "<stdin>: note: there is no code in it\n"), "{text}");
    }
}
