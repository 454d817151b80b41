//! Replies of a model to the questions of each strategy.

use serde_json::{Value, json};

use super::support::Question;

/// A model that always gives the same reply to the same question.
pub(crate) struct Mind {
    pub(crate) strategy: &'static str,
    pub(crate) answer: &'static str,
    /// The replies by the number of the question.
    script: &'static [&'static str],
    /// The replies to questions that contain a text, if there is no script.
    rules: &'static [(&'static str, &'static str)],
}

pub(crate) const MINDS: [Mind; 9] = [
    scripted(
        "loop",
        "51 km",
        &[
            "```yaml\ncurrent_thinking: |\n  Three times 17 km.\nplanning:\n- description: Multiply\n  status: Pending\n- description: Conclusion\n  status: Pending\nnext_thought_needed: true\n```",
            "```yaml\ncurrent_thinking: |\n  Evaluation of thought 1: right. 3 * 17 = 51.\nplanning:\n- description: Multiply\n  status: Done\n  result: 51 km\n- description: Conclusion\n  status: Pending\nnext_thought_needed: true\n```",
            "```yaml\ncurrent_thinking: |\n  It goes 51 km.\nplanning:\n- description: Multiply\n  status: Done\n  result: 51 km\n- description: Conclusion\n  status: Done\n  result: 51 km\nnext_thought_needed: false\n```",
        ],
    ),
    scripted(
        "linear",
        "51",
        &[
            "thought: Tens and ones.\nthoughts_needed: 2",
            "10 * 3 is 40.",
            "thought: Wrong.\nnext: branch_creation",
            "branch_from_thought: 1\nbranch_id: anew",
            "17 + 17 + 17 = 51.",
            "next: hypothesis_generation",
            "51",
            "verification: 51 / 3 = 17.\nholds: true",
            "51",
        ],
    ),
    scripted(
        "chain_of_thought",
        "51",
        &[
            "1. Multiply the tens.\n2. Multiply the ones.\n3. Add.",
            "Thought: 17 is 10 and 7.\nResults:\n1. 30\n2. 28\n3. 58\nAnswer: 58",
            "**Thought:** 58 / 3 is no whole number.\n**Holds:** No\n**Answer:** 51",
        ],
    ),
    scripted(
        "react",
        "Galdhøpiggen",
        &[
            "thought: I need a height.\naction: height\naction_input: {\"of\": \"Galdhøpiggen\"}",
            "2469",
            "thought: The other one.\naction: height\naction_input: {\"of\": \"Snøhetta\"}",
            "2286",
            "thought: 2469 is more.\naction: finish\naction_input: Galdhøpiggen",
        ],
    ),
    scripted(
        "rewoo",
        "183 m",
        &[
            "Both heights.\nPlan: One.\n#E1 = height{\"of\": \"Galdhøpiggen\"}\nPlan: Other.\n#E2 = height{\"of\": \"Snøhetta\"}\nPlan: Difference.\n#E3 = minus{\"a\": \"#E1\", \"b\": \"#E2\"}\nPlan: Say it.",
            "2469",
            "2286",
            "183",
            "thought: 2469 - 2286 = 183.\nanswer: 183 m",
        ],
    ),
    scripted(
        "scratchpad",
        "6 apples",
        &[
            "state_variables: {\"apples\": 3}",
            "thought: Twice.\nstate_variables: {\"apples\": 6}\ndone: yes",
            "6 apples",
        ],
    ),
    scripted(
        "self_ask",
        "Harry S. Truman",
        &[
            "thought: Yes, the year.\nsub_question: When was the transistor invented?\nsub_question_answer: 1947",
            "sub_question: Who was president in 1947?\nsub_question_answer: Harry S. Truman",
            "thought: Both are known.\nanswer: Harry S. Truman",
        ],
    ),
    scripted(
        "step_back",
        "51 km",
        &[
            "thought: A product.\nquestion: How far do n trips go?\nprinciple: distance = n * length",
            "approach: multiply\napplication: 3 * 17\nsolution: 51 km\nanswer: 51 km",
            "thought: It holds.\nholds: yes\nanswer: 51 km",
        ],
    ),
    Mind {
        strategy: "tree_of_thoughts",
        answer: "noodles at home",
        script: &[],
        rules: &[
            (
                "approaches:",
                r#"approaches: [{"id": "A", "description": "cook", "promise": 5}, {"id": "B", "description": "go out", "promise": 8}]"#,
            ),
            ("proposals:", "- buy rice\n- buy noodles"),
            (
                "evaluation_score:",
                "thought: I judge.\nevaluation_score: 9\nsolved: yes",
            ),
            (
                "answer:",
                "thought: Cook noodles for six.\nanswer: noodles at home",
            ),
        ],
    },
];

const fn scripted(
    strategy: &'static str,
    answer: &'static str,
    script: &'static [&'static str],
) -> Mind {
    Mind {
        strategy,
        answer,
        script,
        rules: &[],
    }
}

impl Mind {
    pub(crate) fn named(strategy: &str) -> &'static Self {
        let mut minds = MINDS.iter();
        minds
            .find(|mind| mind.strategy == strategy)
            .expect("a mind")
    }

    /// Returns the arguments that begin a session.
    pub(crate) fn beginning(&self) -> Value {
        let mut arguments =
            json!({"problem": "How far do three trips of 17 km go?", "strategy": self.strategy});
        if matches!(self.strategy, "react" | "rewoo") {
            arguments["tools"] = json!([
                {"name": "height", "description": "The height of a mountain."},
                {"name": "minus", "description": "a - b."},
            ]);
        }
        arguments
    }

    /// Returns the reply to a question.
    pub(crate) fn reply(&self, question: &Question) -> &'static str {
        let number = question.id.trim_start_matches('q').split('-').next();
        let number: usize = number
            .and_then(|digits| digits.parse().ok())
            .expect("a number");

        let text = question.text.as_str();
        if let Some(reply) = self.conclusion(text) {
            return reply;
        }
        if let Some(reply) = self.script.get(number - 1) {
            return reply;
        }
        let rule = self.rules.iter().find(|(part, _)| text.contains(part));
        rule.unwrap_or_else(|| panic!("no reply of {} to {number}:\n{text}", self.strategy))
            .1
    }

    /// Returns the reply to the last question of a session that stops early.
    fn conclusion(&self, text: &str) -> Option<&'static str> {
        let is_last = text.contains("this is the last question")
            || text.contains("This is the last thought.");
        if !is_last {
            return None;
        }
        if self.strategy == "loop" {
            return Some(LAST_THOUGHT);
        }
        Some("answer: about fifty")
    }
}

const LAST_THOUGHT: &str = "```yaml
current_thinking: about fifty
planning:
- description: Conclusion
  status: Done
  result: about fifty
next_thought_needed: false
```";
