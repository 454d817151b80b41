//! A first flow: two nodes of their own type, one from a closure, a loop, an end, and a picture.
//!
//! ```text
//! flowchart TD
//!     start0(( )) --> n0
//!     n0["guess"]
//!     n1["judge"]
//!     n2["cheer"]
//!     n0 -->|"default"| n1
//!     n1 -->|"found"| n2
//!     n1 -->|"higher"| n0
//!     n1 -->|"lower"| n0
//!     n2 -->|"default"| end0(((end)))
//!
//! guess 50: higher
//! guess 75: lower
//! guess 63: higher
//! guess 69: lower
//! guess 66: lower
//! guess 65: found
//! Found 65 in 6 guesses.
//! ended on `default` after 13 steps
//! ```

use std::convert::Infallible;
use std::error::Error;

use cogwork::flow::{Action, Flow, Node, from_fn};

/// The shared state: a number to find, and the range that contains it.
struct Game {
    secret: u32,
    low: u32,
    high: u32,
    guesses: Vec<u32>,
}

/// Guesses the middle. This node always leaves by the default action, so it doesn't declare any
/// actions.
struct Guess;

impl Node<Game> for Guess {
    type Prep = (u32, u32);
    type Exec = u32;
    type Error = Infallible;

    fn prep(&self, game: &mut Game) -> Result<(u32, u32), Infallible> {
        Ok((game.low, game.high))
    }

    /// `exec` doesn't access the state, so it could be retried or timed out. In this example, it
    /// has nothing to wait for.
    async fn exec(&self, (low, high): &(u32, u32)) -> Result<u32, Infallible> {
        Ok(low + (high - low) / 2)
    }

    fn post(&self, game: &mut Game, _: (u32, u32), guess: u32) -> Result<Action, Infallible> {
        game.guesses.push(guess);
        Ok(Action::DEFAULT)
    }
}

/// Compares the guess with the secret. The labels are constants, so that `post` and the edges
/// always use the same ones.
struct Judge;

impl Judge {
    const HIGHER: Action = Action::from_static("higher");
    const LOWER: Action = Action::from_static("lower");
    const FOUND: Action = Action::from_static("found");
}

impl Node<Game> for Judge {
    type Prep = u32;
    type Exec = ();
    type Error = &'static str;

    fn actions(&self) -> Vec<Action> {
        vec![Self::HIGHER, Self::LOWER, Self::FOUND]
    }

    fn prep(&self, game: &mut Game) -> Result<u32, Self::Error> {
        game.guesses
            .last()
            .copied()
            .ok_or("nothing was guessed yet")
    }

    async fn exec(&self, _: &u32) -> Result<(), Self::Error> {
        Ok(())
    }

    fn post(&self, game: &mut Game, guess: u32, (): ()) -> Result<Action, Self::Error> {
        let action = match guess.cmp(&game.secret) {
            std::cmp::Ordering::Less => {
                game.low = guess + 1;
                Self::HIGHER
            }
            std::cmp::Ordering::Greater => {
                game.high = guess;
                Self::LOWER
            }
            std::cmp::Ordering::Equal => Self::FOUND,
        };

        println!("guess {guess}: {action}");
        Ok(action)
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let cheer = from_fn(|game: &mut Game| {
        println!("Found {} in {} guesses.", game.secret, game.guesses.len())
    });

    let flow = Flow::builder("guessing game")
        .start("guess")
        .node("guess", Guess)
        .node("judge", Judge)
        .node("cheer", cheer)
        .edge("guess", Action::DEFAULT, "judge")
        .edge("judge", Judge::HIGHER, "guess")
        .edge("judge", Judge::LOWER, "guess")
        .edge("judge", Judge::FOUND, "cheer")
        .end("cheer", Action::DEFAULT)
        .build()?;

    println!("{}", flow.mermaid());

    let mut game = Game {
        secret: 65,
        low: 0,
        high: 100,
        guesses: Vec::new(),
    };

    let ended = flow.run(&mut game).await?;
    println!("ended on `{}` after {} steps", ended.action, ended.steps);
    Ok(())
}
