//! The Mermaid diagram of each strategy.

use cogwork_strategies::StrategyName;

#[test]
fn mermaid() {
    insta::assert_snapshot!(StrategyName::React.strategy().mermaid(), @r#"
    flowchart TD
        s0(["problem_reception"])
        s1["initial_reasoning"]
        s2["action_planning"]
        s3["action_execution"]
        s4["observation_reception"]
        s5["reasoning_update"]
        s6["evaluation_checkpoint"]
        s7["solution_formulation"]
        s8[["final_response"]]
        s0 --> s1
        s1 --> s2
        s2 --> s3
        s3 --> s4
        s4 --> s5
        s5 --> s6
        s6 --> s2
        s6 --> s7
        s7 --> s8
    "#);
    for name in StrategyName::ALL {
        let (strategy, chart) = (name.strategy(), name.strategy().mermaid());
        let edges: usize = strategy
            .stages()
            .iter()
            .map(|stage| stage.next_names().len())
            .sum();

        assert_eq!(chart.matches(" --> ").count(), edges, "{name}");
        assert_eq!(
            chart.lines().count(),
            1 + strategy.stages().len() + edges,
            "{name}"
        );
    }
}
