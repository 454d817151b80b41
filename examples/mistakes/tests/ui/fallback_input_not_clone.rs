//! A fallback around a node whose input isn't `Clone`.

use cogwork_flow::{Action, Node};

struct Question(String);

struct Ask;

impl Node<String> for Ask {
    type Prep = Question;
    type Exec = String;
    type Error = std::io::Error;

    fn prep(&self, state: &mut String) -> Result<Question, Self::Error> {
        Ok(Question(state.clone()))
    }

    async fn exec(&self, question: &Question) -> Result<String, Self::Error> {
        Ok(question.0.clone())
    }

    fn post(&self, _: &mut String, _: Question, _: String) -> Result<Action, Self::Error> {
        Ok(Action::DEFAULT)
    }
}

fn main() {
    let _ = Ask.fallback(async |question, _| Ok(question.0));
}
