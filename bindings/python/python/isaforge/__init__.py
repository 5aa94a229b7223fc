"""GPU instruction sets from Python: decode, assemble, explain and run, one by one or in Arrow batches.

>>> import isaforge
>>> isa = isaforge.load("valhall")
>>> str(isa.decode(0x0091C10000000002))
'MOV.i32 r1, r2'
>>> isa.assemble("MOV.i32 r1, r2").hex()
'0200000000c19100'
"""

from ._isaforge import (
    Array,
    Block,
    Explanation,
    Field,
    Flow,
    Form,
    Graph,
    Instruction,
    Invalid,
    Isa,
    Modifier,
    Operand,
    Outcome,
    Part,
    Program,
    RecordBatch,
    Step,
    Trace,
    __version__,
    load,
    sets,
)
from .errors import (
    AssembleError,
    BitSpan,
    DecodeError,
    Error,
    RunError,
    RunSpan,
    SourceSpan,
    SpecError,
    TextSpan,
)

__all__ = [
    "Array",
    "AssembleError",
    "BitSpan",
    "Block",
    "DecodeError",
    "Error",
    "Explanation",
    "Field",
    "Flow",
    "Form",
    "Graph",
    "Instruction",
    "Invalid",
    "Isa",
    "Modifier",
    "Operand",
    "Outcome",
    "Part",
    "Program",
    "RecordBatch",
    "RunError",
    "RunSpan",
    "SourceSpan",
    "SpecError",
    "Step",
    "TextSpan",
    "Trace",
    "__version__",
    "load",
    "sets",
]
