//! What instructions compute: pure functions of bits, one module a family.
//!
//! Nothing here knows of registers, lanes or encodings. Floats are passed as their bits, so that NaNs and the signs of
//! zeros survive. The rules come from tests on real hardware, from what Mesa's compilers rely on, or from the vendor's
//! document; each function says which, in these words:
//!
//! * *tested*: compared with a GPU by Mesa's hardware tests (architecture v10 and later);
//! * *relied on*: Mesa's compilers depend on it, no test shows it;
//! * *documented*: the vendor's document says it;
//! * *ours*: nothing says it; the list of these decisions is in [`valhall`](crate::valhall).
//!
//! A result that is NaN is always the same NaN, [`Format::nan`](rounding::Format): the hardware's payloads are not known.

pub mod chosen;
pub mod convert;
pub mod cube;
pub mod float16;
pub mod float32;
pub mod integer;
pub mod rounding;
pub mod shift;
pub mod special;
