//! Answers and non-answers: replies of real models, refusals, and answers that resemble them.

use cogwork_typed::ask::{NoAnswer, is_missing, is_offered, no_answer, stated_answer};

const PROBLEM: &str = "How far do three trips of 17 km go?";

const REFUSALS: &[&str] = &[
    "I cannot help with that.",
    "(I cannot help with that.)",
    "I can't assist with that request.",
    "I’m sorry, but I can’t help with that.",
    "**I'm sorry, but I can't assist with that.**",
    "Sorry, but I'm not able to provide that information.",
    "Unfortunately, I don't have enough information to answer.",
    "I'm sorry, I don't know.",
    "I won't provide instructions for this.",
    "I must decline to answer.",
    "As an AI language model, I do not have personal opinions.",
    "I'm sorry, but as an AI language model, I can't browse the internet.",
    "抱歉，我无法回答这个问题。",
    "对不起，我拒绝回答这个问题。",
];

const MISSING: &[&str] = &[
    "N/A",
    "**N/A**",
    "Ｎ／Ａ",
    "None.",
    "(none)",
    "null",
    "unknown",
    "No answer",
    "I don't know.",
    "not applicable",
    "-",
    "?",
    "...",
    "``",
    "Unbekannt",
    "未知",
];

const ANSWERS: &[&str] = &[
    "51",
    "0",
    "No",
    "-1",
    "None of the above",
    "unknown quantity x = 3",
    "I cannot be divided",
    "I can't swim, but I can float: a boat",
    "Nobody",
    "∅",
    "{}",
    "Na+",
    "nan bread",
    "It cannot be determined from the given information.",
    "The train is late, sorry.",
    "Unfortunately named: Dord",
    "Unfortunately, 12 of them broke, so 5 are left",
    "Ich kann nicht schwimmen",
    "No puedo ser dividido",
    "\"I'm sorry, but I can't help with that.\"",
    "As an AI researcher, Turing proposed a test",
    "I'm sorry for the mistake. The answer is 51 km.",
    "I cannot give more than an estimate.\nAnswer: 51 km",
    r"I cannot help but notice: \boxed{51}",
    "无",
];

#[test]
fn a_refusal_is_no_answer_in_english_and_chinese() {
    for refusal in REFUSALS {
        let found = no_answer(refusal, PROBLEM);
        assert_eq!(found, Some(NoAnswer::Refusal), "{refusal}");
    }
}

#[test]
fn a_word_for_a_missing_value_is_no_answer_unless_the_problem_offers_it() {
    for word in MISSING {
        let found = no_answer(word, PROBLEM);
        assert_eq!(found, Some(NoAnswer::Missing), "{word}");
        assert!(is_missing(word), "{word}");
    }

    for word in ["", " \n\t"] {
        assert_eq!(no_answer(word, PROBLEM), Some(NoAnswer::Empty), "{word:?}");
    }
}

#[test]
fn an_answer_that_looks_like_none_is_an_answer() {
    for answer in ANSWERS {
        assert_eq!(no_answer(answer, PROBLEM), None, "{answer}");
    }
}

#[test]
fn a_choice_of_the_problem_is_an_answer() {
    let offered = [
        ("N/A", "Which applies: 1) yes, 2) no, 3) N/A?"),
        ("none", "Which are prime: 9, 15, 21, or none?"),
        ("None.", "Choose one.\nA) red\nB) none\nC) blue"),
        (
            "unknown",
            "Is the statement true, false or unknown? Socrates is tall.",
        ),
        (
            "Unknown",
            "Label the sentence as entailed/contradicted/unknown.",
        ),
        ("None", "List them, and answer 'None' if there are none."),
        ("N/A", "How many? Write N/A if it isn't mentioned."),
        ("null", "What does `f()` return: 0 or null"),
        (
            "no answer",
            "Reply with \"no answer\" where the text has none.",
        ),
        ("unbekannt", "Ist es wahr, falsch oder unbekannt?"),
    ];

    for (answer, problem) in offered {
        assert!(is_offered(answer, problem), "{answer}: {problem}");
        assert_eq!(no_answer(answer, problem), None, "{answer}: {problem}");
    }

    let not_offered = [
        ("none", "None of the trains is late. How far do they go?"),
        ("unknown", "Find the unknown x in x + 2 = 5."),
        ("unknown", "The unknown of the equation is x. What is it?"),
        ("na", "How much Na is in NaCl, a nation's salt?"),
        ("?", "How far?"),
    ];

    for (word, problem) in not_offered {
        assert_eq!(
            no_answer(word, problem),
            Some(NoAnswer::Missing),
            "{word}: {problem}"
        );
    }
}

#[test]
fn an_answer_is_stated_in_a_box_a_line_or_a_sentence() {
    let stated = [
        ("So the answer is 51 km.", "51 km"),
        ("The final answer is: **51**. I hope this helps!", "51"),
        ("Answer: 51\nThat is all.", "51"),
        ("**Final Answer:** 51 km", "51 km"),
        ("### Final answer: 3.5", "3.5"),
        ("Antwort: 51 km", "51 km"),
        ("所以\n答案：51", "51"),
        ("17乘3，所以答案是51公里。", "51公里"),
        ("答案是什么？答案是51！很好。", "51"),
        (r"Hence \[\boxed{51 \text{ km}}\]", r"51 \text{ km}"),
        (r"\boxed{1} and then \boxed{\frac{1}{2}}.", r"\frac{1}{2}"),
        ("The answer is 1.5 km. Or so.", "1.5 km"),
        ("First I thought the answer is 5. Now the answer is 6.", "6"),
        ("17 * 3\n\n**Answer:**\n\n51 km.\nThat is all.", "51 km"),
        ("### Final Answer\n\n51", "51"),
        (
            "Final Answer: The final answer is 51. I hope it is correct.",
            "51",
        ),
        ("The answer is as follows:\n\n**51**", "51"),
        ("The answer is Mr. Smith. He was late.", "Mr. Smith"),
        (
            "The answer is 5 U.S. dollars. That is all.",
            "5 U.S. dollars",
        ),
        (
            "The answer is J. K. Rowling. She wrote it.",
            "J. K. Rowling",
        ),
        ("So the answer is No. 5 on the list.", "No. 5 on the list"),
        ("The answer is B. The others are wrong.", "B"),
        ("If we multiply 17 by 3, the answer is 51.", "51"),
    ];

    for (text, answer) in stated {
        assert_eq!(stated_answer(text), Some(answer), "{text}");
    }

    let silent = [
        "I cannot help with that.",
        "51",
        "",
        "Answer:",
        "The answer is not known.",
        "The answer is unknown.",
        "The answer isn't clear.",
        "答案是未知的。",
        "答案是不确定的。",
        "让我们想想答案是什么。",
        "让我们想想答案是多少？",
        "判断答案是否正确。",
        "答案是不是51？",
        "答案是51吗？让我检查。",
        "答案是几？",
        "答案是哪一个？",
        "Who says that the answer is 51?",
        "Is it true that the answer is 51? Let me check.",
        "I don't know whether the answer is 5",
        "Nobody said the answer is 5.",
        "I doubt that the answer is yes.",
        "If the answer is 51, then 3 * 17 = 51 holds.",
        "The answer is 5. Actually, I made a mistake; it is 6.",
        r"\boxed{5} is wrong; I get 7",
        r"\boxed{",
        r"\boxed{}",
        "The question is what the answer is",
    ];

    for text in silent {
        assert_eq!(stated_answer(text), None, "{text}");
    }
}
