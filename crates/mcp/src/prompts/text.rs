//! The texts of prompts.

use std::fmt::Write;

use cogwork_strategies::Strategy;

use super::PromptArguments;
use crate::resources::parameter_line;

/// Explains how to think by a strategy with the tool `think`.
pub(super) fn think(strategy: &Strategy, arguments: &PromptArguments) -> String {
    let name = strategy.name();
    let start = strategy.start().name();
    let session = session(arguments);

    let mut text = format!(
        "Solve the problem below by thinking in the stages of the strategy `{name}`: {}\n\n\
        Record each thought with the tool `think` before you go on to the next one:\n\
        - In the first call, set `strategy` to `{name}`, `stage` to `{start}`{session}, and `thought` to what you think.\n\
        - Each result names the stages that may follow and what each one needs. Choose one of them as the `stage` of \
        the next thought, and give what it needs in `parameters`.\n\
        - A refused thought changes nothing. Correct what the error names, and call again.\n\
        - To try another way, set `branchFrom` to the number of an earlier thought and `branch` to a new name.\n\
        - When you have reached a final stage, tell me the answer.\n\n\
        The stages:\n\n",
        strategy.description()
    );

    for stage in strategy.stages() {
        // Writing to a text doesn't fail.
        let _ = writeln!(text, "- `{}`: {}", stage.name(), stage.prompt());
        for (name, parameter) in stage.parameters() {
            let _ = writeln!(text, "  - {}", parameter_line(name, parameter));
        }
        let next: Vec<_> = stage
            .next_names()
            .iter()
            .map(|next| format!("`{next}`"))
            .collect();
        let _ = match next.as_slice() {
            [] => writeln!(text, "  - final"),
            next => writeln!(text, "  - next: {}", next.join(", ")),
        };
    }

    format!("{}{}", text.trim_end(), problem(arguments))
}

/// Explains how to answer the questions of the tool `begin`.
pub(super) fn begin(name: &str, arguments: &PromptArguments) -> String {
    let session = session(arguments);
    format!(
        "Solve the problem below with the tools `begin` and `answer`, which guide you:\n\
        - Call `begin` with the whole problem, `strategy` set to `{name}`{session}. If you have tools that could help, \
        describe them in `tools`.\n\
        - Reply to each question with `answer`, in exactly the form that the question asks for. Each question is to \
        be answered on its own.\n\
        - If a reply is refused, the result says where the problem is. Correct it, and call `answer` again.\n\
        - Go on until there are no more questions. Then tell me the answer, and whether it is final.{}",
        problem(arguments)
    )
}

/// Explains how to use the tool `solve`.
pub(super) fn solve(name: &str, arguments: &PromptArguments) -> String {
    let session = session(arguments);
    format!(
        "Solve the problem below with one call of the tool `solve`, which asks another model:\n\
        - Set `strategy` to `{name}`{session}, and `problem` to the whole problem. That model sees nothing else, so add \
        what you know of our conversation that is needed.\n\
        - Check the answer before you tell it to me, and say whether the run found it or was stopped at a limit.{}",
        problem(arguments)
    )
}

fn session(arguments: &PromptArguments) -> String {
    let session = arguments.session_id.as_ref();
    let session = session.map(|id| format!(", `sessionId` to `{id}`"));
    session.unwrap_or_default()
}

/// The problem comes last, so that nothing in it can be taken for the end of the instructions.
fn problem(arguments: &PromptArguments) -> String {
    format!("\n\nThe problem:\n\n{}", arguments.problem.trim())
}
