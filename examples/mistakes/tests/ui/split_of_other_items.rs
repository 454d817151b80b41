//! The items from `split` aren't what the work takes.

use cogwork_flow::{Batch, from_exec};

fn main() {
    let _ = Batch::at_most(
         1,
        from_exec(async |url: String| Ok::<_, std::io::Error>(url.len())),
        |all: &Vec<usize>| all.clone(),
        |all, lengths| *all = lengths,
    );
}
