//! An async function in `from_fn`. Its future would borrow the state.

use cogwork_flow::{Flow, from_fn};

async fn ask(n: &mut u32) {
    *n += 1;
}

fn main() {
    let _ = Flow::<u32>::builder("ask").node("ask", from_fn(ask));
}
