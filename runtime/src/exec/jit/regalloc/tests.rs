//! The locations of values when registers run out.

use isaforge_core::semantics::Type;

use super::*;
use crate::exec::ir::Node;

/// Returns more values than registers and spill slots can hold, each used once.
fn loads(graph: &mut Graph) -> Vec<Value> {
    let ty = Type::U64;
    let address = graph.slot(0, 64);
    let load = |at| Node { op: Op::Load(at), ty, args: [Some(address), None, None] };
    (0..(TEMPS.len() + SPILLS) as u32 + 1).map(|at| graph.add(load(at))).collect()
}

#[test]
fn a_step_can_read_spilled_values_that_nobody_uses_after_it() {
    let (mut graph, homes, mut masm) = (Graph::default(), Homes::default(), Masm::default());
    let loads = loads(&mut graph);
    let uses = vec![1; graph.len()];
    let mut values = Values::new(&graph, &homes, uses);
    let (last, held) = loads.split_last().unwrap();
    let load = |values: &mut Values, masm: &mut Masm, value| {
        let to = values.temp(masm, &[]);
        values.put(to, value);
    };
    for value in held {
        load(&mut values, &mut masm, *value);
    }
    let spilled = held.iter().copied().find(|value| values.register(*value).is_none()).unwrap();
    let place = values.source(spilled, true).unwrap();

    // Everything is full. The value that this step reads for the last time must stay in its location.
    values.begin_step();
    values.used(spilled);
    load(&mut values, &mut masm, *last);
    assert!(values.failed);
    assert_eq!(values.source(spilled, true), Some(place));

    // The next step may reuse its location.
    values.failed = false;
    values.begin_step();
    let to = values.temp(&mut masm, &[]);
    assert!(!values.failed);
    assert_eq!(values.source(spilled, true), None, "{to:?}");
}
