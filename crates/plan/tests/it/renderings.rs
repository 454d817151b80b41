//! Plans as text for people, for terminals, in Markdown, and as charts.

use cogwork_plan::{Plan, Step, format_plan};

fn sample() -> Plan {
    Plan::from(vec![
        Step::done("Understand the problem", "24 times 27"),
        Step::pending("Multiply").with_sub_steps([
            Step::done("Tens", "480"),
            Step {
                result: Some("160".into()),
                ..Step::verification_needed("Ones", "8 is missing")
            }
            .with_sub_steps([Step::pending("4 * 7")]),
        ]),
        Step::pending("Conclude"),
    ])
}

/// What a model may write to break a line, a terminal or a format.
fn hostile() -> Plan {
    Plan::from(vec![
        Step::done(
            "  first\r\n   second\tthird\n",
            "\u{1b}[31mred\u{7}\u{9b}2J\u{202e}thgir",
        ),
        Step::done(
            "1. <b>bold</b> & `code` [x](y)",
            "2 * 3_000 ~ \"6k\" #1; 50% \\ ok",
        ),
        Step::verification_needed("", "\n"),
        Step {
            result: Some("\n".into()),
            ..Step::pending("two  blanks \u{2028}joined")
        },
    ])
}

#[test]
fn the_outline_is_one_line_a_step() {
    insta::assert_snapshot!(format_plan(&sample()), @"
    - [Done] Understand the problem: 24 times 27
    - [Pending] Multiply
      - [Done] Tens: 480
      - [Verification Needed] Ones: 160 (8 is missing)
        - [Pending] 4 * 7
    - [Pending] Conclude
    ");
    assert_eq!(format_plan(&Plan::new()), "");
}

#[test]
fn the_outline_keeps_its_lines_whatever_the_texts_hold() {
    insta::assert_snapshot!(format_plan(&hostile()), @r#"
    - [Done] first second third: �[31mred��2J�thgir
    - [Done] 1. <b>bold</b> & `code` [x](y): 2 * 3_000 ~ "6k" #1; 50% \ ok
    - [Verification Needed] 
    - [Pending] two blanks joined
    "#);
}

#[test]
fn colour_is_in_the_status_and_only_on_request() {
    let colored = sample().outline().with_colors(true).to_string();
    insta::assert_snapshot!(colored.replace('\u{1b}', "ESC"), @"
    - ESC[32m[Done]ESC[0m Understand the problem: 24 times 27
    - ESC[2m[Pending]ESC[0m Multiply
      - ESC[32m[Done]ESC[0m Tens: 480
      - ESC[33m[Verification Needed]ESC[0m Ones: 160 (8 is missing)
        - ESC[2m[Pending]ESC[0m 4 * 7
    - ESC[2m[Pending]ESC[0m Conclude
    ");

    assert_eq!(
        sample().outline().with_colors(false).to_string(),
        format_plan(&sample())
    );
    assert!(!format_plan(&sample()).contains('\u{1b}'));
}

#[test]
fn the_chart_joins_steps_in_order_and_parents_to_their_first_child() {
    insta::assert_snapshot!(sample().mermaid(), @r#"
    flowchart TD
        s1["1 Understand the problem: 24 times 27"]:::done
        s2["2 Multiply"]:::pending
        s1 --> s2
        s2_1["2.1 Tens: 480"]:::done
        s2 -.-> s2_1
        s2_2["2.2 Ones: 160 (8 is missing)"]:::verification_needed
        s2_1 --> s2_2
        s2_2_1["2.2.1 4 #42; 7"]:::pending
        s2_2 -.-> s2_2_1
        s3["3 Conclude"]:::pending
        s2 --> s3
        classDef pending stroke-dasharray:4
        classDef done fill:#d3f2d9,stroke:#2e7d32,color:#000
        classDef verification_needed fill:#fff3cd,stroke:#b26a00,color:#000
    "#);
}

#[test]
fn the_chart_escapes_what_mermaid_markdown_and_html_would_read() {
    insta::assert_snapshot!(hostile().mermaid(), @r#"
    flowchart TD
        s1["1 first second third: �#91;31mred��2J�thgir"]:::done
        s2["2 1. #60;b#62;bold#60;/b#62; #38; #96;code#96; #91;x](y): 2 #42; 3_000 #126; #34;6k#34; #35;1#59; 50#37; #92; ok"]:::done
        s1 --> s2
        s3["3 "]:::verification_needed
        s2 --> s3
        s4["4 two blanks joined"]:::pending
        s3 --> s4
        classDef pending stroke-dasharray:4
        classDef done fill:#d3f2d9,stroke:#2e7d32,color:#000
        classDef verification_needed fill:#fff3cd,stroke:#b26a00,color:#000
    "#);
}
