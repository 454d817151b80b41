//! A `split` that ends with `collect`. The closure may also return a `Result`, so the list needs a type:
//! `collect::<Vec<_>>()`.

use cogwork_flow::{Batch, from_exec};

fn main() {
    let _ = Batch::at_most(
         1,
        from_exec(async |n: u32| Ok::<_, std::io::Error>(n + 1)),
        |all: &Vec<u32>| all.iter().map(|n| 2 * n).collect(),
        |all, next| *all = next,
    );
}
