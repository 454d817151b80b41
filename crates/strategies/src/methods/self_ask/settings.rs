/// Asks and answers smaller questions until the problem can be answered (Press et al. 2022).
///
/// The model is called once for each question: it asks the question and answers it in the same
/// reply, or answers the problem. A [tool](Self::with_answering_tool), such as a search, can answer
/// the questions instead. If it fails, its error is used as the answer.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `problem_decomposition` | the model: the first question, or the answer if none is needed |
/// | `sub_question_formulation` | the method: the question, with its number |
/// | `sub_question_answering` | the method: the answer of the same reply, or the tool |
/// | `answer_integration` | the method: question and answer |
/// | `completion_check` | the model: the next question, or the answer |
/// | `solution_formulation` | the method: the answer; or the model, once no more questions may be asked |
/// | `final_response` | the method: the answer |
///
/// If no smaller question is needed, the problem is the only question.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{SelfAsk, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "sub_question: When was the transistor invented?\nsub_question_answer: 1947",
///     "sub_question: Who was president of the USA in 1947?\nsub_question_answer: Harry S. Truman",
///     "answer: Harry S. Truman",
/// ]);
/// let solver = Solver::new(client, SelfAsk::new().with_max_questions(4));
/// let solved = solver.solve("Who was president of the USA when the transistor was invented?").await?;
/// assert_eq!(solved.answer(), Some("Harry S. Truman"));
/// assert_eq!(solved.spent().calls, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct SelfAsk {
    pub(super) max_questions: usize,
    /// The tool that answers the smaller questions. By default, the model answers them itself.
    pub(super) answering_tool: Option<String>,
}

impl Default for SelfAsk {
    fn default() -> Self {
        Self {
            max_questions: 10,
            answering_tool: None,
        }
    }
}

impl SelfAsk {
    /// Creates a method with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of smaller questions, which is at least 1. Once it is reached, the
    /// model is asked for the solution. The default is 10.
    #[must_use]
    pub fn with_max_questions(mut self, questions: usize) -> Self {
        self.max_questions = questions.max(1);
        self
    }

    /// Answers the questions with one of the solver's tools, which receives the question as its
    /// input. By default, the model answers its own questions.
    #[must_use]
    pub fn with_answering_tool(mut self, tool: impl Into<String>) -> Self {
        self.answering_tool = Some(tool.into());
        self
    }
}
