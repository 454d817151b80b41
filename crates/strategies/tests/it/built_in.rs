//! The built-in tables: they match their source, only their edges are legal, and every walk can end.

use crate::support;

use std::collections::BTreeMap;

use cogwork_strategies::session::Session;
use cogwork_strategies::{Stage, Strategies, Strategy, StrategyName};
use cogwork_text::NameList;
use support::{draft, walk};

/// The source of the tables.
fn given() -> BTreeMap<String, BTreeMap<String, Vec<String>>> {
    serde_json::from_str(include_str!("../source/strategy-stages.json")).unwrap()
}

fn all() -> impl Iterator<Item = Strategy> {
    StrategyName::ALL.into_iter().map(StrategyName::strategy)
}

/// Returns the shortest path from the start.
fn way_to(strategy: &Strategy, to: &Stage) -> Vec<String> {
    let mut ways: Vec<Vec<String>> = vec![vec![strategy.start().name.clone()]];
    for at in 0.. {
        let way = ways[at].clone();
        let stage = strategy.stage(way.last().unwrap()).unwrap();
        if stage == to {
            return way[1..].to_vec();
        }

        for next in &stage.next {
            ways.push([&way[..], std::slice::from_ref(next)].concat());
        }
    }

    unreachable!("a table is whole")
}

fn standing_in(strategy: &Strategy, stage: &Stage) -> Session {
    let mut session = Session::new(strategy.clone());
    let way = way_to(strategy, stage);
    let way: Vec<&str> = way.iter().map(String::as_str).collect();
    walk(&mut session, &way);
    session
}

#[test]
fn every_edge_is_taken_and_every_other_move_refused() {
    let mut edges = 0;
    let mut refused = 0;
    for strategy in all() {
        let table = &given()[strategy.name()];
        for from in strategy.stages() {
            // The first thought may name the start stage without a move.
            let mut session = standing_in(&strategy, from);
            if session.thoughts().is_empty() {
                walk(&mut session, &[&from.name]);
            }

            for to in strategy.stages() {
                let mut trial = session.clone();
                let moved = trial.think(draft(to, "next"));
                if table[&from.name].contains(&to.name) {
                    moved.unwrap();
                    assert_eq!(trial.stage(), to);
                    edges += 1;
                } else {
                    let (name, from, to) = (strategy.name(), &from.name, &to.name);
                    let expected = match &table[from][..] {
                        [] => "the branch `main` is complete; expected an open one".to_owned(),
                        next => {
                            let next = NameList::or(next);
                            format!(
                                "`{name}` does not lead from `{from}` to `{to}`; expected {next}"
                            )
                        }
                    };
                    assert_eq!(moved.unwrap_err().to_string(), expected);
                    assert_eq!(trial, session, "a refusal changes nothing");
                    refused += 1;
                }
            }
        }
    }

    let given_edges: usize = given()
        .values()
        .flat_map(BTreeMap::values)
        .map(Vec::len)
        .sum();

    let pairs: usize = given()
        .values()
        .map(|table| table.len() * table.len())
        .sum();
    assert_eq!((edges, refused), (given_edges, pairs - given_edges));
}

#[test]
fn the_parameters_are_those_of_the_document() {
    let mut told = String::new();
    for strategy in all() {
        let stages = strategy.stages().iter();
        for stage in stages.filter(|stage| !stage.parameters.is_empty()) {
            told += &format!("{}/{}", strategy.name(), stage.name);
            for (name, parameter) in &stage.parameters {
                let optional = ["", " (optional)"][usize::from(parameter.is_optional)];
                told += &format!("\n    {name}: {}{optional}", parameter.schema);
            }
            told += "\n";
        }
    }
    insta::assert_snapshot!(told);
}

#[test]
fn names_and_what_is_not_one() {
    for name in StrategyName::ALL {
        assert_eq!(name.to_string().parse(), Ok(name));
        assert_eq!(name.strategy().name(), name.as_str());
    }

    let unknown = "Re\u{1b}Act".parse::<StrategyName>().unwrap_err();
    let message = unknown.to_string();
    assert!(message.starts_with("`Re\\u{1b}Act` is not a strategy; expected `linear`"));
}

#[test]
fn tables_come_back_from_yaml_and_json() {
    let built_in = Strategies::built_in();
    let tables: BTreeMap<&str, &Strategy> = built_in.iter().map(|one| (one.name(), one)).collect();
    let json = serde_json::to_string(&tables).unwrap();

    let again = Strategies::from_yaml(&json).unwrap();
    for strategy in built_in.iter() {
        assert_eq!(again.get(strategy.name()).unwrap(), strategy);
    }
}

#[test]
fn a_drawing_has_every_stage_and_edge() {
    insta::assert_snapshot!(StrategyName::SelfAsk.strategy().mermaid(), @r#"
    flowchart TD
        s0(["problem_reception"])
        s1["problem_decomposition"]
        s2["sub_question_formulation"]
        s3["sub_question_answering"]
        s4["answer_integration"]
        s5["completion_check"]
        s6["solution_formulation"]
        s7[["final_response"]]
        s0 --> s1
        s1 --> s2
        s2 --> s3
        s3 --> s4
        s4 --> s5
        s5 --> s2
        s5 --> s6
        s6 --> s7
    "#);
}
