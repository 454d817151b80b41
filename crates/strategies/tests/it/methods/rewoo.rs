//! ReWOO: plan, evidence, solution.

use std::time::Duration;

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Asked, Call, Called, Limits, Rewoo, Solver, StrategyName};
use cogwork_tools::{ToolError, Tools, function};
use serde_json::Value;
use tokio::time::Instant;

use crate::methods::support::{conversation, only_append, told};

fn tools() -> Tools {
    let heights = |place: Value| async move {
        match place.get("of").and_then(Value::as_str) {
            Some("Galdhøpiggen") => Ok("2469".to_owned()),
            Some("Snøhetta") => Ok("2286".to_owned()),
            _ => Err(ToolError::failed("not on the map")),
        }
    };

    let minus = |input: Value| async move {
        let number = |name: &str| {
            input
                .get(name)
                .and_then(Value::as_str)
                .and_then(|text| text.parse::<i64>().ok())
        };
        match (number("a"), number("b")) {
            (Some(a), Some(b)) => Ok((a - b).to_string()),
            _ => Err(ToolError::failed("`a` and `b` must be numbers")),
        }
    };

    let tools = Tools::new()
        .with(function(
            "height",
            "The height of a mountain in metres.",
            heights,
        ))
        .unwrap();

    tools.with(function("minus", "a - b.", minus)).unwrap()
}

fn solver(client: &ScriptedClient) -> Solver {
    Solver::new(client.clone(), StrategyName::Rewoo).with_tools(tools())
}

const PROBLEM: &str = "How much higher is Galdhøpiggen than Snøhetta?";
const PLAN: &str = r##"I need both heights.

Plan: Find the height of Galdhøpiggen.
#E1 = height{"of": "Galdhøpiggen"}
**Plan:** Find the height of Snøhetta.
`#E2 = height[{"of": "Snøhetta"}]`
Plan: Take one from the other. #E3 = minus({
  "a": "#E1",
  "b": "#E2"
})

Plan: Say it."##;

#[tokio::test]
async fn plan_and_solution_are_two_calls_of_the_model() {
    let client = ScriptedClient::new([PLAN, "thought: 2469 - 2286 = 183.\nanswer: 183 m"]);
    let solved = solver(&client).solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r##"
      1 problem_reception: How much higher is Galdhøpiggen than Snøhetta?
      2 planning_phase: I need both heights. · plan = ["Find the height of Galdhøpiggen. (#E1)","Find the height of Snøhetta. (#E2)","Take one from the other. (#E3)","Say it."]
      3 tool_call_specification: #E1 = height, #E2 = height, #E3 = minus · tool_calls = [{"id":"#E1","input":{"of":"Galdhøpiggen"},"tool":"height"},{"id":"#E2","input":{"of":"Snøhetta"},"tool":"height"},{"id":"#E3","input":{"a":"#E1","b":"#E2"},"tool":"minus"}]
      4 working_phase: 2469 2286 183
      5 evidence_collection: #E1 = 2469 #E2 = 2286 #E3 = 183 · evidence = {"#E1":"2469","#E2":"2286","#E3":"183"}
      6 solving_phase: 2469 - 2286 = 183.
      7 final_response: 183 m
    answer: 183 m
    end: answered
    spent: 2 calls, about 568 tokens, 3 tool calls
    "##);

    insta::assert_snapshot!(solved.trace().plan().unwrap().outline(), @"
    - [Done] Find the height of Galdhøpiggen. (#E1): 2469
    - [Done] Find the height of Snøhetta. (#E2): 2286
    - [Done] Take one from the other. (#E3): 183
    - [Done] Say it.
    ");

    assert!(only_append(&client.requests()));
    insta::assert_snapshot!(conversation(client.requests().last().unwrap()), @r##"
    [system] You solve a problem by a plan whose steps call tools. First you write the whole plan; then all calls are made, and you are told what they brought.

    The tools:
    - height: The height of a mountain in metres. Its input is JSON of this schema: {"type":"object"}
    - minus: a - b. Its input is JSON of this schema: {"type":"object"}

    [user] The problem:
    How much higher is Galdhøpiggen than Snøhetta?

    Plan every step that is needed to solve the problem, before anything is called.

    Write for each step:
    Plan: what is done, and why
    #E1 = tool[input]
    The evidence is named #E1, #E2 and so on. The input is JSON, or a text alone; the name of earlier evidence in it stands for what that call brings. A step that calls nothing has no second line.

    [assistant] I need both heights.

    Plan: Find the height of Galdhøpiggen.
    #E1 = height{"of": "Galdhøpiggen"}
    **Plan:** Find the height of Snøhetta.
    `#E2 = height[{"of": "Snøhetta"}]`
    Plan: Take one from the other. #E3 = minus({
      "a": "#E1",
      "b": "#E2"
    })

    Plan: Say it.

    [user] The evidence:
    #E1 = 2469
    #E2 = 2286
    #E3 = 183

    Solve the problem with the plan and the evidence alone.

    Write these lines, each name at the beginning of a line:
    thought: your thought
    answer: the answer to the problem, short and complete (a text)
    "##);
}

#[tokio::test(start_paused = true)]
async fn calls_take_the_time_of_the_longest_way_through_them() {
    let wait = |input: Value| async move {
        let seconds = input.get("s").and_then(Value::as_u64).unwrap_or_default();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok(format!("waited {seconds}"))
    };

    let tools = Tools::new().with(function("wait", "Waits.", wait)).unwrap();
    let plan = "Plan: First.\n#E1 = wait{\"s\": 1}\n\
                Plan: Left.\n#E2 = wait{\"s\": 5, \"after\": \"#E1\"}\n\
                Plan: Right.\n#E3 = wait{\"s\": 7, \"after\": \"#E1\"}\n\
                Plan: Both.\n#E4 = wait{\"s\": 2, \"after\": [\"#E2\", \"#E3\"]}";
    let client = ScriptedClient::new([plan, "done"]);
    let started = Instant::now();
    let solved = Solver::new(client, Rewoo::default())
        .with_tools(tools)
        .solve("Wait.")
        .await
        .unwrap();

    assert_eq!(started.elapsed(), Duration::from_secs(1 + 7 + 2));
    assert_eq!(solved.spent().time, Duration::from_secs(10));
    let Some(Call::Tool(Called { input, .. })) = solved.trace().calls().iter().rev().nth(1) else {
        panic!("no call")
    };

    assert_eq!(
        input.to_string(),
        r#"{"after":["waited 5","waited 7"],"s":2}"#
    );
}

#[tokio::test]
async fn a_plan_that_cannot_be_carried_out_is_asked_for_again() {
    let complaint = |reply: &'static str| async move {
        let client = ScriptedClient::new([reply, PLAN, "183 m"]);
        let solver = Solver::new(client.clone(), Rewoo { max_calls: 3 }).with_tools(tools());
        let solved = solver.solve(PROBLEM).await.unwrap();
        assert_eq!((solved.answer(), solved.spent().calls), (Some("183 m"), 3));
        let Some(Call::Model(Asked { tries, .. })) = solved.trace().calls().first() else {
            panic!("no call")
        };

        tries[0].complaint.clone().unwrap()
    };

    let complaints = [
        complaint("").await,
        complaint("I would look it up.").await,
        complaint("Plan: Search.\n#E1 = search[K2]").await,
        complaint("Plan: Subtract.\n#E1 = minus{\"a\": \"#E2\"}\nPlan: Find.\n#E2 = height[K2]")
            .await,
        complaint("Plan: Find.\n#E1 = height[K2]\nPlan: Find.\n#E2 = height[#E3]").await,
        complaint("Plan: Find.\n#E1 = height[#E1]").await,
        complaint("Plan: Find.\n#E1 = height[K2]\n#E1 = height[K3]").await,
        complaint(concat!(
            "Plan: Dig.\n#E1 = height",
            "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
            "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"
        ))
        .await,
        complaint("#E1 = height[a]\n#E2 = height[a]\n#E3 = height[a]\n#E4 = height[a]").await,
    ];

    insta::assert_snapshot!(complaints.join("\n"), @"
    the reply is empty; expected a text
    there is no call; expected a line such as `#E1 = tool[input]`
    `#E1` calls `search`; expected `height` or `minus`
    `#E1` uses `#E2`; expected no evidence, since it is the first
    `#E2` uses `#E3`; expected `#E1`
    `#E1` uses `#E1`; expected no evidence, since it is the first
    `#E1` is used twice; expected a different name for each call
    `#E1` is more than 32 levels, expected JSON of at most 32 levels
    the plan has 4 steps and 4 calls; expected at most 100 and 3
    ");
}

#[tokio::test]
async fn a_call_that_fails_is_evidence_too() {
    let client = ScriptedClient::new([
        "Plan: Find it.\n#E1 = height[K2]\nPlan: Compare.\n#E2 = minus{\"a\": \"#E1\", \"b\": \"0\"}",
        "It cannot be told.",
    ]);
    let solved = solver(&client).solve(PROBLEM).await.unwrap();
    insta::assert_snapshot!(told(&solved), @r##"
      1 problem_reception: How much higher is Galdhøpiggen than Snøhetta?
      2 planning_phase: Find it. (#E1) Compare. (#E2) · plan = ["Find it. (#E1)","Compare. (#E2)"]
      3 tool_call_specification: #E1 = height, #E2 = minus · tool_calls = [{"id":"#E1","input":"K2","tool":"height"},{"id":"#E2","input":{"a":"#E1","b":"0"},"tool":"minus"}]
      4 working_phase: the tool `height` failed: not on the map the tool `minus` failed: `a` and `b` must be numbers
      5 evidence_collection: #E1 = the tool `height` failed: not on the map #E2 = the tool `minus` failed: `a` and `b` must be numbers · evidence = {"#E1":"the tool `height` failed: not on the map","#E2":"the tool `minus` failed: `a` and `b` must be numbers"}
      6 solving_phase: It cannot be told.
      7 final_response: It cannot be told.
    answer: It cannot be told.
    end: answered
    spent: 2 calls, about 489 tokens, 2 tool calls
    "##);

    insta::assert_snapshot!(solved.trace().plan().unwrap().outline(), @"
    - [Verification Needed] Find it. (#E1) (the tool `height` failed: not on the map)
    - [Verification Needed] Compare. (#E2) (the tool `minus` failed: `a` and `b` must be numbers)
    ");
}

#[tokio::test(start_paused = true)]
async fn a_budget_spent_in_the_middle_leaves_the_plan_as_far_as_it_came() {
    let ended = |budget: Limits| async move {
        let client = ScriptedClient::new([PLAN, "183 m"]);
        let solver = Solver::new(client, StrategyName::Rewoo)
            .with_tools(tools())
            .with_limits(budget);
        let solved = solver.solve(PROBLEM).await.unwrap();
        let progress = solved
            .trace()
            .plan()
            .map(|plan| plan.progress().to_string());

        format!(
            "{}: {}, {}",
            solved.end(),
            solved.answer().unwrap_or("(none)"),
            progress.unwrap_or_default()
        )
    };

    let budget = Limits::default().with_conclude(false);
    let ends = [
        ended(budget.with_calls(0)).await,
        ended(budget.with_calls(1)).await,
        ended(budget.with_thoughts(3)).await,
        ended(budget.with_thoughts(6)).await,
        ended(budget).await,
    ];

    insta::assert_snapshot!(ends.join("\n"), @"
    the budget of 0 calls is spent: (none), 
    the budget of 1 calls is spent: (none), 3 of 4 steps done
    the budget of 3 thoughts is spent: (none), 0 of 4 steps done
    the budget of 6 thoughts is spent: 183 m, 4 of 4 steps done
    answered: 183 m, 4 of 4 steps done
    ");
}

#[tokio::test]
async fn endless_and_useless_planners_end_in_an_error_that_has_all_they_said() {
    let client = ScriptedClient::new(std::iter::repeat_n("Plan: think.\n".repeat(1000), 3));
    let error = solver(&client).solve(PROBLEM).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `planning_phase`: no reply could be used: there is no call; expected a line such as `#E1 = tool[input]`"
    );
    assert_eq!(error.so_far().unwrap().spent().calls, 3);

    let error = Solver::new(client, StrategyName::Rewoo)
        .solve(PROBLEM)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "stage `problem_reception`: the strategy `rewoo` plans with tools, and there are none; add one or more with `Solver::with_tools`"
    );
}
