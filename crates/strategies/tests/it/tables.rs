//! Reading invalid and hostile tables.

use cogwork_strategies::table::MAX_TABLE_BYTES;
use cogwork_strategies::{Strategies, Strategy};

use crate::support::assert_grows_linearly;

fn problems(yaml: &str) -> String {
    format!("{:#}", Strategies::from_yaml(yaml).unwrap_err())
}

#[test]
fn everything_wrong_is_told_at_once() {
    insta::assert_snapshot!(problems("\
my strategy:
  description: Its name has a blank.
  stages:
    only: {description: d, prompt: p, final: true}
first:
  description: Begins and ends.
  stages:
    begin:
      description: Begins.
      prompt: Begin.
      next: [middle, begn, middle]
    middle:
      description: Goes on.
      prompt: Go on.
      next: [trap, end]
    trap:
      description: No way out.
      prompt: Stay.
      next: [trap]
    island:
      description: No way in.
      prompt: Swim.
      next: [end]
    end:
      description: The end.
      prompt: End.
      final: true
      next: [begin]
second:
  description: d
  start: nowhere
  stages:
    a: {description: d, prompt: p, final: true}
fourth: {description: Nothing in it., stages: {}}
"), @"
    9 problems in the tables:
    `my strategy`: `my strategy` is not a valid name; expected 1 to 64 letters, digits, `_` and `-`
    `first.stages.begin.next`: `begn` is not a stage; expected `begin`, `middle`, `trap`, `island` or `end`
    `first.stages.begin.next`: `middle` is there twice; expected once
    `first.stages.end`: it has both `final` and `next`; expected one of them
    `first.stages.trap`: it does not lead to a final stage
    `first.stages.island`: it cannot be reached from the start
    `second.start`: `nowhere` is not a stage; expected `a`
    `second.stages.a`: it cannot be reached from the start
    `fourth`: it has no `stages`; expected at least one
    ");
}

/// Of each table, the first mistake in its form is told.
#[test]
fn the_form_of_a_table() {
    let stage = |stage: &str| {
        let table = format!("t: {{description: d, stages: {{s: {stage}}}}}");
        problems(&table)
    };
    let parameter = |parameter: &str| {
        let parameters = format!("{{a_1: {parameter}}}");
        stage(&format!(
            "{{description: d, prompt: p, final: true, parameters: {parameters}}}"
        ))
    };

    let told = [
        problems("t: 7"),
        problems("t: {description: 12}"),
        problems("t: {stages: {}}"),
        problems("t: {description: d, stages: [a]}"),
        stage("text"),
        stage("{paramters: {}}"),
        stage("{description: d}"),
        stage("{description: d, prompt: p, next: end}"),
        stage("{final: yes}"),
        stage("{parameters: {'a b': {type: string, description: d}}}"),
        stage("{parameters: {next: {type: string, description: d}}}"),
        parameter("text"),
        parameter("{type: int, description: d}"),
        parameter("{type: string}"),
        parameter("{type: number, minimun: 1, description: d}"),
        parameter("{type: number, minimum: one, description: d}"),
        parameter("{type: array, items: {type: thought}, description: d}"),
        parameter("{type: object, additionalProperties: 1, description: d}"),
    ];
    insta::assert_snapshot!(told.join("\n"), @r#"
    `t`: invalid type: integer `7`, expected a mapping with `description` and `stages`
    `t.description`: invalid type: integer `12`, expected a string
    `t`: missing field `description`
    `t.stages`: invalid type: sequence, expected a map
    `t.stages.s`: invalid type: string "text", expected a mapping with `description` and `prompt`
    `t.stages.s.paramters`: unknown field `paramters`, expected one of `description`, `prompt`, `parameters`, `next`, `final`
    `t.stages.s`: missing field `prompt`
    `t.stages.s.next`: invalid type: string "end", expected a sequence
    `t.stages.s.final`: invalid type: string "yes", expected a boolean
    `t.stages.s.parameters`: `a b` is not a valid name; expected 1 to 64 letters, digits, `_` and `-`
    `t.stages.s.parameters`: `next` is where a reply names the next stage; choose another name
    `t.stages.s.parameters.a_1`: invalid type: string "text", expected a mapping with `type` and `description`
    `t.stages.s.parameters.a_1`: unknown variant `int`, expected one of `string`, `integer`, `number`, `boolean`, `array`, `object`
    `t.stages.s.parameters.a_1`: missing field `description`
    `t.stages.s.parameters.a_1`: unknown field `minimun`, expected one of `type`, `enum`, `minimum`, `maximum`, `items`, `minItems`, `maxItems`, `properties`, `required`, `additionalProperties`, `description`
    `t.stages.s.parameters.a_1`: invalid type: string "one", expected f64
    `t.stages.s.parameters.a_1`: unknown variant `thought`, expected one of `string`, `integer`, `number`, `boolean`, `array`, `object`
    `t.stages.s.parameters.a_1`: `additionalProperties` is neither true or false nor a schema
    "#);
}

#[test]
fn the_message_has_the_first_problem() {
    let json = r#"{"mine": {"description": "d", "stages": {
        "a": {"description": "d", "prompt": "p", "next": ["b"]},
        "c": {"description": "d", "prompt": "p", "final": true}
    }}}"#;
    insta::assert_snapshot!(Strategies::from_yaml(json).unwrap_err(), @"3 problems in the tables, the first: `mine.stages.a.next`: `b` is not a stage; expected `a` or `c`");

    let many: String = (0..1_000).map(|n| format!("a{n}: 1\n")).collect();
    let error = Strategies::from_yaml(&many).unwrap_err();
    assert_eq!(error.problems().len(), 100);
}

#[test]
fn texts_that_cannot_be_read() {
    insta::assert_snapshot!(problems("a: [b"), @"line 2: did not find expected ',' or ']'");
    insta::assert_snapshot!(problems("a: {}\na: {}"), @r#"line 1: duplicate entry with key "a""#);
    insta::assert_snapshot!(problems("- a\n- b"), @"the text is not a mapping; expected strategies by their names");
    insta::assert_snapshot!(problems("a: {}\n---\nb: {}"), @"deserializing from YAML containing more than one document is not supported");
    insta::assert_snapshot!(problems("%TAG ! x\n---\na: 1"), @"`a`: invalid type: integer `1`, expected a mapping with `description` and `stages`");
    insta::assert_snapshot!(problems("? [a]\n: b"), @r#"`["a"]`: invalid type: string "b", expected a mapping with `description` and `stages`"#);
    insta::assert_snapshot!(problems(&" ".repeat(MAX_TABLE_BYTES + 1)), @"262145 bytes; at most 262144 are read");
}

#[test]
fn a_name_that_is_taken() {
    let mut strategies = Strategies::built_in();
    let before = strategies.clone();
    let same = Strategies::from_yaml(
        "react:\n  description: d\n  stages:\n    a: {description: d, prompt: p, final: true}",
    );
    let error = strategies.extend(same.unwrap()).unwrap_err();

    assert_eq!(
        error.to_string(),
        "`react`: this is the name of a different strategy; choose another name"
    );
    assert_eq!(strategies, before);
}

#[test]
fn hostile_tables_are_refused() {
    let size = MAX_TABLE_BYTES - 100;
    let long = format!(
        "a: &a \"{}\"\nb: [{}]",
        "x".repeat(size / 2),
        "*a,".repeat(5_000)
    );

    let mut laughs = "l0: &l0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..40 {
        let before = level - 1;
        laughs += &format!(
            "l{level}: &l{level} [{}*l{before}]\n",
            format!("*l{before},").repeat(8)
        );
    }

    let hostile = [
        "[".repeat(size),
        "{a: ".repeat(size / 4),
        "[".repeat(9_999),
        "[]".repeat(size / 2),
        format!("a: [{}]", "[{}],".repeat(size / 5 - 3)),
        "- ".repeat(size / 2),
        (0..size / 10).map(|n| format!("a{n}: 1\n")).collect(),
        "? ".repeat(size / 2),
        "a: b\n".repeat(size / 5),
        "%TAG !a! x\n".repeat(size / 11),
        (0..size / 12).map(|n| format!("- &a{n} x\n")).collect(),
        long,
        laughs,
        "\"\\".repeat(size / 2),
        "a:\n".to_owned() + &" ".repeat(size / 2) + "b: c",
    ];

    for text in hostile {
        let error = Strategies::from_yaml(&text).unwrap_err();
        assert!(error.to_string().len() < 1_000, "{error}");
        assert!(format!("{error:#}").len() < 100_000);
    }
}

/// Tables of about `n` pieces that would take quadratic time if each piece were compared with all.
/// Tables of about this many parts.
fn large_tables(n: usize) -> [(&'static str, String); 4] {
    let each = |n: usize, text: &str| -> String {
        let texts = (0..n).map(|number| text.replace('#', &number.to_string()));
        texts.collect()
    };
    let table = |stages: String| format!("a:\n  description: d\n  stages:\n{stages}");
    let whole = each(n, "    s#: {description: d, prompt: p, final: true}\n");
    let all = format!(
        "{whole}    e: {{description: d, prompt: p, next: [{}]}}",
        each(n, "s#, ")
    );

    [
        (
            "strategies without stages",
            each(n, "a#: {description: d, stages: {}}\n"),
        ),
        (
            "stages that lead nowhere",
            table(each(
                n,
                "    s#: {description: d, prompt: p, next: [x, y]}\n",
            )),
        ),
        ("stages that nothing leads to", table(whole)),
        ("a stage that leads to all others", table(all)),
    ]
}

#[test]
fn reading_ten_times_the_tables_takes_about_ten_times_as_long() {
    let tables = large_tables(300).into_iter().zip(large_tables(3_000));
    for ((what, short), (_, long)) in tables {
        assert_grows_linearly(what, &short, &long, |text| {
            drop(Strategies::from_yaml(text));
        });
    }
}

#[test]
fn a_saved_strategy_has_its_start() {
    let saved = r#"{"name": "mine", "description": "d", "start": "begin", "stages": {}}"#;
    let error = serde_json::from_str::<Strategy>(saved).unwrap_err();
    let expected = "`start` is not a stage of the strategy";
    assert!(error.to_string().starts_with(expected), "{error}");
}
