//! A `join` that returns something that isn't an action.

use cogwork_flow::{Batch, from_exec};

fn main() {
    let _ = Batch::at_most(
         1,
        from_exec(async |n: u32| Ok::<_, std::io::Error>(n + 1)),
        |all: &Vec<u32>| all.clone(),
        |_, all| all.len() > 2,
    );
}
