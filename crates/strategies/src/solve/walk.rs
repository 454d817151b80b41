//! Working through the table of any strategy.

use cogwork_typed::ask::{NoAnswer, no_answer};
use serde_json::Value;

use super::{Answer, Ask, Method, Solve, StageReply, Stop};
use crate::{Stage, Strategy};

/// Asks the model in every stage.
///
/// The model receives the prompt of each stage, fills in the parameters of the stage, and chooses the
/// next stage if several may follow. If the start stage has no required parameters and one next
/// stage, it takes the problem, and the model isn't asked. The answer is the text of the final stage,
/// or its parameters if it has no text. If a run is stopped earlier, its best answer is the last
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
        let needs_reply = parameters.any(|parameter| parameter.required);
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
            match ends && no_answer_at(stage, &answer, cx.problem()).is_none() {
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

        let stage = stage.clone();
        let problem = cx.problem().to_owned();
        question.for_answer().with_check(move |reply| {
            let reason = no_answer_at(&stage, &text_of(reply), &problem);
            reason.map_or(Ok(()), |reason| Err(format!("the reply {reason}")))
        })
    }
}

/// Returns the answer in a reply: its text, or its fields if it has no text.
fn text_of(reply: &StageReply) -> String {
    if !reply.text.is_empty() {
        return reply.text.clone();
    }

    let shown = |value: &Value| match value.as_str() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    };
    let fields = reply.fields.iter();
    let lines: Vec<String> = match reply.fields.len() {
        1 => fields.map(|(_, only)| shown(only)).collect(),
        _ => fields
            .map(|(name, value)| format!("{name}: {}", shown(value)))
            .collect(),
    };
    lines.join("\n")
}

/// Returns why a text isn't an answer in a stage. The problem, the prompt of the stage and the type
/// of a parameter may offer a text such as `none` as a choice.
fn no_answer_at(stage: &Stage, text: &str, problem: &str) -> Option<NoAnswer> {
    let mut parameters = stage.parameters.values();
    if parameters.any(|parameter| parameter.kind.has_choice(text)) {
        return None;
    }
    no_answer(text, &format!("{problem}\n{}", stage.prompt))
}
