//! A fast test for each form that most of its valid words pass and no invalid word does.
//!
//! Every constraint of a form (an enum with reserved values, a list of registers that must be aligned, an operand with
//! undefined codes) is a predicate over one or two runs of bits. Constraints are packed into a few windows of at most two
//! runs; a window is a bit set indexed by its bits. Shared fields are compared with their default. What does not fit makes
//! the form undecidable for the test, and its words take the exact path.

use std::collections::HashMap;

use isaforge_core::bits::ones;
use isaforge_core::decode::{Quick, WINDOWS, Window};
use isaforge_core::table::{Field, Form, Isa, Kind, Shape, Type};

/// The most bits that index a window.
const WINDOW_BITS: u32 = 12;

/// A run of bits: shift and width.
type Run = (u32, u32);

struct Constraint<'a> {
    runs: Vec<Run>,
    /// Whether a word with these bits, others zero, satisfies it.
    allows: Box<dyn Fn(u64) -> bool + 'a>,
}

/// The tests of all forms and the bit sets they share.
pub(super) fn tests(isa: &'static Isa) -> (Vec<Quick>, Vec<u64>) {
    let mut sets = vec![u64::MAX];
    let mut known = HashMap::new();
    let quick = isa.forms.iter().map(|form| test(isa, form, &mut sets, &mut known)).collect();
    (quick, sets)
}

fn test(isa: &'static Isa, form: &'static Form, sets: &mut Vec<u64>, known: &mut HashMap<Vec<u64>, u16>) -> Quick {
    let always = Window { low: (0, 0), high: (0, 0), first: 0 };
    let mut quick = Quick { mask: form.fixed_mask, value: form.fixed_value, windows: [always; WINDOWS] };
    let constraints = constraints(isa, form);
    for shared in isa.shared.iter().filter(|s| s.bits.mask(0) & form.fixed_mask == 0) {
        quick.mask |= shared.bits.mask(0);
        quick.value = shared.bits.set(quick.value, 0, shared.default);
    }
    match pack(&constraints) {
        Some(windows) => {
            for (slot, (runs, members)) in quick.windows.iter_mut().zip(&windows) {
                *slot = window(runs, members.iter().map(|m| &constraints[*m]), sets, known);
            }
        }
        // Never equal: the exact path decides.
        None => (quick.mask, quick.value) = (0, 1),
    }
    quick
}

fn constraints(isa: &'static Isa, form: &'static Form) -> Vec<Constraint<'static>> {
    let mut constraints = Vec::new();
    let suffixes = form.operands.iter().flat_map(|o| o.suffixes);
    for modifier in form.modifiers.iter().chain(suffixes) {
        if let Type::Enum(e) = modifier.ty {
            let (e, bits) = (&isa.enums[e as usize], modifier.bits);
            if (0..=ones(bits.width().min(16))).any(|v| !e.defines(v)) {
                let runs = bits.pieces().map(|(p, _)| (u32::from(p.at), u32::from(p.width))).collect();
                constraints.push(Constraint { runs, allows: Box::new(move |w| e.defines(bits.get(w, 0))) });
            }
        }
    }
    for operand in form.operands {
        // Judged alone: an operand is fine if a form with no other operand would decode.
        let judge: fn(&'static Isa, &'static Form, usize, u64) -> bool =
            |isa, form, index, word| isaforge_core::decode::operand_is_valid(isa, form, &form.operands[index], word);
        let index = form.operands.iter().position(|o| std::ptr::eq(o, operand)).unwrap_or(0);
        let defaults = isa.shared.iter().fold(0, |w, s| s.bits.set(w, 0, s.default));
        let allows = move |word: u64| judge(isa, form, index, word | defaults);
        match &operand.shape {
            Shape::Number { .. } => {}
            Shape::One { kind, .. } if is_total(isa, &isa.kinds[*kind as usize]) => {}
            Shape::One { kind, at } => {
                let width = u32::from(isa.kinds[*kind as usize].width);
                if let Some(run) = needed_top(u32::from(*at), width, &allows) {
                    let rest = ones(width - run.1) << at;
                    let low = u32::from(*at);
                    let whole = move |word: u64| (0..=rest >> low).all(|r| allows((word & !rest) | r << low));
                    constraints.push(Constraint { runs: vec![run], allows: Box::new(whole) });
                }
            }
            Shape::List { kind, at, count, .. } => {
                let field = &isa.kinds[*kind as usize].alternatives[0].fields[0];
                let register = field.bits.pieces().map(|(p, _)| (u32::from(p.at + at), u32::from(p.width)));
                let counter = count.bits.iter().flat_map(|b| b.pieces().map(|(p, _)| (u32::from(p.at), u32::from(p.width))));
                constraints.push(Constraint { runs: register.chain(counter).collect(), allows: Box::new(allows) });
            }
        }
    }
    constraints
}

/// True when a kind reads every value of its bits: its readings, which never overlap, cover all of them, and each of their
/// fields has a meaning whatever it holds.
fn is_total(isa: &Isa, kind: &Kind) -> bool {
    let any = |f: &Field| match f.ty {
        Type::Enum(e) => f.bits.width() <= 16 && (0..=ones(f.bits.width())).all(|v| isa.enums[e as usize].defines(v)),
        Type::Register(b) => f.bits.width() < 32 && 1 << f.bits.width() <= isa.banks[b as usize].count,
        Type::Constant(_) => false,
        Type::Flag | Type::Decimal | Type::Hex | Type::Signed => true,
    };
    let covered: u128 = kind.alternatives.iter().map(|a| 1 << (u32::from(kind.width).saturating_sub(a.mask.count_ones()))).sum();
    covered == 1 << kind.width && kind.alternatives.iter().all(|a| a.when.is_empty() && a.fields.iter().all(any))
}

/// The highest bits of an operand that settle most of its values: `None` when all values are valid.
fn needed_top(at: u32, width: u32, allows: &dyn Fn(u64) -> bool) -> Option<Run> {
    if width > WINDOW_BITS {
        return Some((at, width));
    }
    let all: Vec<bool> = (0..=ones(width)).map(|v| allows(v << at)).collect();
    let good = all.iter().filter(|a| **a).count();
    if good == all.len() {
        return None;
    }
    let settled = |top: u32| all.chunks(1 << (width - top)).filter(|c| c.iter().all(|a| *a)).count() << (width - top);
    let top = (1..=width).find(|top| settled(*top) * 8 >= good * 7).unwrap_or(width);
    Some((at + width - top, top))
}

/// Merges runs that touch; `None` when more than two remain or they have too many bits.
fn merge(mut runs: Vec<Run>) -> Option<Vec<Run>> {
    runs.sort_unstable();
    let mut merged: Vec<Run> = Vec::new();
    for (at, width) in runs {
        match merged.last_mut() {
            Some(last) if at <= last.0 + last.1 => last.1 = last.1.max(at + width - last.0),
            _ => merged.push((at, width)),
        }
    }
    // Three runs may still do if the smallest gap is bridged.
    while merged.len() > 2 {
        let gap = |i: &usize| merged[i + 1].0 - (merged[*i].0 + merged[*i].1);
        let i = (0..merged.len() - 1).min_by_key(gap)?;
        let end = merged[i + 1].0 + merged[i + 1].1;
        merged[i].1 = end - merged[i].0;
        merged.remove(i + 1);
    }
    (merged.iter().map(|r| r.1).sum::<u32>() <= WINDOW_BITS).then_some(merged)
}

type Packed = Vec<(Vec<Run>, Vec<usize>)>;

/// Distributes constraints over windows: each goes where it costs the fewest bits.
fn pack(constraints: &[Constraint<'_>]) -> Option<Packed> {
    let mut order: Vec<usize> = (0..constraints.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(constraints[*i].runs.iter().map(|r| r.1).sum::<u32>()));
    let mut windows: Packed = Vec::new();
    for i in order {
        let bits = |runs: &[Run]| runs.iter().map(|r| r.1).sum::<u32>();
        let best = windows
            .iter()
            .enumerate()
            .filter_map(|(w, (runs, _))| {
                let together = merge(runs.iter().chain(&constraints[i].runs).copied().collect())?;
                Some((bits(&together) - bits(runs), w, together))
            })
            .min_by_key(|(cost, w, _)| (*cost, *w));
        match best {
            Some((_, w, together)) => {
                windows[w].0 = together;
                windows[w].1.push(i);
            }
            None if windows.len() < WINDOWS => windows.push((merge(constraints[i].runs.clone())?, vec![i])),
            None => return None,
        }
    }
    Some(windows)
}

fn window<'a>(
    runs: &[Run],
    members: impl Iterator<Item = &'a Constraint<'static>> + Clone,
    sets: &mut Vec<u64>,
    known: &mut HashMap<Vec<u64>, u16>,
) -> Window {
    let low = runs.first().copied().unwrap_or((0, 0));
    let high = runs.get(1).copied().unwrap_or((0, 0));
    let total = low.1 + high.1;
    let mut set = vec![0u64; (1usize << total).div_ceil(64)];
    for index in 0..1u64 << total {
        let word = (index & ones(low.1)) << low.0 | (index >> low.1) << high.0;
        if members.clone().all(|m| (m.allows)(word)) {
            set[(index / 64) as usize] |= 1 << (index % 64);
        }
    }
    let first = *known.entry(set).or_insert_with_key(|set| {
        let first = sets.len() as u16;
        sets.extend(set);
        first
    });
    // The high run is shifted so that it lands just above the low one.
    let high_mask = (ones(high.1) << low.1) as u16;
    let high_shift = (high.0 as u8).wrapping_sub(low.1 as u8);
    Window { low: (low.0 as u8, ones(low.1) as u16), high: (if high_mask == 0 { 0 } else { high_shift }, high_mask), first }
}
