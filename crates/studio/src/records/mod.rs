//! The records of runs: where they are, their lines as they are written, and what the runs cost.

pub(crate) mod place;
mod tail;
mod totals;

pub(crate) use place::{RecordFile, Records};
pub(crate) use tail::{Batch, Line, Tail, TailError};
pub(crate) use totals::{Totals, TotalsCache};
