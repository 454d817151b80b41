//! The tools and the arguments of think-strategies.

use cogwork_mcp::{Server, ServerLimits};
use cogwork_strategies::Strategies;
use serde_json::{Value, json};

use super::{accepted, needed, refused};
use crate::support::{Client, call, connect, text};

async fn connected() -> Client {
    connect(Server::builder().with_think_strategies(true)).await
}

async fn think(client: &Client, arguments: Value) -> Value {
    accepted(call(client, "think-strategies", arguments).await)
}

#[tokio::test]
async fn the_tools_are_listed_only_if_they_are_asked_for() {
    let names = async |client: &Client| {
        let tools = client.list_all_tools().await.expect("tools");
        let tools = tools.into_iter().map(|tool| tool.name.into_owned());
        tools
            .filter(|name| name.starts_with("think"))
            .collect::<Vec<_>>()
    };

    let client = connect(Server::builder()).await;
    assert_eq!(names(&client).await, ["think", "think_session"]);
    let expected = [
        "think",
        "think_session",
        "think-strategies",
        "think-tools",
        "think-session-manager",
    ];
    assert_eq!(names(&connected().await).await, expected);
}

#[tokio::test]
async fn react_is_walked_by_its_arguments() {
    let client = connected().await;
    let mut stages = Vec::new();
    let calls = [
        json!({"strategy": "react", "thoughtNumber": 1, "totalThoughts": 3, "sessionPurpose": "way"}),
        json!({"thoughtNumber": 2, "totalThoughts": 3}),
        json!({"thoughtNumber": 3, "totalThoughts": 3, "action": "search"}),
        json!({"thoughtNumber": 4, "totalThoughts": 3}),
        json!({"thoughtNumber": 5, "observation": "463 km"}),
        json!({"thoughtNumber": 6}),
        json!({"thoughtNumber": 7}),
        json!({"thoughtNumber": 8, "action": "look"}),
        json!({"thoughtNumber": 9}),
        json!({"actionResults": [{"success": true, "result": "7 h", "server": "s", "tool": "t"}]}),
        json!({}),
        json!({}),
        json!({}),
        json!({
            "finalAnswer": "463 km in 7 h",
            "nextThoughtNeeded": false,
            "qualityRating": {"usefulness": 5, "reflection": "well"},
        }),
    ];

    let mut last = Value::Null;
    for mut arguments in calls {
        arguments["thought"] = json!("I think.");
        last = think(&client, arguments).await;
        stages.push(last["stage"].as_str().unwrap_or_default().to_owned());
    }
    insta::assert_snapshot!(stages.join("\n"), @"
    problem_reception
    initial_reasoning
    action_planning
    action_execution
    observation_reception
    reasoning_update
    evaluation_checkpoint
    action_planning
    action_execution
    observation_reception
    reasoning_update
    evaluation_checkpoint
    solution_formulation
    final_response
    ");
    assert_eq!(last["branch"]["status"], "complete");
    assert_eq!(last["nextThoughtNeeded"], false);
    assert_eq!(last["thoughtNumber"], 14);
    assert_eq!(last["totalThoughts"], 14);

    let show = json!({"action": "get"});
    let shown = accepted(call(&client, "think-session-manager", show).await);
    let page = shown["page"].as_array().expect("thoughts");
    assert_eq!(page[9]["parameters"]["observation"], "7 h");
    assert_eq!(page[13]["thought"], "I think.\n\n463 km in 7 h");
}

#[tokio::test]
async fn rewoo_takes_planned_actions_and_their_results() {
    let client = connected().await;
    let actions = json!([
        {"server": "web", "tool": "search", "parameters": {"q": "sea"}, "expectedInfo": "the way"},
        {"server": "web", "tool": "open"},
    ]);
    let results = json!([
        {"success": true, "result": "463 km", "server": "web", "tool": "search"},
        {"success": false, "error": "no page", "server": "web", "tool": "open"},
    ]);
    for arguments in [
        json!({"thought": "How far?", "strategy": "rewoo"}),
        json!({"thought": "Plan.", "plannedActions": actions}),
        json!({"thought": "Calls.", "plannedActions": actions}),
        json!({"thought": "They are made."}),
        json!({"thought": "Results.", "actionResults": results}),
    ] {
        think(&client, arguments).await;
    }

    let show = json!({"action": "get"});
    let shown = accepted(call(&client, "think-session-manager", show).await);
    let parameters = |index: usize| shown["page"][index]["parameters"].clone();
    assert_eq!(parameters(1), json!({"plan": ["the way", "call open"]}));
    let calls = json!({"tool_calls": [
        {"id": "#E1", "tool": "web/search", "input": {"q": "sea"}},
        {"id": "#E2", "tool": "web/open", "input": {}},
    ]});
    assert_eq!(parameters(2), calls);
    let evidence = json!({"evidence": {"#E1": "463 km", "#E2": "no page"}});
    assert_eq!(parameters(4), evidence);
}

#[tokio::test]
async fn parameters_are_arguments_in_camel_case() {
    let client = connected().await;
    think(&client, json!({"thought": "When?", "strategy": "self_ask"})).await;
    think(&client, json!({"thought": "Smaller questions."})).await;
    let question = json!({
        "thought": "First one.",
        "subQuestion": "When was it built?",
        "subQuestionNumber": 1,
        "mood": "good",
    });
    let answer = think(&client, question).await;
    assert_eq!(answer["stage"], "sub_question_formulation");
    assert_eq!(answer["unused"], json!(["mood"]));

    let (line, kind) = refused(&client, "think-strategies", json!({"thought": "1889."})).await;
    assert_eq!(kind, "refused");
    assert_eq!(
        line,
        "the stage `sub_question_answering` of `self_ask` needs `sub_question_answer` and \
         `sub_question_number`. Nothing has changed."
    );
}

#[tokio::test]
async fn several_stages_that_fit_are_asked_for() {
    let client = connected().await;
    let begin = json!({"thought": "x = 1", "strategy": "scratchpad"});
    think(&client, begin).await;
    for arguments in [
        json!({"thought": "x", "stateVariables": {"x": 1}}),
        json!({"thought": "x + 1"}),
        json!({"thought": "x", "stateVariables": {"x": 2}}),
        json!({"thought": "Is it done?"}),
    ] {
        think(&client, arguments).await;
    }

    let on = json!({"thought": "It is."});
    let (line, kind) = refused(&client, "think-strategies", on).await;
    assert_eq!(kind, "stage_needed");
    assert_eq!(
        line,
        "several stages may follow; name one as `stage`: `iterative_calculation` or \
         `result_extraction`"
    );
    let on = json!({"thought": "It is.", "stage": "result_extraction"});
    assert_eq!(think(&client, on).await["stage"], "result_extraction");
}

#[tokio::test]
async fn branches_totals_and_new_sessions() {
    let client = connected().await;
    let first = json!({"thought": "1", "thoughtNumber": 1, "totalThoughts": 3});
    let begun = think(&client, first.clone()).await;
    assert_eq!(begun["strategy"], "linear");
    assert_eq!(begun["totalThoughts"], 3);
    think(
        &client,
        json!({"thought": "2", "thoughtNumber": 5, "totalThoughts": 3}),
    )
    .await;

    let branch = json!({"thought": "b", "branchFromThought": 1, "branchId": "other"});
    let branched = think(&client, branch.clone()).await;
    assert_eq!(branched["branch"]["name"], "other");
    assert_eq!(branched["stage"], "initial_thought_planning");
    assert_eq!(think(&client, branch).await["branch"]["thoughts"], 2);

    let tool = json!({"action": "create-branch", "branchId": "third", "branchFromThought": 2});
    let forked = accepted(call(&client, "think-tools", tool).await);
    assert_eq!(forked["branch"]["name"], "third");
    let tool = json!({
        "action": "create-branch",
        "branchId": "fourth",
        "branchFromThought": 1,
        "thought": "A fourth way.",
    });
    let forked = accepted(call(&client, "think-tools", tool).await);
    assert_eq!(forked["branch"]["thoughts"], 1);

    let anew = think(&client, first).await;
    assert_ne!(anew["session"], begun["session"]);
    let changed = think(&client, json!({"thought": "tools", "strategy": "react"})).await;
    assert_eq!(changed["strategy"], "react");
    assert_eq!(changed["thoughts"], 2);

    let list = json!({"action": "list", "sortBy": "thoughtCount", "includeTopics": true});
    let list = accepted(call(&client, "think-session-manager", list).await);
    assert_eq!(list["sessions"][0]["session"], begun["session"]);
    let search = json!({"action": "search", "query": "fourth", "minScore": 0.1});
    let found = accepted(call(&client, "think-session-manager", search).await);
    assert_eq!(found["sessions"].as_array().map(Vec::len), Some(1));
}

#[tokio::test]
async fn servers_are_neither_started_nor_called() {
    let client = connected().await;
    let connect = json!({"action": "connect-server", "serverName": "x", "command": "rm"});
    let (line, kind) = refused(&client, "think-tools", connect).await;
    assert_eq!(kind, "left_out");
    assert_eq!(
        line,
        "`connect-server` is left out on purpose, since it starts any command that a model \
         writes; connect servers in the settings of the assistant"
    );
    let (_, kind) = refused(&client, "think-tools", json!({"action": "execute-actions"})).await;
    assert_eq!(kind, "left_out");
    let status = call(&client, "think-tools", json!({"action": "server-status"})).await;
    assert!(text(&status).starts_with("No servers are connected"));
}

#[tokio::test]
async fn every_strategy_can_be_walked_with_stages() {
    for strategy in Strategies::built_in().iter() {
        let client = connected().await;
        let mut stage = strategy.start();
        let mut visited = Vec::new();
        let mut arguments = json!({"strategy": strategy.name()});

        loop {
            visited.push(stage.name());
            arguments["thought"] = json!(stage.name());
            arguments["stage"] = json!(stage.name());
            for (name, value) in needed(stage) {
                arguments[name] = value;
            }
            let answer = think(&client, arguments).await;
            assert_eq!(answer["stage"], stage.name(), "{}", strategy.name());

            let next: Vec<_> = strategy.next(stage).collect();
            let mut onward = next.iter().rev();
            let onward = onward.find(|next| !visited.contains(&next.name()));
            let Some(onward) = onward else { break };
            stage = onward;
            arguments = json!({});
        }
        assert!(stage.is_final(), "{}", strategy.name());
    }
}

#[tokio::test]
async fn no_argument_makes_a_thought_longer_than_its_limit() {
    let limits = ServerLimits::default().with_thought_bytes(1_000);
    let builder = Server::builder().with_limits(limits);
    let client = connect(builder.with_think_strategies(true)).await;
    let long = "x".repeat(600);

    let planned = json!({"tool": "search", "parameters": {"for": long}});
    let result = json!({"tool": "search", "result": long});
    for (name, value) in [
        ("finalAnswer", json!(long)),
        ("plannedActions", json!([planned, planned])),
        ("actionResults", json!([result, result])),
        ("sources", json!([long, long])),
    ] {
        let mut arguments = json!({"strategy": "rewoo", "thought": format!("{long}.")});
        arguments[name] = value;
        let (line, kind) = refused(&client, "think-strategies", arguments).await;
        assert_eq!(kind, "argument");
        assert!(line.starts_with(&format!("`{name}` is ")), "{line}");
        assert!(line.ends_with("expected at most 1000 bytes"), "{line}");
    }
}
