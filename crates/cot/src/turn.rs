//! One turn of the loop: `prep` builds the request, `exec` asks the model until a reply can be
//! used, and `post` adds the thought to the state.

use cogwork_ask::{Asking, Rung, Unanswered};
use cogwork_flow::{Action, Node};
use cogwork_llm::{ChatRequest, Messages};
use serde::{Deserialize, Serialize};

use crate::error::Kind;
use crate::form::Form;
use crate::format::rungs;
use crate::judge::Judge;
use crate::open_steps::OpenSteps;
use crate::tooling::Calling;
use crate::{
    Brief, ChainOfThought, CotError, Limit, Read, Reasoning, Reply, ReplyBounds, Thought, Trace,
};

/// The output of `exec`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Turn {
    reply: Reply,
    trace: Trace,
}

impl Node<Reasoning> for ChainOfThought {
    type Prep = Option<Brief>;
    type Exec = Option<Turn>;
    type Error = CotError;

    fn actions(&self) -> Vec<Action> {
        vec![Self::CONTINUE, Self::END]
    }

    fn prep(&self, state: &mut Reasoning) -> Result<Option<Brief>, CotError> {
        if state.answer().is_some() {
            return Ok(None);
        }

        let thought_number = state.begin_thought();
        if thought_number == 1 {
            self.reporter.started(state);
        }

        self.check(state)
            .map_err(|kind| CotError::new(thought_number, kind))?;
        Ok(Some(self.brief(state)))
    }

    async fn exec(&self, brief: &Option<Brief>) -> Result<Option<Turn>, CotError> {
        let Some(brief) = brief else { return Ok(None) };

        // Both outlive the future, which may time out, so no reply is lost.
        let mut judge = Judge::new(self, brief);
        let mut asking = Asking::new(&*self.client, &self.ladder, brief.rungs.clone())
            .with_asks_again(self.limits.asks_again)
            .with_streaming(self.streaming)
            .with_max_kept_bytes(self.limits.reply_bytes.max(MIN_KEPT_BYTES));

        let working = self.reporter.working(brief.thought_number);
        let asked = tokio::time::timeout(brief.time_left, asking.run(&mut judge)).await;
        drop(working);

        let read = match asked {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(unanswered)) => Err(kind(unanswered)),
            Err(_) => Err(Kind::Limit(Limit::Time(self.limits.time))),
        };

        let spent = judge.spent();
        let tool_calls = judge.take_tool_calls();
        let record = asking.into_record();
        let trace = Trace::new(record, tool_calls, spent);

        // If there already is a conclusion, it is used, even if the question about it failed.
        match read.or_else(|kind| judge.into_early_end().ok_or(kind)) {
            Ok(read) => Ok(Some(turn(read, trace))),
            Err(kind) => Err(CotError::new(brief.thought_number, kind).with_trace(trace)),
        }
    }

    fn post(
        &self,
        state: &mut Reasoning,
        _: Option<Brief>,
        turn: Option<Turn>,
    ) -> Result<Action, CotError> {
        let Some(Turn { reply, trace }) = turn else {
            return Ok(Self::END);
        };

        state.push(Thought::new(state.current_thought_number(), reply, trace));
        self.reporter.thought(state);

        if state.answer().is_none() {
            return Ok(Self::CONTINUE);
        }

        self.reporter.answered(state);
        Ok(Self::END)
    }
}

impl ChainOfThought {
    /// Returns an error if the turn cannot be made.
    fn check(&self, state: &Reasoning) -> Result<(), Kind> {
        let limits = self.limits;
        let spent = state.spent();

        if let Err(error) = self.prompts.check() {
            return Err(Kind::Prompts(error));
        }

        if state.problem().trim().is_empty() {
            return Err(Kind::EmptyProblem);
        }

        let reached = if state.current_thought_number() > limits.thoughts {
            Limit::Thoughts(limits.thoughts)
        } else if spent.tokens() >= limits.tokens {
            Limit::Tokens(limits.tokens)
        } else if spent.time >= limits.time {
            Limit::Time(limits.time)
        } else {
            return Ok(());
        };

        Err(Kind::Limit(reached))
    }

    fn brief(&self, state: &mut Reasoning) -> Brief {
        let spent = state.spent();
        let bounds = self
            .request
            .max_tokens()
            .map_or_else(ReplyBounds::default, ReplyBounds::for_tokens);

        let calling = self.tooling.calling(&*self.client);
        let rungs = self.rungs(state, bounds);
        let forms = rungs.iter().map(|rung| Form::from(*rung));
        let conversations = forms
            .map(|form| (form, self.conversation(state, form, calling)))
            .collect();

        Brief {
            thought_number: state.current_thought_number(),
            request: self.settings(calling),
            conversations,
            bounds,
            rungs,
            calling,
            tokens_left: self.limits.tokens.saturating_sub(spent.tokens()),
            time_left: self.limits.time.saturating_sub(spent.time),
        }
    }

    /// Returns the forms in which the reply may be requested, tightest first. They do not depend on
    /// what the server has refused so far, because a replay must prepare the same turn again.
    fn rungs(&self, state: &Reasoning, bounds: ReplyBounds) -> Vec<Rung> {
        let has_own_format = self.request.format().is_some();
        let has_json_prompts = self.prompts.json.is_some();

        if has_own_format || !has_json_prompts {
            return vec![Rung::Text];
        }

        let capabilities = self.client.capabilities();
        rungs(self.format, capabilities, state.plan(), bounds)
    }

    /// Returns the settings of every request.
    fn settings(&self, calling: Calling) -> ChatRequest {
        let request = self.request.clone();
        match calling {
            Calling::Natively => request.with_tools(self.tooling.tools.definitions()),
            Calling::Never | Calling::InReplies => request,
        }
    }

    fn conversation(&self, state: &mut Reasoning, form: Form, calling: Calling) -> Messages {
        let instructions = match calling {
            Calling::Never => String::new(),
            Calling::Natively => self.prompts.native_tools(form),
            Calling::InReplies => {
                let definitions = self.tooling.tools.definitions();
                self.prompts.tools_in_reply(form, definitions)
            }
        };

        let (record, transcript) = state.parts();
        transcript.conversation(&self.prompts, record, self.history, form, &instructions)
    }
}

/// The minimum number of bytes of an unusable reply that are kept, regardless of the limit.
const MIN_KEPT_BYTES: usize = 256 * 1024;

fn turn(read: Read, mut trace: Trace) -> Turn {
    trace.ended_early = OpenSteps::left_by(&read.reply).is_some();
    trace.repairs = read.repairs;
    trace.truncated = read.truncated;

    Turn {
        reply: read.reply,
        trace,
    }
}

fn kind(unanswered: Unanswered<crate::ReplyProblem, Limit>) -> Kind {
    match unanswered {
        Unanswered::Client(error) => Kind::Client(error),
        Unanswered::Unusable(problem) => Kind::Reply(problem),
        Unanswered::Limit(limit) => Kind::Limit(limit),
    }
}
