//! A branch that returns an action. Several branches are joined, so `with_post` chooses the action after them.

use cogwork_flow::{Branches, BuildError, Flow, from_fn};

fn main() -> Result<(), BuildError> {
    let add = Flow::from_node("add", from_fn(|n: &mut u32| *n += 1))?;
    let _ = Branches::new().branch("add", add, |n: &u32| *n, |n: &mut u32, sum| {
        *n = sum;
        "large"
    });
    Ok(())
}
