//! What the tests of pages in a browser share: [runs](runs) to make pages of, a
//! [studio](studio), and a [browser](Browser).

#[path = "../../tour/number_game.rs"]
#[expect(
    dead_code,
    unreachable_pub,
    reason = "only the client of the example is used"
)]
mod number_game;

pub mod kinds;
pub mod runs;
pub mod studio;

mod browser;
pub use browser::{Browser, Failure, Result};
