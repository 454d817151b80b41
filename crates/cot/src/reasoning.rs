use cogwork_plan::Plan;
use cogwork_typed::ask::{Limits, Spent};
use serde::{Deserialize, Serialize};

use crate::{CotError, CutShort, Thought};

/// A problem, the thoughts on it so far, and the answer once there is one: the state of the
/// chain-of-thought node.
///
/// The serialised form has the field names of PocketFlow's thinking cookbook (`problem`,
/// `thoughts`, `current_thought_number`, `solution`), `spent` for the cost of the thoughts, and
/// `cut_short` if a limit ended the reasoning. A run with a state that was read back continues where
/// it stopped.
///
/// ```
/// use cogwork_cot::Reasoning;
///
/// let reasoning = Reasoning::new("What is 2 + 2?");
/// let saved = serde_json::to_string(&reasoning)?;
/// assert_eq!(saved, r#"{"problem":"What is 2 + 2?","thoughts":[],"current_thought_number":0,"solution":null}"#);
/// assert_eq!(serde_json::from_str::<Reasoning>(&saved)?, reasoning);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with the keys problem, thoughts, current_thought_number and solution"
)]
pub struct Reasoning {
    pub(crate) problem: String,
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) current_thought_number: u32,
    #[serde(default)]
    pub(crate) solution: Option<String>,
    #[serde(default, skip_serializing_if = "Spent::is_zero")]
    pub(crate) spent: Spent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cut_short: Option<CutShort>,
    /// The limits of the runs, in place of those of the node.
    #[serde(skip)]
    pub(crate) limits: Limits,
}

impl Reasoning {
    /// Creates a state without any thoughts.
    pub fn new(problem: impl Into<String>) -> Self {
        Self {
            problem: problem.into(),
            thoughts: Vec::new(),
            current_thought_number: 0,
            solution: None,
            spent: Spent::default(),
            cut_short: None,
            limits: Limits::default(),
        }
    }

    /// Returns the problem.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// Returns the thoughts so far, in order.
    pub fn thoughts(&self) -> &[Thought] {
        &self.thoughts
    }

    /// Returns the number of the current thought while it is being made, and otherwise that of the
    /// last one; 0 before the first.
    pub fn current_thought_number(&self) -> u32 {
        self.current_thought_number
    }

    /// Sets limits, which replace those of the node. The others are those of the node.
    ///
    /// A service builds one flow when it starts, and sets the limits of each request on its state.
    /// They aren't serialised: if a saved state is resumed, set them again.
    ///
    /// ```
    /// use cogwork_cot::{ChainOfThought, Reasoning};
    /// use cogwork_llm::ScriptedClient;
    /// use cogwork_typed::ask::Limits;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let client = ScriptedClient::new(["\
    /// # ```yaml
    /// # current_thinking: 2 + 2 = 4.
    /// # planning:
    /// #   - {description: Conclusion, status: Done, result: 4}
    /// # next_thought_needed: false
    /// # ```"]);
    /// let flow = ChainOfThought::new(client).into_flow();
    ///
    /// let limits = Limits::default().with_tokens(20_000);
    /// let mut reasoning = Reasoning::new("What is 2 + 2?").with_limits(limits);
    /// flow.run(&mut reasoning).await?;
    /// # assert_eq!(reasoning.answer(), Some("4"));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Returns whether the model ended the reasoning with an answer. It is `false` if there is no
    /// answer, or if the answer is the best one so far because a limit was reached.
    pub fn is_complete(&self) -> bool {
        self.solution().is_some() && self.cut_short().is_none()
    }

    /// Returns how a limit ended the reasoning, if one did.
    pub fn cut_short(&self) -> Option<&CutShort> {
        self.cut_short.as_ref()
    }

    /// Removes the end if a limit ended the reasoning, so that a run with higher limits continues
    /// after the last thought. Returns whether there was such an end.
    ///
    /// All thoughts and costs are kept, but the replies of a last turn that gave no conclusion are
    /// removed with its [record](Self::cut_short).
    pub fn reopen(&mut self) -> bool {
        if self.cut_short.take().is_none() {
            return false;
        }

        self.solution = None;
        if let Some(last) = self.thoughts.last_mut() {
            // It said that none follows.
            last.next_thought_needed = true;
        }

        true
    }

    /// Returns the answer once the reasoning has ended: the result of the last step of the plan, in
    /// a few words, or the [`solution`](Self::solution) if the step has no result. If a limit ended
    /// the reasoning, this is the best answer so far; see [`is_complete`](Self::is_complete).
    ///
    /// The text is returned as the model wrote it, even if it declines to answer. To find out, pass
    /// it to [`no_answer`](cogwork_typed::ask::no_answer).
    pub fn answer(&self) -> Option<&str> {
        self.conclusion().or(self.solution())
    }

    /// Returns the text of the last thought, which contains the answer, once the reasoning has
    /// ended.
    pub fn solution(&self) -> Option<&str> {
        self.solution.as_deref()
    }

    /// Returns the result of the last step, unless it is blank, once the reasoning has ended.
    pub(crate) fn conclusion(&self) -> Option<&str> {
        self.solution()?;
        // The prompts ask for the conclusion as the last step of the plan.
        let last_step = self.plan()?.steps().last()?;
        let result = last_step.result.as_deref()?.trim();
        (!result.is_empty()).then_some(result)
    }

    /// Returns the plan of the last thought.
    pub fn plan(&self) -> Option<&Plan> {
        self.thoughts.last().map(|last| &last.planning)
    }

    /// Returns the total cost of all thoughts.
    pub fn spent(&self) -> Spent {
        self.spent
    }

    /// Adds the cost of a failed turn, which is only available in its error. The limits then
    /// include this cost if the state is used for another run.
    ///
    /// With a `retry` of the flow, the error has the cost of all attempts. If an attempt succeeds,
    /// the cost of those before it is part of its thought.
    pub fn charge(&mut self, error: &CotError) {
        self.spent += error.trace().spent;
    }

    /// Sets the number of the next thought, and returns it.
    ///
    /// The number is derived from the number of thoughts, so a repeated turn does not count twice.
    pub(crate) fn begin_thought(&mut self) -> u32 {
        // Counted from the thoughts, so that a step that is made again keeps its number.
        let made = u32::try_from(self.thoughts.len()).unwrap_or(u32::MAX);
        self.current_thought_number = made.saturating_add(1);
        self.current_thought_number
    }

    /// Adds a thought, and sets the solution if the thought ends the reasoning.
    pub(crate) fn push(&mut self, thought: Thought) {
        self.spent += thought.trace.spent;

        if !thought.next_thought_needed {
            self.solution = Some(thought.current_thinking.clone());
        }

        self.thoughts.push(thought);
    }

    /// Ends the reasoning because of a limit. The solution is the text of the last thought.
    pub(crate) fn end_at_limit(&mut self, cut_short: CutShort) {
        // The calls of a conclusion that failed have no thought that counts them.
        self.spent += cut_short.trace.spent;
        self.solution = self
            .thoughts
            .last()
            .map(|last| last.current_thinking.clone());
        self.cut_short = Some(cut_short);
    }
}
