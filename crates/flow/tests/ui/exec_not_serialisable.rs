//! An outcome that could not be recorded.

use cogwork_flow::{Action, Node};

struct Receipt {
    number: u32,
}

struct Charge;

impl Node<u32> for Charge {
    type Prep = u32;
    type Exec = Receipt;
    type Error = std::fmt::Error;

    fn prep(&self, amount: &mut u32) -> Result<u32, Self::Error> {
        Ok(*amount)
    }

    async fn exec(&self, amount: &u32) -> Result<Receipt, Self::Error> {
        Ok(Receipt { number: *amount })
    }

    fn post(&self, number: &mut u32, _: u32, receipt: Receipt) -> Result<Action, Self::Error> {
        *number = receipt.number;
        Ok(Action::DEFAULT)
    }
}

fn main() {}
