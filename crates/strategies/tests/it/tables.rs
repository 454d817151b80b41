//! Reading invalid and hostile tables.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_read::measure;
use cogwork_strategies::{MAX_TABLE_BYTES, Strategies, TableProblemKind};

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
  stages:
    begin:
      description: Begins.
      prompt: Begin.
      next: [middle, begn, middle]
      paramters: {}
    middle:
      prompt: Go on.
      next: [trap, end]
      parameters:
        score: {description: No type.}
        count: {type: int, description: No such type.}
        range: {type: number, min: 10, max: 1, description: Empty.}
        plan: {type: list, description: Of nothing.}
        nested:
          type: list
          description: Deep.
          items: {type: object, fields: {name: {type: text}}}
        wrong: text
    trap:
      description: No way out.
      prompt: Stay.
      next: [trap]
    island:
      description: No way in.
      prompt: ''
      next: end
    end:
      description: The end.
      prompt: End.
      final: yes
      next: [begin]
    middle:
      description: Again.
      prompt: Again.
second:
  aliases: [first]
  description: 12
  start: nowhere
  stages:
    a: {description: d, prompt: p, final: true, next: [a]}
third: 7
fourth: {description: Nothing in it., stages: {}}
"), @r#"
    23 problems in the tables:
    line 1: strategy `my strategy`: `my strategy` is not a valid name; expected 1 to 64 letters, digits, `_` and `-`
    line 5: strategy `first`: it has no `description`; expected a text
    line 5: strategy `first`: no stage is final; expected `final: true` in at least one
    line 10: strategy `first`, stage `begin`: `next` names `begn`, which is not a stage; expected `begin`, `middle`, `trap`, `island` or `end`
    line 10: strategy `first`, stage `begin`: `next` names `middle` twice; expected once
    line 11: strategy `first`, stage `begin`: `paramters` is not a key here; expected `description`, `prompt`, `next`, `final` or `parameters`
    line 12: strategy `first`, stage `middle`: it has no `description`; expected a text
    line 16: strategy `first`, stage `middle`, parameter `score`: it has no `type`; expected `text`, `integer`, `number`, `boolean`, `thought`, `list`, `object`, `map` or `any`
    line 17: strategy `first`, stage `middle`, parameter `count`: `type` is the text "int"; expected text, integer, number, boolean, thought, list, object, map or any
    line 18: strategy `first`, stage `middle`, parameter `range`: `min` is greater than `max`
    line 19: strategy `first`, stage `middle`, parameter `plan`: it has no `items`, which its type needs
    line 23: strategy `first`, stage `middle`, parameter `nested[].name`: it has no `description`; expected a text
    line 24: strategy `first`, stage `middle`, parameter `wrong`: `wrong` is the text "text"; expected a mapping with `type` and `description`
    line 29: strategy `first`, stage `island`: it has no `prompt`; expected a text
    line 29: strategy `first`, stage `island`: it cannot be reached from the start
    line 32: strategy `first`, stage `island`: `next` is the text "end"; expected a list of texts
    line 36: strategy `first`, stage `end`: `final` is the text "yes"; expected true or false
    line 38: strategy `first`: `middle` is defined twice
    line 43: strategy `second`: `description` is 12; expected a text
    line 44: strategy `second`: `start` names `nowhere`, which is not a stage; expected `a`
    line 46: strategy `second`, stage `a`: it has both `final` and `next`; expected one of them
    line 47: `third` is 7; expected a mapping with `description` and `stages`
    line 48: strategy `fourth`: it has no `stages`; expected at least one
    "#);
}

#[test]
fn json_has_the_same_problems_and_lines() {
    let json = r#"{
  "mine": {
    "description": "Goes nowhere.",
    "stages": {
      "a": {"description": "d", "prompt": "p", "next": ["b"]},
      "c": {"description": "d", "prompt": "p", "final": true}
    }
  }
}"#;

    insta::assert_snapshot!(format!("{:#}", Strategies::from_json(json).unwrap_err()), @"
    3 problems in the tables:
    line 5: strategy `mine`, stage `a`: `next` names `b`, which is not a stage; expected `a` or `c`
    line 5: strategy `mine`, stage `a`: it does not lead to a final stage
    line 6: strategy `mine`, stage `c`: it cannot be reached from the start
    ");

    insta::assert_snapshot!(Strategies::from_json(json).unwrap_err(), @"3 problems in the tables, the first: line 5: strategy `mine`, stage `a`: `next` names `b`, which is not a stage; expected `a` or `c`");
}

#[test]
fn texts_that_cannot_be_read() {
    insta::assert_snapshot!(problems("a: [b"), @"line 2: did not find expected ',' or ']'");
    insta::assert_snapshot!(problems("- a\n- b"), @"line 1: a list; expected strategies by their names");
    insta::assert_snapshot!(problems("a: {}\n---\nb: {}"), @"line 2: there is more than one YAML document; expected one");
    insta::assert_snapshot!(problems("%TAG ! x\n---\na: 1"), @"line 1: directives (`%NAME`) are not read; put the text in quotes");
    insta::assert_snapshot!(problems("? [a]\n: b"), @"line 1: keys after a `?` are not read; put the text in quotes");
    insta::assert_snapshot!(Strategies::from_json("{\"a\": 1} x").unwrap_err(), @"line 1: trailing characters");
    insta::assert_snapshot!(Strategies::from_json("{\"a\": \n}").unwrap_err(), @"line 2: expected value");
    insta::assert_snapshot!(problems(&" ".repeat(MAX_TABLE_BYTES + 1)), @"262145 bytes; at most 262144 are read");
}

#[test]
fn a_name_that_is_taken() {
    let mut strategies = Strategies::built_in();
    let before = strategies.clone();
    let mine = Strategies::from_yaml(
        "mine:\n  aliases: [react]\n  description: d\n  stages:\n    a: {description: d, prompt: p, final: true}",
    );
    let error = strategies.extend(mine.unwrap()).unwrap_err();

    assert_eq!(
        error.problems()[0].kind,
        TableProblemKind::NameTaken("react".to_owned())
    );
    assert_eq!(
        error.to_string(),
        "strategy `mine`: `react` is the name of a different strategy; choose another name"
    );
    assert_eq!(strategies, before);
}

/// The maximum amount of work per byte of a text.
const PER_BYTE: u64 = 100;

/// The amount of work that any text may take: aliases multiply up to the budget of values and bytes.
const BUDGET: u64 = 2 * 1024 * 1024;

fn work(text: &str) -> u64 {
    let (read, work) = measure(|| Strategies::from_yaml(text).map(drop));
    let (_, of_json) = measure(|| Strategies::from_json(text).map(drop));

    if let Err(error) = read {
        assert!(error.to_string().len() < 1_000, "{error}");
        assert!(format!("{error:#}").len() < 100_000);
    }

    work + of_json
}

#[test]
fn hostile_tables_are_refused_with_little_work() {
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
        let work = work(&text);
        assert!(
            work < BUDGET + PER_BYTE * size as u64,
            "{work} units of work for {text:.40}"
        );
        assert!(Strategies::from_yaml(&text).is_err() && Strategies::from_json(&text).is_err());
    }
}

/// Tables of about `n` pieces that once took quadratic work.
fn slow_tables(n: usize) -> Vec<(&'static str, String)> {
    let stages = |n: usize, of: &str| -> String {
        (0..n)
            .map(|number| format!("    s{number}: {of}\n"))
            .collect()
    };

    let whole = "{description: d, prompt: p, final: true}";
    let list = |n: usize, prefix: &str| {
        (0..n)
            .map(|number| format!("{prefix}{number}, "))
            .collect::<String>()
    };

    vec![
        ("a key again and again", "planning:\n".repeat(n)),
        (
            "a key again and again behind a line break of older YAML",
            "\u{85}planning:\n".repeat(n),
        ),
        (
            "keys that are not known",
            format!("a:\n  stages:\n    b:\n{}", "      x: 1\n".repeat(n)),
        ),
        (
            "keys that are not known under a long name",
            format!(
                "{}:\n{}",
                "a".repeat(n),
                (0..n).map(|n| format!("  x{n}: 1\n")).collect::<String>()
            ),
        ),
        (
            "fields of a parameter with a long name",
            format!(
                "a:\n  stages:\n    b:\n      parameters:\n        {}:\n          type: object\n          fields:\n{}",
                "p".repeat(n),
                (0..n)
                    .map(|n| format!("            x{n}: {{type: any, description: d}}\n"))
                    .collect::<String>()
            ),
        ),
        (
            "strategies with the same name",
            (0..n)
                .map(|n| format!("a{n}: {{aliases: [b], stages: {{c: {{}}}}}}\n"))
                .collect(),
        ),
        (
            "stages that lead nowhere",
            format!(
                "a:\n  description: d\n  stages:\n{}",
                stages(n, "{next: [x, y]}")
            ),
        ),
        (
            "stages that nothing leads to",
            format!("a:\n  description: d\n  stages:\n{}", stages(n, whole)),
        ),
        (
            "a stage that leads to all others",
            format!(
                "a:\n  description: d\n  stages:\n{}    e: {{next: [{}]}}",
                stages(n, whole),
                list(n, "s")
            ),
        ),
        (
            "a stage that leads to many that are not there",
            format!(
                "a:\n  description: d\n  stages:\n{}    e: {{next: [{}]}}",
                stages(n, whole),
                list(n, "t")
            ),
        ),
        (
            "words that are keys elsewhere",
            format!(
                "a:\n  stages:\n    b: {{next: [{}]}}\n{}",
                list(n, "t"),
                "t0: 1\n".repeat(n)
            ),
        ),
        (
            "names with signs",
            (0..n).map(|n| format!("a, {n}: 1\n")).collect(),
        ),
    ]
}

#[test]
fn reading_twice_the_tables_takes_twice_the_work() {
    for ((what, short), (_, long)) in slow_tables(500).into_iter().zip(slow_tables(1000)) {
        let once = work(&short);
        let twice = work(&long);

        let growth = twice as f64 / once as f64;
        assert!(
            growth < 2.3,
            "{what}: {once} units of work became {twice}, {growth:.2} times as many"
        );
        assert!(
            once >= short.len() as u64,
            "{what}: {once} units of work are not all of it"
        );
    }
}

#[test]
fn of_very_many_problems_the_first_are_told_and_the_others_counted() {
    let text: String = (0..1_000).map(|n| format!("a{n}: 1\n")).collect();
    let error = Strategies::from_yaml(&text).unwrap_err();

    assert_eq!(error.problems().len(), 100);
    assert_eq!(
        error.problems().last().and_then(|problem| problem.line),
        Some(100)
    );
    assert!(
        error
            .to_string()
            .starts_with("1000 problems in the tables, the first: line 1: "),
        "{error}"
    );

    assert!(
        format!("{error:#}").ends_with("\nand 900 more"),
        "{error:#}"
    );
}

#[test]
fn people_may_use_comments_and_anchors() {
    let strategies = Strategies::from_yaml(
        "# Mine.
mine: # the only one
  description: &d What it does. # in short
  stages:
    a: {description: *d, prompt: &p \"Say # it.\", next: &n [b]} # first
    b:
      description: *d
      prompt: *p
      final: true
",
    );

    let strategies = strategies.unwrap();
    let stages = strategies.get("mine").unwrap().stages();
    assert_eq!(stages[1].prompt(), "Say # it.");
    assert_eq!(stages[1].description(), "What it does.");
}
