//! Working through the table of any strategy.

use cogwork_typed::ask::no_answer;
use serde_json::json;

use super::form::trimmed;
use super::{Answer, Ask, Method, Solve, StageReply, Stop, check_answer};
use crate::{Stage, Strategy};

/// Asks the model in every stage.
///
/// The model receives the prompt of each stage, fills in the parameters of the stage, and chooses the
/// next stage if several may follow. If the start stage has no required parameters and one next
/// stage, it takes the problem, and the model isn't asked. The answer is the text of the final stage,
/// or else its parameter, or its parameters as JSON. If a run is stopped earlier, its best answer is the last
/// thought. A refusal, or a text such as `N/A`, isn't an answer; [`no_answer`] defines what counts as
/// one.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Solver, Strategies};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mine = Strategies::from_yaml("
/// two_looks:
///   description: Look twice.
///   stages:
///     problem: {description: The problem., prompt: State the problem., next: [first_look]}
///     first_look: {description: A guess., prompt: Guess., next: [answer]}
///     answer: {description: The answer., prompt: Look again and answer., final: true}
/// ")?;
/// let client = ScriptedClient::new(["About 50.", "51"]);
/// let solved = Solver::new(client, mine.get("two_looks")?.clone()).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
impl Method for Strategy {
    fn strategy(&self) -> Strategy {
        self.clone()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        let mut stage = self.start();
        let mut parameters = stage.parameters.values();
        let needs_reply = parameters.any(|parameter| !parameter.is_optional);
        // The problem is known, so stating it needs no call.
        if let ([next], false) = (stage.next.as_slice(), needs_reply) {
            cx.think_problem()?;
            cx.progress(cx.problem().to_owned())?;
            stage = self.stage(next).ok_or_else(no_result)?;
        }

        loop {
            let reply = cx.ask(&stage.name, self.question(cx, stage))?;
            cx.add(reply.draft(&stage.name, &reply.text))?;

            let answer = text_of(&reply);
            let ends = self.next(stage).all(|stage| stage.is_final);
            // Before the last stage there is an answer already, in case that a limit ends the run
            // there.
            match ends && no_answer(&answer, &offering(cx, stage)).is_none() {
                true => cx.keep(answer.clone()),
                false => cx.keep_guess(&answer),
            }
            if stage.is_final {
                return Ok(answer.into());
            }

            cx.progress(format!("{} {:?}", reply.text, reply.fields))?;
            let mut next = self.next(stage);
            let chosen = reply.next.as_deref();
            let next = next.find(|next| chosen.is_none_or(|chosen| next.name == chosen));
            stage = next.ok_or_else(no_result)?;
        }
    }
}

fn no_result() -> Stop {
    Stop::give_up("the final stage has no answer")
}

impl Strategy {
    /// Asks for the prompt of the stage, its parameters, and the choice of the next stage. In a final
    /// stage, the model is asked again if the reply isn't an answer.
    fn question(&self, cx: &Solve, stage: &Stage) -> Ask {
        let (session, name) = (cx.session().clone(), stage.name.clone());
        let question = Ask::new(stage.prompt.as_str())
            .with_fields(&stage.parameters)
            .with_next(self.next(stage))
            .with_check(move |reply| {
                // The session knows the most about a thought, so a copy of it checks the reply.
                let refused = session.clone().think(reply.draft(&name, &reply.text));
                refused.map(drop).map_err(|refused| refused.to_string())
            });
        if !stage.is_final {
            return question;
        }

        let offering = offering(cx, stage);
        let question = question.for_answer();
        question.with_check(move |reply| check_answer("the reply", &text_of(reply), &offering))
    }
}

/// Returns the answer in a reply: its text, or its fields if it has no text.
fn text_of(reply: &StageReply) -> String {
    if !reply.text.is_empty() {
        return reply.text.clone();
    }

    let mut values = reply.fields.values();
    match (values.next(), values.next()) {
        (Some(only), None) => trimmed(only),
        _ => json!(reply.fields).to_string(),
    }
}

/// Returns the problem and the prompt of a stage, which may offer a text such as `none` as a choice.
fn offering(cx: &Solve, stage: &Stage) -> String {
    format!("{}\n{}", cx.problem(), stage.prompt)
}
