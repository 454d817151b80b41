//! A `split` that fails with an error that isn't a `BoxError`. `Ok(…?)` converts it.

use cogwork_flow::{Batch, from_exec};

fn numbers(text: &str) -> Result<Vec<u32>, std::num::ParseIntError> {
    text.split(' ').map(str::parse).collect()
}

fn main() {
    let _ = Batch::at_most(
         1,
        from_exec(async |n: u32| Ok::<_, std::io::Error>(n + 1)),
        |text: &String| numbers(text),
        |text: &mut String, all| *text = format!("{all:?}"),
    );
}
