//! Predecoded instructions: the generated decoder's instructions with operands and modes resolved to what running needs.

use isaforge_core::Unimplemented;
use isaforge_vpu as isa;
use isaforge_vpu::{Components, Destination, FlagUpdate, Semantics, Source};

/// Write modes as sets of lanes: bit `4 * t + c` is component `c` of thread `t`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Modes {
    if_set: u16,
    if_clear: u16,
    always: u16,
}

impl Modes {
    fn new(modes: [u64; 4]) -> Self {
        let lanes = |mode: u64| modes.iter().enumerate().map(|(c, m)| u16::from(*m == mode) << c).sum::<u16>() * 0x1111;
        Modes { if_set: lanes(0), if_clear: lanes(1), always: lanes(3) }
    }

    /// The lanes that are written, given the flags of all threads.
    #[inline(always)]
    pub(crate) fn enabled(self, flags: u16) -> u16 {
        self.if_set & flags | self.if_clear & !flags | self.always
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Space {
    #[default]
    Local,
    Shared,
    /// Read: the group's bank. Written: the bank of the group being prepared.
    Global,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operand {
    pub space: Space,
    pub index: u8,
    pub select: [u8; 4],
    pub straight: bool,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Target {
    pub space: Space,
    pub index: u8,
    pub modes: Modes,
    pub sign: bool,
    pub zero: bool,
    /// Bits of a component that must be zero for its zero flag.
    pub zero_bits: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alu {
    AddFloat,
    MultiplyFloat,
    DivideFloat,
    ToFloat,
    ToInteger,
    Add16,
    Add32,
    MultiplyLow,
    MultiplyFullUnsigned,
    MultiplyFull,
    And,
    Or,
    Xor,
    Wrap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlagOp {
    And,
    Or,
    PairAnd,
    PairOr,
    Broadcast,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    Word,
    Rgb,
    Palette(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fetch {
    Swap,
    Add,
    Or,
    Xor,
    And,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TileAccess {
    pub buffer: u8,
    pub locks: bool,
    /// The address is in operand A, not the thread's own position.
    pub addressed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// The word is no instruction.
    Invalid,
    Exit,
    Sync,
    Allocate,
    Launch,
    Position,
    Branch {
        flags: u8,
        to: u16,
    },
    Flags(FlagOp),
    Alu(Alu),
    ReadTile(TileAccess),
    WriteTile(TileAccess),
    Load(Load),
    Fetch(Fetch),
    Store,
    Finish,
}

/// An instruction ready to run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub action: Action,
    pub target: Target,
    pub a: Operand,
    pub b: Operand,
}

impl Op {
    /// A word as it runs; one that is no instruction becomes [`Action::Invalid`].
    pub(crate) fn new(word: u64) -> Op {
        match isa::decode(word) {
            Ok(instruction) => isa::dispatch(instruction, &mut Predecode),
            Err(_) => Op::of(Action::Invalid),
        }
    }

    fn of(action: Action) -> Op {
        Op { action, target: Target::default(), a: Operand::default(), b: Operand::default() }
    }

    fn a(self, source: Source) -> Op {
        Op { a: operand(source), ..self }
    }

    fn b(self, source: Source) -> Op {
        Op { b: operand(source), ..self }
    }

    fn to(self, destination: Destination, update: FlagUpdate) -> Op {
        let (space, index, modes) = match destination {
            Destination::Local { index, x, y, z, w } => {
                (Space::Local, index.index(), [x.bits(), y.bits(), z.bits(), w.bits()])
            }
            Destination::Shared { index, x, y, z, w } => {
                (Space::Shared, index.index(), [x.bits(), y.bits(), z.bits(), w.bits()])
            }
            Destination::Spawned { index, x, y, z, w } => {
                (Space::Global, index.index(), [x.bits(), y.bits(), z.bits(), w.bits()])
            }
        };
        let float =
            matches!(self.action, Action::Alu(Alu::AddFloat | Alu::MultiplyFloat | Alu::DivideFloat | Alu::ToFloat));
        let target = Target {
            space,
            index: index as u8,
            modes: Modes::new(modes),
            sign: matches!(update, FlagUpdate::Sign | FlagUpdate::SignOrZero),
            zero: matches!(update, FlagUpdate::Zero | FlagUpdate::SignOrZero),
            zero_bits: if float { 0x7fff } else { 0xffff },
        };
        Op { target, ..self }
    }

    fn writing(self, components: Components) -> Op {
        let Components::Modes { x, y, z, w } = components;
        let modes = Modes::new([x.bits(), y.bits(), z.bits(), w.bits()]);
        Op { target: Target { modes, ..Target::default() }, ..self }
    }
}

fn operand(source: Source) -> Operand {
    let (space, index, select) = match source {
        Source::Local { index, x, y, z, w } => (Space::Local, index.index(), [x, y, z, w]),
        Source::Shared { index, x, y, z, w } => (Space::Shared, index.index(), [x, y, z, w]),
        Source::Global { index, x, y, z, w } => (Space::Global, index.index(), [x, y, z, w]),
    };
    let select = select.map(|s| s.bits() as u8);
    Operand { space, index: index as u8, select, straight: select == [0, 1, 2, 3] }
}

impl From<Unimplemented> for Op {
    fn from(_: Unimplemented) -> Op {
        Op::of(Action::Invalid)
    }
}

/// Turns each instruction into what it does: the instruction set's semantic stubs, filled in.
struct Predecode;

macro_rules! semantics {
    ($($method:ident, $form:ident, $i:ident => $op:expr;)*) => {
        impl Semantics for Predecode {
            type Output = Op;
            $(fn $method(&mut self, $i: isa::$form) -> Op { $op })*
        }
    };
}

const fn tile(buffer: u8, locks: bool, addressed: bool) -> TileAccess {
    TileAccess { buffer, locks, addressed }
}

fn read_tile(access: TileAccess) -> Op {
    Op::of(Action::ReadTile(access))
}

fn write_tile(access: TileAccess) -> Op {
    Op::of(Action::WriteTile(access))
}

fn alu(alu: Alu) -> Op {
    Op::of(Action::Alu(alu))
}

semantics! {
    exit, Exit, _i => Op::of(Action::Exit);
    sync, Sync, _i => Op::of(Action::Sync);
    thread_group_allocate, ThreadGroupAllocate, _i => Op::of(Action::Allocate);
    thread_group_launch, ThreadGroupLaunch, i => Op::of(Action::Launch).b(i.start()).writing(i.write());
    load_position, LoadPosition, i => Op::of(Action::Position).to(i.dst(), i.flags());
    branch, Branch, i => Op::of(Action::Branch { flags: i.condition().bits() as u8, to: i.target() & 1023 });
    and_flags, AndFlags, _i => Op::of(Action::Flags(FlagOp::And));
    or_flags, OrFlags, _i => Op::of(Action::Flags(FlagOp::Or));
    pair_and_flags, PairAndFlags, _i => Op::of(Action::Flags(FlagOp::PairAnd));
    pair_or_flags, PairOrFlags, _i => Op::of(Action::Flags(FlagOp::PairOr));
    broadcast_flags, BroadcastFlags, _i => Op::of(Action::Flags(FlagOp::Broadcast));
    add_float16, AddFloat16, i => alu(Alu::AddFloat).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    multiply_float16, MultiplyFloat16, i => alu(Alu::MultiplyFloat).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    divide_float16, DivideFloat16, i => alu(Alu::DivideFloat).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    convert_to_float16, ConvertToFloat16, i => alu(Alu::ToFloat).to(i.dst(), i.flags()).a(i.a());
    convert_to_int16, ConvertToInt16, i => alu(Alu::ToInteger).to(i.dst(), i.flags()).a(i.a());
    add_int16, AddInt16, i => alu(Alu::Add16).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    add_int32, AddInt32, i => alu(Alu::Add32).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    multiply_int16u, MultiplyInt16u, i => alu(Alu::MultiplyLow).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    multiply_hi_int16u, MultiplyHiInt16u, i => alu(Alu::MultiplyFullUnsigned).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    multiply_int16, MultiplyInt16, i => alu(Alu::MultiplyLow).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    multiply_hi_int16, MultiplyHiInt16, i => alu(Alu::MultiplyFull).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    and, And, i => alu(Alu::And).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    or, Or, i => alu(Alu::Or).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    exclusive_or, ExclusiveOr, i => alu(Alu::Xor).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    texture_wrap_int16, TextureWrapInt16, i => alu(Alu::Wrap).to(i.dst(), i.flags()).a(i.a()).b(i.b());
    read_local_tile0, ReadLocalTile0, i => read_tile(tile(0, false, false)).to(i.dst(), i.flags());
    read_local_tile1, ReadLocalTile1, i => read_tile(tile(1, false, false)).to(i.dst(), i.flags());
    read_local_tile2, ReadLocalTile2, i => read_tile(tile(2, false, false)).to(i.dst(), i.flags());
    read_local_tile3, ReadLocalTile3, i => read_tile(tile(3, false, false)).to(i.dst(), i.flags());
    read_tile0, ReadTile0, i => read_tile(tile(0, false, true)).to(i.dst(), i.flags()).a(i.address());
    read_tile1, ReadTile1, i => read_tile(tile(1, false, true)).to(i.dst(), i.flags()).a(i.address());
    read_tile2, ReadTile2, i => read_tile(tile(2, false, true)).to(i.dst(), i.flags()).a(i.address());
    read_tile3, ReadTile3, i => read_tile(tile(3, false, true)).to(i.dst(), i.flags()).a(i.address());
    read_lock_local_tile0, ReadLockLocalTile0, i => read_tile(tile(0, true, false)).to(i.dst(), i.flags());
    read_lock_local_tile1, ReadLockLocalTile1, i => read_tile(tile(1, true, false)).to(i.dst(), i.flags());
    read_lock_local_tile2, ReadLockLocalTile2, i => read_tile(tile(2, true, false)).to(i.dst(), i.flags());
    read_lock_local_tile3, ReadLockLocalTile3, i => read_tile(tile(3, true, false)).to(i.dst(), i.flags());
    read_lock_tile0, ReadLockTile0, i => read_tile(tile(0, true, true)).to(i.dst(), i.flags()).a(i.address());
    read_lock_tile1, ReadLockTile1, i => read_tile(tile(1, true, true)).to(i.dst(), i.flags()).a(i.address());
    read_lock_tile2, ReadLockTile2, i => read_tile(tile(2, true, true)).to(i.dst(), i.flags()).a(i.address());
    read_lock_tile3, ReadLockTile3, i => read_tile(tile(3, true, true)).to(i.dst(), i.flags()).a(i.address());
    write_local_tile0, WriteLocalTile0, i => write_tile(tile(0, false, false)).b(i.data()).writing(i.write());
    write_local_tile1, WriteLocalTile1, i => write_tile(tile(1, false, false)).b(i.data()).writing(i.write());
    write_local_tile2, WriteLocalTile2, i => write_tile(tile(2, false, false)).b(i.data()).writing(i.write());
    write_local_tile3, WriteLocalTile3, i => write_tile(tile(3, false, false)).b(i.data()).writing(i.write());
    write_tile0, WriteTile0, i => write_tile(tile(0, false, true)).a(i.address()).b(i.data()).writing(i.write());
    write_tile1, WriteTile1, i => write_tile(tile(1, false, true)).a(i.address()).b(i.data()).writing(i.write());
    write_tile2, WriteTile2, i => write_tile(tile(2, false, true)).a(i.address()).b(i.data()).writing(i.write());
    write_tile3, WriteTile3, i => write_tile(tile(3, false, true)).a(i.address()).b(i.data()).writing(i.write());
    write_unlock_local_tile0, WriteUnlockLocalTile0, i => write_tile(tile(0, true, false)).b(i.data()).writing(i.write());
    write_unlock_local_tile1, WriteUnlockLocalTile1, i => write_tile(tile(1, true, false)).b(i.data()).writing(i.write());
    write_unlock_local_tile2, WriteUnlockLocalTile2, i => write_tile(tile(2, true, false)).b(i.data()).writing(i.write());
    write_unlock_local_tile3, WriteUnlockLocalTile3, i => write_tile(tile(3, true, false)).b(i.data()).writing(i.write());
    write_unlock_tile0, WriteUnlockTile0, i => write_tile(tile(0, true, true)).a(i.address()).b(i.data()).writing(i.write());
    write_unlock_tile1, WriteUnlockTile1, i => write_tile(tile(1, true, true)).a(i.address()).b(i.data()).writing(i.write());
    write_unlock_tile2, WriteUnlockTile2, i => write_tile(tile(2, true, true)).a(i.address()).b(i.data()).writing(i.write());
    write_unlock_tile3, WriteUnlockTile3, i => write_tile(tile(3, true, true)).a(i.address()).b(i.data()).writing(i.write());
    issue_external_load, IssueExternalLoad, i => Op::of(Action::Load(Load::Word)).b(i.address());
    issue_external_load_rgb, IssueExternalLoadRgb, i => Op::of(Action::Load(Load::Rgb)).b(i.address());
    issue_external_load_lut0, IssueExternalLoadLut0, i => Op::of(Action::Load(Load::Palette(0))).b(i.address());
    issue_external_load_lut1, IssueExternalLoadLut1, i => Op::of(Action::Load(Load::Palette(1))).b(i.address());
    finish_external_load, FinishExternalLoad, i => Op::of(Action::Finish).to(i.dst(), i.flags());
    issue_external_fetch_swap, IssueExternalFetchSwap, i => Op::of(Action::Fetch(Fetch::Swap)).a(i.operand()).b(i.address());
    issue_external_fetch_add32, IssueExternalFetchAdd32, i => Op::of(Action::Fetch(Fetch::Add)).a(i.operand()).b(i.address());
    issue_external_fetch_or, IssueExternalFetchOr, i => Op::of(Action::Fetch(Fetch::Or)).a(i.operand()).b(i.address());
    issue_external_fetch_xor, IssueExternalFetchXor, i => Op::of(Action::Fetch(Fetch::Xor)).a(i.operand()).b(i.address());
    issue_external_fetch_and, IssueExternalFetchAnd, i => Op::of(Action::Fetch(Fetch::And)).a(i.operand()).b(i.address());
    external_write, ExternalWrite, i => Op::of(Action::Store).a(i.data()).b(i.address());
}
