//! A node written for one state, put into a flow over another.

use cogwork_flow::{Action, Flow, Node};

struct Order {
    amount: u32,
}

struct Shop {
    order: Order,
}

struct Charge;

impl Node<Order> for Charge {
    type Prep = u32;
    type Exec = String;
    type Error = std::fmt::Error;

    fn prep(&self, order: &mut Order) -> Result<u32, Self::Error> {
        Ok(order.amount)
    }

    async fn exec(&self, amount: &u32) -> Result<String, Self::Error> {
        Ok(format!("charged {amount}"))
    }

    fn post(&self, _: &mut Order, _: u32, _: String) -> Result<Action, Self::Error> {
        Ok(Action::DEFAULT)
    }
}

fn main() {
    let _ = Flow::<Shop>::builder("shop").node("charge", Charge);
}
