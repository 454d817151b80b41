//! A wait that takes messages of a different type than the channel has.

use cogwork_flow::{Channel, Wait};

const HINTS: Channel<String> = Channel::new("hints");

fn main() {
    let _ = Wait::for_message(&HINTS, |hints: &mut Vec<u32>, hint: u32| hints.push(hint));
}
