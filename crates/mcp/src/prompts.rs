//! Strategies as prompts, which explain to the model of a host how to work with the tools.

use cogwork_strategies::{Strategies, Strategy};
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};

use crate::method::Method;
use crate::resources::strategy_text;
use crate::tools::ServerTools;
use crate::{guided, solve, think};

/// What the loop is for.
const LOOP: &str = "Makes a plan, works through it, and evaluates and corrects it in each thought.";

/// Lists a prompt for each strategy, and one for the loop, if there is a tool to follow it.
pub(crate) fn list(strategies: &Strategies, tools: &ServerTools) -> ListPromptsResult {
    let strategies = strategies.iter();
    let strategies = strategies.map(|strategy| (strategy.name(), strategy.description()));
    let prompts = std::iter::once((Method::LOOP, LOOP)).chain(strategies);

    let prompts = prompts.filter(|(name, _)| tool_for(name, tools).is_some());
    let prompts = prompts.map(|(name, description)| {
        let problem = PromptArgument::new("problem")
            .with_description("The problem, with everything that is needed to solve it.")
            .with_required(true);
        Prompt::new(name, Some(description), Some(vec![problem]))
            .with_title(format!("Think by {}", name.replace('_', " ")))
    });
    ListPromptsResult::with_all_items(prompts.collect())
}

/// Returns the tool with which a strategy is followed.
fn tool_for(name: &str, tools: &ServerTools) -> Option<&'static str> {
    let method = Method::named(name);
    let is_guided = Method::guided().any(|guided| method == Some(guided));
    let suits = [
        (guided::NAME, is_guided),
        (think::NAME, name != Method::LOOP),
        (solve::NAME, method.is_some()),
    ];
    // In this order: guidance is worth most to a model, and another model costs most.
    let mut suits = suits.into_iter().filter(|(_, suits)| *suits);
    let (tool, _) = suits.find(|(tool, _)| tools.has_built_in(tool))?;
    Some(tool)
}

/// Returns the messages of a prompt.
pub(crate) fn get(
    strategies: &Strategies,
    tools: &ServerTools,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let strategy = strategies.get(&request.name);
    let name = match &strategy {
        Ok(strategy) => strategy.name(),
        Err(_) if request.name == Method::LOOP => Method::LOOP,
        Err(error) => {
            let message = format!("there is no such prompt: {error}, or `{}`", Method::LOOP);
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    let Some(tool) = tool_for(name, tools) else {
        let message = "there is no such prompt, because the server has no tool for it";
        return Err(ErrorData::invalid_params(message, None));
    };

    let arguments = request.arguments.unwrap_or_default();
    let problem = arguments.get("problem").and_then(|text| text.as_str());
    let problem = problem.map(str::trim).filter(|text| !text.is_empty());
    let Some(problem) = problem else {
        let message = "`problem` is missing; expected a text";
        return Err(ErrorData::invalid_params(message, None));
    };

    let how = match (tool, strategy) {
        (think::NAME, Ok(strategy)) => with_think(strategy),
        (solve::NAME, _) => with_solve(name),
        _ => with_reason(name),
    };
    // The problem comes last, so that nothing in it can be taken for the end of the instructions.
    let text = format!("{how}\n\nThe problem:\n\n{problem}");
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]))
}

fn with_reason(name: &str) -> String {
    let tools = match Method::named(name).is_some_and(Method::takes_tools) {
        true => " If you have tools that could help, describe them in `tools`.",
        false => "",
    };
    format!(
        "Solve the problem below with the tool `reason`, which guides you:\n\
        - First call it with the whole `problem`, and `strategy` set to `{name}`.{tools}\n\
        - Reply to each question with `sessionId`, `question` and `reply`, in exactly the form that the question asks \
        for. Each question is to be answered on its own.\n\
        - If a reply is refused, the result says where the problem is. Correct it, and reply again.\n\
        - Go on until there are no more questions. Then tell me the answer, and whether it is final."
    )
}

fn with_solve(name: &str) -> String {
    format!(
        "Solve the problem below with one call of the tool `solve`, which asks another model:\n\
        - Set `strategy` to `{name}`, and `problem` to the whole problem. That model sees nothing else, so add what \
        you know of our conversation that is needed.\n\
        - Check the answer before you tell it to me, and say whether the run found it or was stopped at a limit."
    )
}

fn with_think(strategy: &Strategy) -> String {
    let name = strategy.name();
    let table = strategy_text(strategy);
    format!(
        "Solve the problem below by thinking in the stages of the strategy `{name}`. Record each thought with the \
        tool `think` before you go on to the next one:\n\
        - In the first call, set `strategy` to `{name}`, and `thought` to what you think.\n\
        - Each result names the stages that may follow and what each one needs. Choose one of them as the `stage` of \
        the next thought, and give what it needs in `parameters`.\n\
        - A refused thought changes nothing. Correct what the error names, and call again.\n\
        - To try another way, set `branchFrom` to the number of an earlier thought and `branch` to a new name.\n\
        - When you have reached a final stage, tell me the answer.\n\n{table}"
    )
}
