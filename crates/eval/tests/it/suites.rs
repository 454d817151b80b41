//! Suites with problems, told all at once with their places.

use crate::support::Project;

#[test]
fn all_problems_are_told_with_their_places() {
    let project = Project::new(
        "problems:
  - {question: What is 1 + 1?}
  - {question: Which?, check: {choice: two}}
  - {question: Which?, check: {regex: '('}}
  - {question: What?, check: {schema: {type: 7}}}
  - {generate: arithmetic, difficulty: 11}
  - {generate: poetry}
  - {file: missing.jsonl}
  - {file: ../up.jsonl}
  - {file: bad.jsonl}
  - {question: Is it?, answer: yes, id: twice}
  - {question: Is it?, answer: yes, id: twice}
  - {question: Who?, check: {judge: Ada}}
arms:
  - {name: one, type: agnet, config: {provider: rules, rules: [], else: Well.}}
  - name: one
    config:
      provider: rules
      rules: []
      temperature: warm
  - {name: two, flow: missing.yaml}
  - {name: three, flow: missing.yaml, type: agent}
  - {name: four, type: strategy, config: {provider: scripted, replies: [a], strategy: recat}}
",
    );
    project.write(
        "bad.jsonl",
        "{\"question\": \"What is 1 + 1?\", \"answer\": 2}\n{\"question\": 7}\n",
    );
    insta::assert_snapshot!(project.problems());
}

#[test]
fn the_shape_is_checked_first() {
    for (suite, expected) in [
        (
            "problems: []\narms: 7\n",
            "suite.yaml:2:7: arms: invalid type: integer `7`, expected a sequence",
        ),
        ("problem: []\n", "suite.yaml:1:1: unknown field `problem`"),
        ("a: [", "suite.yaml"),
        (
            "repetitions: 0\n",
            "suite.yaml:1:14: repetitions: invalid value: integer `0`, expected a nonzero u32",
        ),
        (
            "problems: []\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:11: problems: there are none; expected at least one",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\njudge: {provider: rules, rules: [], temperature: warm}\n",
            "suite.yaml:3:50: judge.temperature: expected a number, found a text",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\nbaseline: b\n",
            "suite.yaml:3:11: baseline: unknown arm `b`; expected `a`",
        ),
        (
            "problems: [{question: a, check: {number: {value: 1, tolerance: -1}}}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:12: problems[0]: the tolerance is -1; expected at least 0",
        ),
        (
            "problems: [{question: a, answer: }]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:12: problems[0]: no answer; expected `answer` or `check`",
        ),
        (
            "problems: [{question: a, answer: b, check: {choice: B}}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:12: problems[0]: there are two answers; expected either `answer` or `check`",
        ),
        (
            "problems: [{question: a, answer: .nan}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:12: problems[0]: no answer; expected `answer` or `check`",
        ),
        (
            "problems: [{question: a, check: {choice: '1'}}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:12: problems[0]: the choice is `1`; expected a letter from A to Z",
        ),
        // Which would be read from the machine of whoever runs the suite.
        (
            "problems: [{question: a, check: {schema: {$ref: 'file:///etc/hostname'}}}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:12: problems[0]: not a JSON Schema: the schema refers to file:///etc/hostname; expected only references inside it",
        ),
        (
            "problems: [{question: ' ', answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:11: problems: the question of `problem-1` is blank; expected a text",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\nlabels: [{question: a, expected: b, answer: b, right: true}]\n",
            "suite.yaml:3:9: labels: there is no `judge`; expected the settings of one",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\nlimits: {calls: .nan}\n",
            "suite.yaml:3:17: limits.calls: the limit is NaN; expected at least 0",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\nlimits: {tokens: -2e6}\n",
            "suite.yaml:3:18: limits.tokens: the limit is -2000000; expected at least 0",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\nlimits: {money: -1}\n",
            "suite.yaml:3:17: limits.money: the limit is -1; expected at least 0",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\nlimits: {seconds: -0.5}\n",
            "suite.yaml:3:19: limits.seconds: the limit is -0.5; expected at least 0",
        ),
        (
            "problems: [{question: a, answer: b}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\nrepetitions: 1000001\n",
            "suite.yaml:3:14: repetitions: there are 1000001 runs; expected at most 1000000",
        ),
        (
            "problems: [{generate: arithmetic, count: 65535}, {generate: calendar, count: 65535}, {generate: countdown, count: 65535}, {generate: calculator, count: 65535}]\narms: [{name: a, config: {provider: rules, rules: [], else: a}}]\n",
            "suite.yaml:1:123: problems[3]: there are too many problems; expected at most 200000",
        ),
    ] {
        let problems = Project::new(suite).problems();
        assert!(problems.starts_with(expected), "{problems}");
    }
}
