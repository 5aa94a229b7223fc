//! The state of tasks.

use crate::usc::error::{SetupError, Trap};
use crate::usc::host::{Host, Instance};
use crate::usc::lanes::{Column, LANES, Mask, Rows, blend, each, splat};
use crate::usc::register::{DYNAMIC, INTERNALS, PIXEL_OUTPUTS, Register, constant, pixel};

/// Up to 32 instances that run the same program together.
#[derive(Clone, Debug)]
pub struct Task {
    pub(super) columns: Box<Rows>,
    pub(super) coefficients: Vec<u32>,
    pub(super) alternates: Vec<u32>,
    /// The instances that exist.
    pub(super) valid: Mask,
    /// Pe: the instances that run.
    pub(super) running: Mask,
    /// P0.
    pub(super) predicate: Mask,
    /// The index of the next step.
    pub(super) pc: usize,
    /// The link register, in units of two bytes.
    pub(super) link: u32,
    /// Slot registers.
    pub(super) slots: [u32; INTERNALS],
    /// The instances whose fragment the program has kept.
    pub(super) kept: Mask,
    /// The instances whose fragment has failed a test.
    pub(super) failed: Mask,
    /// The target of a return from a breakpoint: an offset in bytes.
    pub(super) breakpoint: Option<u32>,
    /// The offsets added to the numbers of coefficients and of shared registers.
    pub(super) base: [u16; 2],
    /// 1/W stored by the last iteration that keeps it.
    pub(super) kept_w: [f32; LANES],
    pub(super) state: State,
    /// The number of groups executed.
    pub(super) groups: u64,
}

/// The scheduling state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    /// Waits for this mutex.
    Wants(u32),
    /// Sleeps until the holder of this mutex wakes it.
    Sleeps(u32),
    Ended,
}

impl Task {
    /// Creates a task of 1 to 32 instances, all of which run. Registers, link and predicate are 0.
    ///
    /// # Errors
    /// When the number of instances is out of range.
    pub fn new(instances: usize) -> Result<Task, SetupError> {
        if !(1..=LANES).contains(&instances) {
            return Err(SetupError::Instances(instances));
        }
        Ok(Task::with(u32::MAX >> (LANES - instances)))
    }

    /// Creates a task of these instances.
    pub(super) fn with(valid: Mask) -> Task {
        let mut columns = Rows::new();
        for number in 0..256 {
            if let Some(value) = constant(number.into()) {
                *columns.at_mut(number) = splat(value);
            }
        }
        let mut task = Task {
            columns,
            coefficients: Vec::new(),
            alternates: Vec::new(),
            valid,
            running: valid,
            predicate: 0,
            pc: 0,
            link: 0,
            slots: [0; INTERNALS],
            kept: 0,
            failed: 0,
            breakpoint: None,
            base: [0; 2],
            kept_w: [1.0; LANES],
            state: State::Ready,
            groups: 0,
        };
        // Each instance has its number in the task, its number among those that share local memory, and a valid flag.
        for instance in 0..LANES {
            task.columns.at_mut(51)[instance] = instance as u32;
            task.columns.at_mut(112)[instance] = instance as u32;
            task.columns.at_mut(63)[instance] = valid >> instance & 1;
        }
        task
    }

    /// The number of instances.
    pub fn instances(&self) -> usize {
        self.valid.count_ones() as usize
    }

    /// Sets a register of one instance; this includes system values. Coefficients are shared by all instances.
    ///
    /// # Errors
    /// When there is no such instance, or the register belongs to the machine, is a constant, or is indexed.
    pub fn set(&mut self, register: Register, instance: usize, value: u32) -> Result<(), SetupError> {
        if instance >= LANES || self.valid >> instance & 1 == 0 {
            return Err(SetupError::Instance(instance, self.instances()));
        }
        match register {
            Register::Column(column) if constant(column.into()).is_none() => {
                self.columns.at_mut(column)[instance] = value;
            }
            Register::Coefficient(n) => *entry(&mut self.coefficients, n) = value,
            Register::Alternate(n) => *entry(&mut self.alternates, n) = value,
            Register::Slot(n) if usize::from(n) < INTERNALS => self.slots[usize::from(n)] = value,
            _ => return Err(SetupError::Register(register)),
        }
        Ok(())
    }

    /// Sets a register of every instance.
    ///
    /// # Errors
    /// As for [`set`](Task::set).
    pub fn fill(&mut self, register: Register, value: u32) -> Result<(), SetupError> {
        match register {
            Register::Column(column) if constant(column.into()).is_none() => {
                *self.columns.at_mut(column) = splat(value);
                Ok(())
            }
            _ => self.set(register, self.valid.trailing_zeros() as usize, value),
        }
    }

    /// Sets the target of a return from a breakpoint: the group at this offset.
    pub fn break_from(&mut self, offset: u32) {
        self.breakpoint = Some(offset);
    }

    /// Sets the pixel of an instance: system registers x_p and y_p.
    ///
    /// # Errors
    /// When there is no such instance.
    pub fn place(&mut self, instance: usize, x: u32, y: u32) -> Result<(), SetupError> {
        self.set(Register::Column(97), instance, x)?;
        self.set(Register::Column(100), instance, y)
    }

    /// Creates a task for the block of 8 x 4 pixels at (x, y), as far as it is within a rectangle that ends before
    /// `end`. Four consecutive instances are a quad of 2 x 2 pixels. `None` when no pixel is inside.
    pub fn block(x: u32, y: u32, end: (u32, u32)) -> Option<Task> {
        let mut task = Task::new(LANES).ok()?;
        let mut valid = 0;
        for instance in 0..LANES as u32 {
            let (quad, corner) = (instance / 4, instance % 4);
            let (px, py) = (x + quad % 4 * 2 + corner % 2, y + quad / 4 * 2 + corner / 2);
            // Pixels outside have a position too, since derivatives within a quad need it.
            task.place(instance as usize, px, py).ok()?;
            valid |= u32::from(px < end.0 && py < end.1) << instance;
            task.columns.at_mut(63)[instance as usize] = valid >> instance & 1;
        }
        (task.valid, task.running) = (valid, valid);
        (valid != 0).then_some(task)
    }

    /// The instances that exist.
    pub fn valid(&self) -> Mask {
        self.valid
    }

    /// Returns a register of an instance. `None` when the register belongs to the machine or is indexed.
    pub fn get(&self, register: Register, instance: usize) -> Option<u32> {
        match register {
            Register::Column(column) => self.columns.at(column).get(instance).copied(),
            Register::Coefficient(n) => Some(self.coefficients.get(usize::from(n)).copied().unwrap_or(0)),
            Register::Alternate(n) => Some(self.alternates.get(usize::from(n)).copied().unwrap_or(0)),
            Register::Slot(n) => self.slots.get(usize::from(n)).copied(),
            _ => None,
        }
    }

    /// The predicate of an instance.
    pub fn predicate(&self, instance: usize) -> bool {
        self.predicate.checked_shr(instance as u32).unwrap_or(0) & 1 != 0
    }

    /// Whether an instance runs, by its Pe.
    pub fn runs(&self, instance: usize) -> bool {
        self.running.checked_shr(instance as u32).unwrap_or(0) & 1 != 0
    }

    /// Whether the program of the task has ended.
    pub fn has_ended(&self) -> bool {
        self.state == State::Ended
    }

    /// The number of groups executed so far; repetitions are not counted.
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// The pixel outputs of an instance.
    pub fn pixel_outputs(&self, instance: usize) -> [u32; PIXEL_OUTPUTS] {
        let value = |n: usize| self.get(Register::Column(pixel(n as u16)), instance);
        std::array::from_fn(|n| value(n).unwrap_or(0))
    }

    /// Tells the host the pixel outputs of some instances.
    pub(super) fn pixels(&self, host: &mut impl Host, number: usize, mask: Mask) -> Result<(), Trap> {
        for instance in each(mask) {
            host.pixel(Instance { task: number, instance }, self.pixel_outputs(instance)).map_err(Trap::Host)?;
        }
        Ok(())
    }

    /// Writes a column to a register of the instances in a mask.
    #[inline(always)]
    pub(super) fn write(&mut self, column: u16, value: &Column, mask: Mask) {
        blend(self.columns.at_mut(column), value, mask);
    }
}

/// Returns a register of a bank that grows on use.
pub(super) fn entry(bank: &mut Vec<u32>, number: u16) -> &mut u32 {
    let at = usize::from(number).min(DYNAMIC - 1);
    if bank.len() <= at {
        bank.resize(at + 1, 0);
    }
    &mut bank[at]
}
