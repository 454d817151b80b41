//! A channel whose messages cannot be written as JSON.

use cogwork_flow::{Channel, send};

struct Hint(&'static str);

const HINTS: Channel<Hint> = Channel::new("hints");

fn main() {
    let _ = send(&HINTS, |hint: &mut &'static str| Hint(hint));
}
