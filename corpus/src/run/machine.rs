//! Runs one program of any set to its end.

use isaforge_core::machine::{Encoding, Hardware, Machine, Reason, Register, Stop, Trap};
use isaforge_core::semantics::Semantics;
use isaforge_runtime::machine::{TIME_IS_UP, Variable, program_region, slice};
use isaforge_runtime::{Deadline, Execution, valhall};

use super::Computed;
use super::inputs::{Inputs, Launch, Start};
use crate::sets::Known;

/// The default budget: a corpus contains programs that never end.
const BUDGET: u64 = 100_000_000;

/// Runs a program on inputs.
///
/// # Errors
/// Returns why the program cannot continue, or was not run at all.
pub fn run(known: &Known, inputs: &Inputs, stage: &str, code: &[u8], until: Deadline) -> Result<Computed, String> {
    if let (Some(launch), true) = (&inputs.launch, known.runs_in_workgroups()) {
        return launched(launch, stage, code, until);
    }
    let set = &known.set.analysis;
    let (Some(semantics), Some(hardware), Some(start)) = (set.semantics, set.hardware, &inputs.start) else {
        return Err(format!("`{}` does not define what its instructions do", known.recipe.name));
    };
    let parts = (Encoding::from(set.tables), semantics, hardware);
    match hardware.lanes {
        0..=1 => processed::<1>(parts, start, code, until),
        2..=32 => processed::<32>(parts, start, code, until),
        _ => processed::<64>(parts, start, code, until),
    }
}

/// Runs a program in workgroups; a fragment or vertex program returns its colour.
fn launched(inputs: &Launch, stage: &str, code: &[u8], until: Deadline) -> Result<Computed, String> {
    let program: Vec<u64> = code.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    if matches!(stage, "fragment" | "vertex") {
        let budget = inputs.launch.budget.min(BUDGET);
        let outcome = valhall::run_fragment(&program, &inputs.launch.uniforms, budget, until);
        let outcome = outcome.map_err(|error| error.to_string())?;
        let result = outcome.colour.iter().flat_map(|channel| channel.to_le_bytes()).collect();
        return Ok(Computed { instructions: outcome.thread_instructions, result });
    }
    let launch = isaforge_runtime::Launch { program, deadline: until, ..inputs.launch.clone() };
    let mut buffers = inputs.buffers.clone();
    let mut memory = buffers.map()?;
    let outcome = valhall::run_hosted(Execution::best(), &launch, &mut memory, &mut inputs.resources.clone());
    let outcome = outcome.map_err(|error| error.to_string())?;
    buffers.take_back(memory);
    let result = buffers.memory.into_iter().flat_map(|(_, bytes)| bytes).collect();
    Ok(Computed { instructions: outcome.thread_instructions, result })
}

/// Runs a program on the processor that its specification describes. The result is the memory, followed by all
/// registers.
fn processed<const L: usize>(
    (encoding, semantics, hardware): (Encoding, &'static Semantics, &'static Hardware),
    start: &Start,
    code: &[u8],
    until: Deadline,
) -> Result<Computed, String> {
    let mut machine = Machine::<L>::new(encoding, semantics, hardware);
    machine.prepare();
    let address = start.address;
    let end = hardware.end_of_program(semantics, address, code.len() as u64);
    let end = end.ok_or("the program ends beyond the last address of the program counter")?;
    let (base, program, writable) = program_region(hardware, address, code.to_vec(), true)
        .map_err(|(message, help)| format!("{message}: {help}"))?;
    machine.memory.map(base, program, writable).map_err(|error| error.to_string())?;
    for (base, bytes) in &start.memory {
        machine.memory.map(*base, bytes.clone(), true).map_err(|error| error.to_string())?;
    }
    machine.set_pc(address);
    for (name, values) in &start.registers {
        let variable =
            Variable::one(name, semantics, hardware).map_err(|(message, help)| format!("{message}: {help}"))?;
        let values = values
            .iter()
            .map(|number| number.bits(variable.width).map_err(|(message, _)| format!("`{name}`: {message}")));
        let values = values.collect::<Result<Vec<u64>, String>>()?;
        variable.takes(values.len(), hardware)?;
        variable.set(&mut machine, &values);
    }
    machine.breakpoints.extend([end]);
    if !code.is_empty() {
        finish(&mut machine, start.budget.unwrap_or(BUDGET), until)?;
    }
    let mut result = Vec::new();
    for (base, bytes) in &start.memory {
        result.extend_from_slice(machine.memory.bytes(*base, bytes.len() as u64).unwrap_or_default());
    }
    for (bank, known) in hardware.banks.iter().enumerate() {
        for index in 0..known.count {
            for lane in 0..L.min(usize::from(hardware.lanes.max(1))) {
                let register = Register { bank: bank as u16, index };
                result.extend_from_slice(&machine.read(register, lane).unwrap_or(0).to_le_bytes());
            }
        }
    }
    Ok(Computed { instructions: machine.executed(), result })
}

fn finish<const L: usize>(machine: &mut Machine<L>, budget: u64, until: Deadline) -> Result<(), String> {
    let mut left = budget;
    let slice = slice(machine.semantics(), L);
    loop {
        let slice = left.min(slice);
        match machine.run(&mut (), slice) {
            Err(Trap { reason: Reason::Budget(_), .. }) if slice < left => left -= slice,
            Err(Trap { reason: Reason::Budget(_), .. }) => {
                return Err(format!("it executes more than {budget} instructions"));
            }
            Err(trap) => return Err(trap.to_string()),
            Ok(Stop::Exit(0) | Stop::Breakpoint(_)) => return Ok(()),
            Ok(Stop::Exit(status)) => return Err(format!("it ends with status {status}")),
            Ok(_) => return Ok(()),
        }
        if until.passed().is_some() {
            return Err(TIME_IS_UP.to_owned());
        }
    }
}
