//! A message that isn't of the type of the channel.

use cogwork_flow::{Channel, send};

const HINTS: Channel<String> = Channel::new("hints");

struct Game {
    hints_given: u32,
}

fn main() {
    let _ = send(&HINTS, |game: &mut Game| game.hints_given);
}
