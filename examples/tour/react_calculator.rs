//! ReAct with tools that are typed functions. The model behind the client is a few rules that read the
//! conversation: the problem, and what the tools gave. It reasons one operation at a time and cannot
//! calculate; the tools can.
//!
//! ```text
//! What is (17 + 4) * 3 - 6 / 4?
//!   thought      It is (17 + 4) * 3 - 6 / 4 now; first 17 + 4.
//!   action       add {"a":17,"b":4}
//!   observation  21
//!   thought      It is 21 * 3 - 6 / 4 now; first 21 * 3.
//!   action       multiply {"a":21,"b":3}
//!   observation  63
//!   thought      It is 63 - 6 / 4 now; first 6 / 4.
//!   action       divide {"a":6,"b":4}
//!   observation  1.5
//!   thought      It is 63 - 1.5 now; first 63 - 1.5.
//!   action       subtract {"a":63,"b":1.5}
//!   observation  61.5
//!   thought      Nothing is left to do.
//!   -> 61.5 (5 calls, about 2700 tokens, 4 tool calls)
//!
//! What is 5 / (4 - 2 * 2)?
//!   thought      It is 5 / (4 - 2 * 2) now; first 2 * 2.
//!   action       multiply {"a":2,"b":2}
//!   observation  4
//!   thought      It is 5 / (4 - 4) now; first 4 - 4.
//!   action       subtract {"a":4,"b":4}
//!   observation  0
//!   thought      It is 5 / 0 now; first 5 / 0.
//!   action       divide {"a":5,"b":0}
//!   observation  the tool `divide` failed: nothing can be divided by 0
//!   thought      That cannot be done: the tool `divide` failed: nothing can be divided by 0.
//!   -> undefined (4 calls, about 1992 tokens, 3 tool calls)
//! ```
//!
//! `cargo run --example tour -- react_calculator "(3 + 4) * (10 - 4)"` takes another problem.

use std::error::Error;

use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Message, Role, async_trait};
use cogwork::strategies::Solver;
use cogwork::strategies::methods::React;
use cogwork::tools::schemars::JsonSchema;
use cogwork::tools::{ToolError, Tools, function};
use cogwork::typed::ask::Limits;
use serde::Deserialize;

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let solver = Solver::new(Reader, React::default())
        .with_tools(tools()?)
        .with_limits(Limits::default().with_calls(20));
    let given: Vec<String> = std::env::args().skip(2).collect();
    let problems = match given.is_empty() {
        true => ["What is (17 + 4) * 3 - 6 / 4?", "What is 5 / (4 - 2 * 2)?"]
            .map(String::from)
            .to_vec(),
        false => given,
    };

    for problem in problems {
        let solved = solver.solve(problem).await?;
        println!("{}", solved.trace().problem());
        for thought in solved.trace().session().thoughts() {
            match thought.stage() {
                "initial_reasoning" | "reasoning_update" => {
                    println!("  thought      {}", thought.text())
                }
                "action_planning" => {
                    let said = |name: &str| {
                        thought
                            .parameter(name)
                            .map(ToString::to_string)
                            .unwrap_or_default()
                    };
                    println!(
                        "  action       {} {}",
                        said("action").trim_matches('"'),
                        said("action_input")
                    );
                }
                "observation_reception" => println!("  observation  {}", thought.text()),
                _ => {}
            }
        }

        println!(
            "  -> {} ({})\n",
            solved.answer().unwrap_or("none"),
            solved.spent()
        );
    }

    Ok(())
}

/// Two numbers.
#[derive(Deserialize, JsonSchema)]
struct Two {
    a: f64,
    b: f64,
}

fn tools() -> Result<Tools, ToolError> {
    Tools::new()
        .with(function("add", "a + b", |Two { a, b }| async move {
            Ok((a + b).to_string())
        }))?
        .with(function("subtract", "a - b", |Two { a, b }| async move {
            Ok((a - b).to_string())
        }))?
        .with(function("multiply", "a * b", |Two { a, b }| async move {
            Ok((a * b).to_string())
        }))?
        .with(function("divide", "a / b", |Two { a, b }| async move {
            if b == 0.0 {
                Err(ToolError::failed("nothing can be divided by 0"))
            } else {
                Ok((a / b).to_string())
            }
        }))
}

/// The model: reads a conversation and chooses the next action.
struct Reader;

#[async_trait]
impl LlmClient for Reader {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let told: Vec<&Message> = request
            .messages()
            .iter()
            .filter(|message| message.role() == Role::User)
            .collect();

        let problem = told
            .first()
            .and_then(|message| message.text().lines().nth(1))
            .unwrap_or_default();
        let observed = told
            .iter()
            .filter_map(|message| message.text().lines().next()?.strip_prefix("Observation: "));

        let mut terms = terms(problem);
        for observation in observed {
            let Some(operation) = next(&terms) else { break };
            let Ok(value) = observation.parse() else {
                return Ok(finish(
                    &format!("That cannot be done: {observation}."),
                    "undefined",
                ));
            };

            apply(&mut terms, operation, value);
        }

        let Some(at) = next(&terms) else {
            return Ok(finish("Nothing is left to do.", &written(&terms)));
        };

        let (Some(Term::Number(a)), Some(Term::Sign(sign)), Some(Term::Number(b))) =
            (terms.get(at - 1), terms.get(at), terms.get(at + 1))
        else {
            return Ok(finish("I do not understand the problem.", "unknown"));
        };

        let action = match sign {
            '+' => "add",
            '-' => "subtract",
            '*' => "multiply",
            _ => "divide",
        };

        Ok(ChatResponse::new(format!(
            "thought: It is {} now; first {a} {sign} {b}.\naction: {action}\naction_input: {{\"a\": {a}, \"b\": {b}}}",
            written(&terms)
        )))
    }
}

fn finish(thought: &str, answer: &str) -> ChatResponse {
    ChatResponse::new(format!(
        "thought: {thought}\naction: finish\naction_input: {answer}"
    ))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Term {
    Number(f64),
    Sign(char),
}

/// Returns the numbers and signs of a problem, without the words.
fn terms(problem: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut digits = String::new();
    for letter in problem.chars().chain([' ']) {
        if letter.is_ascii_digit() || (letter == '.' && !digits.is_empty()) {
            digits.push(letter);
            continue;
        }

        terms.extend(digits.trim_end_matches('.').parse().ok().map(Term::Number));
        digits.clear();
        if "+-*/()".contains(letter) {
            terms.push(Term::Sign(letter));
        }
    }

    terms
}

/// Returns the position of the next operator to apply: in the innermost parentheses, products
/// before sums.
fn next(terms: &[Term]) -> Option<usize> {
    let close = terms
        .iter()
        .position(|term| *term == Term::Sign(')'))
        .unwrap_or(terms.len());
    let open = terms
        .get(..close)?
        .iter()
        .rposition(|term| *term == Term::Sign('('))
        .map_or(0, |open| open + 1);

    let sign = |signs: [char; 2]| {
        let is_one = |term: &Term| matches!(term, Term::Sign(sign) if signs.contains(sign));
        terms
            .get(open..close)?
            .iter()
            .position(is_one)
            .map(|place| place + open)
    };

    sign(['*', '/'])
        .or_else(|| sign(['+', '-']))
        .filter(|place| *place > 0)
}

/// Replaces an operation with its value, and removes parentheses that then contain nothing else.
fn apply(terms: &mut Vec<Term>, at: usize, value: f64) {
    terms.splice(at - 1..(at + 2).min(terms.len()), [Term::Number(value)]);
    let around = |place: usize| terms.get(place).copied();
    if at >= 2 && around(at - 2) == Some(Term::Sign('(')) && around(at) == Some(Term::Sign(')')) {
        terms.splice(at - 2..=at, [Term::Number(value)]);
    }
}

fn written(terms: &[Term]) -> String {
    let text = |term: &Term| match term {
        Term::Number(number) => number.to_string(),
        Term::Sign(sign) => sign.to_string(),
    };
    terms
        .iter()
        .map(text)
        .collect::<Vec<_>>()
        .join(" ")
        .replace("( ", "(")
        .replace(" )", ")")
}
