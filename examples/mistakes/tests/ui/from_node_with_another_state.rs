//! A flow of one node over another state than that of the place it is used in.

use cogwork_flow::{BuildError, Flow, from_fn};

fn flow() -> Result<Flow<u64>, BuildError> {
    Flow::from_node("count", from_fn(|n: &mut u32| *n += 1))
}

fn main() {
    let _ = flow();
}
