//! Self-ask: smaller questions first.

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Asked, Call, Limits, SelfAsk, Solver, StrategyName};
use cogwork_tools::schemars::JsonSchema;
use cogwork_tools::{ToolError, Tools, function};
use serde::Deserialize;

use crate::methods::support::{conversation, only_append, told};

const PROBLEM: &str = "Who was president of the USA when the transistor was invented?";

#[tokio::test]
async fn each_cycle_is_one_question() {
    let client = ScriptedClient::new([
        "thought: Yes, the year.\nsub_question: When was the transistor invented?\nsub_question_answer: 1947",
        "sub question: Who was president in 1947?\nsub question answer: Harry S. Truman\nanswer: none",
        "thought: Both are known.\nanswer: Harry S. Truman",
    ]);

    let solved = Solver::new(client.clone(), StrategyName::SelfAsk)
        .solve(PROBLEM)
        .await
        .unwrap();
    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: Who was president of the USA when the transistor was invented?
      2 problem_decomposition: Yes, the year.
      3 sub_question_formulation: When was the transistor invented? · sub_question_number = 1
      4 sub_question_answering: 1947 · sub_question_number = 1
      5 answer_integration: When was the transistor invented? 1947
      6 completion_check: A smaller question is needed.
      7 sub_question_formulation: Who was president in 1947? · sub_question_number = 2
      8 sub_question_answering: Harry S. Truman · sub_question_number = 2
      9 answer_integration: Who was president in 1947? Harry S. Truman
     10 completion_check: Both are known.
     11 solution_formulation: Harry S. Truman
     12 final_response: Harry S. Truman
    answer: Harry S. Truman
    end: answered
    spent: 3 calls, about 1138 tokens
    ");

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(client.requests().last().unwrap()), @"
    [system] You solve a problem in small stages. Ask and answer smaller questions until the first one can be answered. Press et al. 2022.
    Each message asks for one stage. Do what it asks and nothing else.

    [user] The problem:
    Who was president of the USA when the transistor was invented?

    Say what must be known before the question can be answered. Ask one smaller question that can be answered by itself and answer it, or give the answer to the problem if no more is needed.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    sub_question: the next smaller question, if one is needed (a text, may be left out)
    sub_question_answer: the answer to the smaller question (a text, may be left out)
    answer: the answer to the problem, if no smaller question is needed (a text, may be left out)

    [assistant] thought: Yes, the year.
    sub_question: When was the transistor invented?
    sub_question_answer: 1947

    [user] Decide whether the first question can be answered now. If not, ask another one. Ask one smaller question that can be answered by itself and answer it, or give the answer to the problem if no more is needed.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    sub_question: the next smaller question, if one is needed (a text, may be left out)
    sub_question_answer: the answer to the smaller question (a text, may be left out)
    answer: the answer to the problem, if no smaller question is needed (a text, may be left out)

    [assistant] sub question: Who was president in 1947?
    sub question answer: Harry S. Truman
    answer: none

    [user] Decide whether the first question can be answered now. If not, ask another one. Ask one smaller question that can be answered by itself and answer it, or give the answer to the problem if no more is needed.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    sub_question: the next smaller question, if one is needed (a text, may be left out)
    sub_question_answer: the answer to the smaller question (a text, may be left out)
    answer: the answer to the problem, if no smaller question is needed (a text, may be left out)
    ");
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "cogwork_tools::schemars")]
struct Query {
    query: String,
}

fn search() -> Tools {
    let search = |Query { query }: Query| async move {
        match query.as_str() {
            "When was the transistor invented?" => Ok("in December 1947".to_owned()),
            _ => Err(ToolError::failed("nothing found")),
        }
    };
    Tools::new()
        .with(function("search", "Searches.", search))
        .unwrap()
}

#[tokio::test]
async fn a_tool_can_answer() {
    let client = ScriptedClient::new([
        // The answer was given before that of the tool, so it doesn't count.
        "sub_question: When was the transistor invented?\nanswer: Roosevelt",
        "sub_question: Who was president then?",
        "answer: Truman",
    ]);

    let driver = SelfAsk {
        answering_tool: Some("search".to_owned()),
        ..SelfAsk::default()
    };
    let solved = Solver::new(client.clone(), driver)
        .with_tools(search())
        .solve(PROBLEM)
        .await
        .unwrap();

    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: Who was president of the USA when the transistor was invented?
      2 problem_decomposition: A smaller question is needed.
      3 sub_question_formulation: When was the transistor invented? · sub_question_number = 1
      4 sub_question_answering: in December 1947 · sub_question_number = 1
      5 answer_integration: When was the transistor invented? in December 1947
      6 completion_check: A smaller question is needed.
      7 sub_question_formulation: Who was president then? · sub_question_number = 2
      8 sub_question_answering: the tool `search` failed: nothing found · sub_question_number = 2
      9 answer_integration: Who was president then? the tool `search` failed: nothing found
     10 completion_check: No smaller question is needed.
     11 solution_formulation: Truman
     12 final_response: Truman
    answer: Truman
    end: answered
    spent: 3 calls, about 974 tokens, 2 tool calls
    ");

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(client.requests().last().unwrap()), @"
    [system] You solve a problem in small stages. Ask and answer smaller questions until the first one can be answered. Press et al. 2022.
    Each message asks for one stage. Do what it asks and nothing else.

    [user] The problem:
    Who was president of the USA when the transistor was invented?

    Say what must be known before the question can be answered. Ask one smaller question that can be answered by itself, or give the answer to the problem if no more is needed.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    sub_question: the next smaller question, if one is needed (a text, may be left out)
    answer: the answer to the problem, if no smaller question is needed (a text, may be left out)

    [assistant] sub_question: When was the transistor invented?
    answer: Roosevelt

    [user] The answer to question 1: in December 1947

    Decide whether the first question can be answered now. If not, ask another one. Ask one smaller question that can be answered by itself, or give the answer to the problem if no more is needed.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    sub_question: the next smaller question, if one is needed (a text, may be left out)
    answer: the answer to the problem, if no smaller question is needed (a text, may be left out)

    [assistant] sub_question: Who was president then?

    [user] The answer to question 2: the tool `search` failed: nothing found

    Decide whether the first question can be answered now. If not, ask another one. Ask one smaller question that can be answered by itself, or give the answer to the problem if no more is needed.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    sub_question: the next smaller question, if one is needed (a text, may be left out)
    answer: the answer to the problem, if no smaller question is needed (a text, may be left out)
    ");

    let missing = Solver::new(
        client,
        SelfAsk {
            answering_tool: Some("find".to_owned()),
            ..SelfAsk::default()
        },
    )
    .with_tools(search());
    assert_eq!(
        missing.solve(PROBLEM).await.unwrap_err().to_string(),
        "stage `problem_reception`: there is no tool `find` to answer questions; expected `search`"
    );
}

#[tokio::test]
async fn a_problem_that_needs_no_question_needs_one_call() {
    let client = ScriptedClient::new(["thought: I know that.\nanswer: 4"]);
    let solved = Solver::new(
        client,
        SelfAsk {
            answering_tool: Some("search".to_owned()),
            ..SelfAsk::default()
        },
    )
    .with_tools(search())
    .solve("2 + 2?")
    .await
    .unwrap();

    insta::assert_snapshot!(told(&solved), @"
      1 problem_reception: 2 + 2?
      2 problem_decomposition: I know that.
      3 sub_question_formulation: 2 + 2? · sub_question_number = 1
      4 sub_question_answering: 4 · sub_question_number = 1
      5 answer_integration: 2 + 2? 4
      6 completion_check: The problem can be answered.
      7 solution_formulation: 4
      8 final_response: 4
    answer: 4
    end: answered
    spent: 1 call, about 169 tokens
    ");
}

#[tokio::test]
async fn the_questions_have_an_end() {
    let question =
        |number: u32| format!("sub_question: What is {number}?\nsub_question_answer: {number}");
    let client = ScriptedClient::new((1..=3).map(question).chain(["answer: 6".to_owned()]));
    let solver = Solver::new(
        client.clone(),
        SelfAsk {
            max_questions: 3,
            ..SelfAsk::default()
        },
    );
    let solved = solver.solve("1 + 2 + 3?").await.unwrap();

    assert_eq!((solved.answer(), solved.spent().calls), (Some("6"), 4));

    let client = ScriptedClient::new((1..=100).map(question));
    let solver = Solver::new(
        client,
        SelfAsk {
            max_questions: 1000,
            ..SelfAsk::default()
        },
    )
    .with_limits(Limits::default().with_calls(9).with_conclude(false));
    let solved = solver.solve("1 + 2 + 3?").await.unwrap();
    assert_eq!(
        (solved.answer(), solved.end().to_string().as_str()),
        (None, "the budget of 9 calls is spent")
    );
}

#[tokio::test]
async fn the_same_question_again_is_no_progress() {
    let same = "sub_question: When was the transistor invented?\nsub_question_answer: 194";
    let client = ScriptedClient::new((0..9).map(|turn| format!("{same}{turn}")));
    let solved = Solver::new(client, StrategyName::SelfAsk)
        .solve(PROBLEM)
        .await
        .unwrap();
    assert_eq!(
        solved.end().to_string(),
        "no progress: the thoughts repeated 3 times up to the stage `sub_question_formulation`"
    );
    assert_eq!(solved.spent().calls, 3);
}

#[tokio::test]
async fn a_reply_that_neither_asks_nor_answers_is_asked_for_again() {
    let client = ScriptedClient::new([
        "",
        "thought: Hm.",
        "sub_question: When was the transistor invented?\nsub_question_answer: 1947\nanswer: Truman",
    ]);

    let solved = Solver::new(client, StrategyName::SelfAsk)
        .solve(PROBLEM)
        .await
        .unwrap();
    let Some(Call::Model(Asked { tries, .. })) = solved.trace().calls().first() else {
        panic!("no call")
    };

    let complaints: Vec<_> = tries
        .iter()
        .filter_map(|one| one.complaint.as_deref())
        .collect();
    insta::assert_snapshot!(complaints.join("\n"), @"
    line 1: the reply is empty; expected lines with `thought: …`, `sub_question: …`, `sub_question_answer: …`, `answer: …`
    the reply has neither `sub_question` nor `answer`, expected one
    ");

    // One reply with the question, its answer, and the answer to the problem.
    assert_eq!((solved.answer(), solved.spent().calls), (Some("Truman"), 3));
}
