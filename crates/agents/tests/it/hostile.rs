//! Files with a change are loaded or refused with the place of each problem; none causes a panic. Arbitrary
//! texts are those of `benches/fuzz`.

use std::sync::LazyLock;

use cogwork_agents::{FileError, FlowState, Loader, Template};
use proptest::prelude::*;

const GOOD: [&str; 3] = [
    include_str!("../files/good/document.yaml"),
    include_str!("../files/good/everything.yaml"),
    include_str!("../../../../examples/files/review.yaml"),
];

fn loader() -> &'static Loader {
    static LOADER: LazyLock<Loader> = LazyLock::new(|| {
        Loader::new().with_environment(|name| (name == "API_KEY").then(|| "canary-8731".to_owned()))
    });

    &LOADER
}

fn is_well_told(text: &str, error: &FileError) -> Result<(), TestCaseError> {
    prop_assert!(!error.problems().is_empty());
    let shown = format!("{error:#}");
    prop_assert!(!shown.contains("canary"));
    prop_assert_eq!(error.to_string().lines().count(), 1);

    for problem in error.problems() {
        let place = problem.place.expect("a problem of a text has a place");

        // A file may end with an empty line, which `lines` does not count.
        prop_assert!(
            place.line >= 1 && place.line <= text.split(['\n', '\r']).count() + 1,
            "{}",
            problem
        );

        prop_assert!(place.column >= 1, "{}", problem);
        prop_assert!(!problem.message.is_empty());
        prop_assert_eq!(problem.to_string().lines().count(), 1);
    }

    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_good_file_with_a_change_gives_a_flow_or_problems(
        which in 0..GOOD.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..20_usize, "[\\PC\n]{0,6}"), 1..4),
    ) {
        let mut letters: Vec<char> = GOOD[which].chars().collect();
        for (at, removed, put) in changes {
            let at = at.index(letters.len());
            let end = (at + removed).min(letters.len());
            letters.splice(at..end, put.chars());
        }
        let text: String = letters.into_iter().collect();
        match loader().load_text("flow.yaml", &text) {
            Ok(loaded) => drop(loaded.flow().mermaid().to_string()),
            Err(error) => is_well_told(&text, &error)?,
        }
    }
}

/// A subflow in a loop, with ten times the text that it is given.
#[tokio::test]
async fn a_loop_that_multiplies_its_text_is_stopped() {
    let tenfold = "{input}".repeat(10);
    let flow = format!(
        "nodes:
- id: h
  type: subflow
  config:
    prompt: '{{last}}'
    answer: '{tenfold}'
    nodes: [{{id: x, type: template, config: {{text: again, actions: [again, stop]}}}}]
edges: [{{from: h, action: again, to: h}}, {{from: h, action: stop, to: end}}]
"
    );

    let loaded = loader().load_text("flow.yaml", &flow).expect("a good file");
    let mut state = FlowState::new("text");
    let error = loaded.flow().run(&mut state).await.unwrap_err();
    insta::assert_snapshot!(error, @"flow `flow/h`, node `say again`: post failed: `answer` has more than 1048576 bytes with its slots filled; expected fewer");
}

#[tokio::test]
async fn no_prompt_or_answer_is_longer_than_it_may_be() {
    let node =
        "{id: a, type: agent, config: {provider: rules, rules: [], else: y, prompt: '{input}!'}}";
    let flow = format!("answer: '{{input}}!!'\nnodes: [{node}]");
    let loaded = loader().load_text("flow.yaml", &flow).expect("a good file");
    let most = Template::MAX_FILLED;

    let too_long = "has more than 1048576 bytes with its slots filled; expected fewer";
    let in_prompt = format!("flow `flow`, node `a`: prep failed: `prompt` {too_long}");
    let in_answer = format!("the `answer` of the flow `flow` {too_long}");
    for (bytes, expected) in [
        (most, in_prompt),
        (most - 1, in_answer),
        (most - 2, most.to_string()),
    ] {
        let mut state = FlowState::new("x".repeat(bytes));
        let answered = match loaded.flow().run(&mut state).await {
            Ok(_) => loaded.answer(&state).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        let told = answered.map_or_else(|error| error, |answer| answer.text.len().to_string());
        assert_eq!(told, expected);
    }
}
