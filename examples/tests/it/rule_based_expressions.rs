//! Expressions: random ones, the forms by hand, and hostile ones. With `COGWORK_LONG_TESTS`, a thousand are random.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::support;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use proptest::prelude::*;
use support::{announces_mistake, answer, solution, solve, text};

/// A random expression: written down and evaluated side by side, apart from the library.
#[derive(Debug, Clone)]
struct Sample {
    text: String,
    /// `None`: a division by zero somewhere.
    value: Option<BigRational>,
    /// 0 sum, 1 product, 2 negation, 3 power, 4 atom.
    binding: u8,
    operations: usize,
}

impl Sample {
    fn within(self, least: u8) -> String {
        if self.binding < least {
            format!("({})", self.text)
        } else {
            self.text
        }
    }
}

fn leaf() -> impl Strategy<Value = Sample> {
    let atom = |text: String, value: BigRational| Sample {
        text,
        value: Some(value),
        binding: 4,
        operations: 0,
    };

    let ratio =
        |numerator: u32, denominator: u32| BigRational::new(numerator.into(), denominator.into());
    prop_oneof![
        5 => (0_u32..300).prop_map(move |n| atom(n.to_string(), ratio(n, 1))),
        2 => (0_u32..5_000).prop_map(move |n| atom(format!("{}.{:02}", n / 100, n % 100), ratio(n, 100))),
        1 => (1_000_u32..999_999).prop_map(move |n| atom(format!("{},{:03}", n / 1_000, n % 1_000), ratio(n, 1))),
        1 => (0_u32..200).prop_map(move |n| atom(format!("{n}%"), ratio(n, 100))),
    ]
}

fn expression() -> impl Strategy<Value = Sample> {
    leaf().prop_recursive(6, 24, 2, |inner| {
        prop_oneof![
            8 => (inner.clone(), inner.clone(), 0_usize..4, any::<(bool, bool)>()).prop_map(|(left, right, op, style)| binary(left, right, op, style)),
            1 => (inner.clone(), -3_i32..5, any::<bool>()).prop_map(|(base, exponent, stars)| power(base, exponent, stars)),
            1 => inner.clone().prop_map(|inner| Sample {
                value: inner.value.clone().map(|value| -value),
                operations: inner.operations,
                text: format!("-{}", inner.within(3)),
                binding: 2,
            }),
            1 => inner.prop_map(|inner| Sample { text: format!("({})", inner.text), binding: 4, ..inner }),
        ]
    })
}

fn binary(left: Sample, right: Sample, op: usize, (spaced, usual): (bool, bool)) -> Sample {
    let sign = [["+", "-", "*", "/"], ["+", "−", "×", "÷"]][usize::from(!usual)][op];
    let binding = if op < 2 { 0 } else { 1 };
    let value = left
        .value
        .clone()
        .zip(right.value.clone())
        .and_then(|(left, right)| match op {
            0 => Some(left + right),
            1 => Some(left - right),
            2 => Some(left * right),
            _ => (!right.is_zero()).then(|| left / right),
        });

    let operations = left.operations + right.operations + 1;

    // A sign on the right would follow another one; in parentheses it reads as people write it.
    let right = if right.binding == 2 {
        format!("({})", right.text)
    } else {
        right.within(binding + 1)
    };

    let space = if spaced { " " } else { "" };
    Sample {
        text: format!("{}{space}{sign}{space}{right}", left.within(binding)),
        value,
        binding,
        operations,
    }
}

fn power(base: Sample, exponent: i32, stars: bool) -> Sample {
    let value = base.value.clone().and_then(|base| {
        let product = (0..exponent.abs()).fold(BigRational::one(), |product, _| product * &base);
        if exponent >= 0 {
            Some(product)
        } else {
            (!product.is_zero()).then(|| product.recip())
        }
    });

    let sign = if stars { "**" } else { "^" };
    Sample {
        operations: base.operations + 1,
        text: format!("{}{sign}{exponent}", base.within(4)),
        value,
        binding: 3,
    }
}

/// The number at the end of `expression = number.`, read apart from the library.
fn stated(solution: &str) -> BigRational {
    let exact = solution
        .strip_suffix('.')
        .unwrap()
        .split(" ≈ ")
        .next()
        .unwrap();

    let exact = exact
        .rsplit(" = ")
        .next()
        .unwrap()
        .trim_start_matches("The value is ")
        .replace(' ', "");

    let (numerator, denominator) = exact.split_once('/').unwrap_or((&exact, "1"));
    let places = numerator
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len());
    let numerator: BigInt = numerator.replace('.', "").parse().unwrap();
    let denominator: BigInt = denominator.parse().unwrap();

    BigRational::new(numerator, denominator * BigInt::from(10).pow(places as u32))
}

fn cases() -> u32 {
    match std::env::var_os("COGWORK_LONG_TESTS") {
        Some(_) => 1_000,
        None => 100,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_expressions_are_solved_right(sample in expression()) {
        let thoughts = solve(&format!("What is {}?", sample.text));
        let solution = solution(&thoughts);
        match &sample.value {
            Some(value) => prop_assert_eq!(&stated(&solution), value, "{}", text(&thoughts)),
            None => prop_assert!(solution.ends_with(" has no value: a division by zero."), "{}", text(&thoughts)),
        }
        prop_assert!(thoughts.len() <= 12);
        prop_assert_eq!(thoughts.last().unwrap().planning.progress().fraction(), 1.0);
        let episodes = thoughts.iter().filter(|thought| thought.planning.progress().verification_needed > 0).count();
        match &sample.value {
            Some(_) => prop_assert_eq!(episodes, usize::from(sample.operations > 0)),
            None => prop_assert!(episodes <= 1),
        }
        prop_assert_eq!(announces_mistake(&thoughts), episodes == 1);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 2, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_answered_or_refused(problem in prop_oneof![
        "\\PC{0,60}",
        "[-0-9+*/^%()., x=!of\u{660}\u{d7}]{0,80}",
        "((the|sum|of|and|half|what|is|3|4|plus|has|buys|km|h|how|many|apples|each|/|change) ){0,20}",
    ]) {
        let thoughts = solve(&problem);
        prop_assert!(!solution(&thoughts).is_empty());
    }
}

#[test]
fn the_forms_of_arithmetic() {
    for (problem, expected) in [
        ("(17 + 4) * 3", "(17 + 4) * 3 = 63."),
        ("What is (17 + 4) * 3?", "(17 + 4) * 3 = 63."),
        ("2^3^2", "2^3^2 = 512."),
        ("-3^2", "-3^2 = -9."),
        ("(-3)^2", "(-3)^2 = 9."),
        ("2 ** -2", "2^(-2) = 0.25."),
        ("0^0", "0^0 = 1."),
        ("7 - 2 - 1", "7 - 2 - 1 = 4."),
        ("8 / 4 / 2", "8 / 4 / 2 = 1."),
        ("7 - (2 - 1)", "7 - (2 - 1) = 6."),
        ("12 × 3 ÷ 4 − 1", "12 * 3 / 4 - 1 = 8."),
        ("3 x 4", "3 * 4 = 12."),
        ("131 / 2", "131 / 2 = 65.5."),
        ("(100 + 31) / 2", "(100 + 31) / 2 = 131/2 = 65.5."),
        ("10 / 3", "10 / 3 ≈ 3.333333."),
        ("10 / 4 / 3", "10 / 4 / 3 = 5/6 ≈ 0.833333."),
        ("1 / 30000000", "1 / 30000000 ≈ 3.333333 × 10^-8."),
        ("-2 / 3", "-2 / 3 ≈ -0.666667."),
        ("0.1 + 0.2", "0.1 + 0.2 = 0.3."),
        (".5 + 1.50", "0.5 + 1.5 = 2."),
        ("1,000,000 + 1,234.5", "1000000 + 1234.5 = 1001234.5."),
        ("20%", "20% = 0.2."),
        ("15% of 80", "15% of 80 = 12."),
        ("80 + 10%", "80 + 10% = 80.1."),
        ("(5 + 3)% of 50", "(5 + 3)% of 50 = 4."),
        ("20% of 50% of 80 + 2", "20% of (50% of 80) + 2 = 10."),
        ("3/4 of 80", "3 / 4 of 80 = 60."),
        ("1^(9^99)", "1^9^99 = 1."),
        ("What is 7?", "The value is 7."),
        ("-(-5)", "-(-5) = 5."),
    ] {
        assert_eq!(answer(problem), expected, "{problem}");
    }
}

#[test]
fn large_results_are_exact() {
    let power = answer("2^1000");
    assert!(power.starts_with(
        "2^1000 = 10715086071862673209484250490600018105614048117055336074437503883703510511249361"
    ));
    assert!(power.ends_with("429831652624386837205668069376."));
    assert_eq!(answer("2^1000 - 2^1000"), "2^1000 - 2^1000 = 0.");
}

#[test]
fn a_division_by_zero_is_found_at_its_step_and_said() {
    assert_eq!(
        answer("1 + 10 / (4 - 4) * 2"),
        "1 + 10 / (4 - 4) * 2 has no value: a division by zero."
    );
    assert_eq!(answer("0^-1"), "0^(-1) has no value: a division by zero.");
    assert_eq!(answer("5 / 0"), "5 / 0 has no value: a division by zero.");
}

#[test]
fn what_is_too_large_or_not_whole_is_refused_in_words() {
    for (problem, expected) in [
        (
            "9^9^9^9",
            "9^9^9^9 is beyond this backend: the result would have more than 999 digits.",
        ),
        (
            "9^9^9^9^9^9",
            "9^9^9^9^9^9 is beyond this backend: the result would have more than 999 digits.",
        ),
        (
            "2^-99999999999",
            "2^(-99999999999) is beyond this backend: the result would have more than 999 digits.",
        ),
        (
            "2^0.5",
            "2^0.5 is beyond this backend: it takes whole exponents only.",
        ),
        (
            "2^3000 * 2^3000",
            "2^3000 * 2^3000 is beyond this backend: the result would have more than 999 digits.",
        ),
    ] {
        assert_eq!(answer(problem), expected);
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let nines = "9".repeat(1_000);
    let brackets = "(".repeat(100_000);
    let nested = format!("{}1{}", "(".repeat(41), ")".repeat(41));
    let long_sum = vec!["1"; 202].join("+");

    for (problem, why) in [
        ("", "it is empty"),
        ("What is the meaning of life?", "it holds no number"),
        (
            "17 apples",
            "there is a number in it, and nothing I know how to do with it",
        ),
        (
            "2 +",
            "I expected a number or an opening parenthesis at the end",
        ),
        ("(2 + 3", "I expected a closing parenthesis at the end"),
        ("2 + 3)", "I do not know what ')' means here"),
        (
            "2(3 + 4)",
            "two numbers stand side by side; I need the sign between them, as in 2 * (3 + 4)",
        ),
        (
            "1,5 + 2",
            "a comma may only separate thousands, as in 1,000; a decimal takes a point, as in 1.5",
        ),
        ("1.2.3 + 1", "a number may have one decimal point only"),
        (
            "\u{663} + 4",
            "I read the digits 0 to 9 only, not '\u{663}'",
        ),
        (
            "sqrt(16) + 2",
            "the word \"sqrt\" beside the expression may change its meaning",
        ),
        (
            "double 21 + 3",
            "the word \"double\" beside the expression may change its meaning",
        ),
        (
            "twenty plus 3",
            "the word \"twenty\" beside the expression may change its meaning",
        ),
        (
            "2 + apples",
            "I do not understand the word \"apples\" here, where I expected a number or an opening parenthesis",
        ),
        (
            "2 + 3 = 5",
            "I found a number outside the expression, and not the story that I know",
        ),
        (
            "0 \u{1b}[31m + 1",
            "I do not know what '\\u{1b}' means here",
        ),
        (&nines, "a number may have at most 999 digits"),
        (&brackets, "it is longer than 4000 characters"),
        (&nested, "it nests deeper than 40 levels"),
        (&long_sum, "it holds more than 200 operations"),
    ] {
        let refusal = format!("I cannot answer this problem: {why}. I read expressions");
        assert!(
            answer(problem).starts_with(&refusal),
            "{problem}: {}",
            answer(problem)
        );
    }
}

#[test]
fn results_near_the_bounds_stay_whole() {
    let tiny = format!("0.{}1 + 1", "0".repeat(900));
    assert_eq!(
        answer(&tiny),
        format!("The value is 1.{}1.", "0".repeat(900))
    );
    let third = answer("1 / 3^2000");
    assert!(third.ends_with(" × 10^-955."), "{third}");
    assert!(stated(&third).is_positive());
}
