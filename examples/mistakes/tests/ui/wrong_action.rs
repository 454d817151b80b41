//! A closure that returns something that isn't an action.

use cogwork_flow::{Flow, from_fn};

fn main() {
    let judge = from_fn(|n: &mut u32| *n > 1);
    let _ = Flow::<u32>::builder("judge").node("judge", judge);
}
