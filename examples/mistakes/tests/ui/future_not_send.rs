//! Work that holds something of one thread across an await.

use std::rc::Rc;

use cogwork_flow::{Action, Node};

struct Count;

impl Node<u32> for Count {
    type Prep = u32;
    type Exec = u32;
    type Error = std::fmt::Error;

    fn prep(&self, n: &mut u32) -> Result<u32, Self::Error> {
        Ok(*n)
    }

    async fn exec(&self, n: &u32) -> Result<u32, Self::Error> {
        let shared = Rc::new(*n);
        std::future::ready(()).await;
        Ok(*shared + 1)
    }

    fn post(&self, n: &mut u32, _: u32, next: u32) -> Result<Action, Self::Error> {
        *n = next;
        Ok(Action::DEFAULT)
    }
}

fn main() {}
