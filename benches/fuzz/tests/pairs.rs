//! A search for slow texts: every pair of tokens of a grammar, repeated n and 2n times, for every reader whose work
//! is counted.
//!
//! By default n is small, so that the search takes some seconds. A larger one says for each reader which texts
//! take the most work:
//!
//! ```text
//! COGWORK_PAIRS=1000 cargo test --release -p cogwork-fuzz --test pairs -- --nocapture
//! ```

use cogwork_fuzz::work::{READERS, Reader};

/// How often each token is repeated.
const SMALL: usize = 16;

/// Work that comes in steps.
const STEP: u64 = 4_000;

/// How many slow texts a failure names.
const NAMED: usize = 10;

fn repetitions() -> usize {
    let larger = std::env::var("COGWORK_PAIRS").ok();

    larger.map_or(SMALL, |n| n.parse().expect("COGWORK_PAIRS is a number"))
}

/// A text of two tokens, each repeated as often.
struct Pair<'t> {
    beginning: &'t str,
    one: &'t str,
    other: &'t str,
    /// Each after the other, or all of the one before all of the other.
    are_mixed: bool,
}

impl Pair<'_> {
    fn text(&self, n: usize) -> String {
        let Self { one, other, .. } = self;

        let repeated = if self.are_mixed {
            [*one, *other].concat().repeat(n)
        } else {
            one.repeat(n) + &other.repeat(n)
        };
        self.beginning.to_owned() + &repeated
    }
}

/// What reading a pair took.
struct Measured {
    what: String,
    once: u64,
    twice: u64,
    /// The length of the longer text.
    bytes: u64,
}

impl Measured {
    fn of(reader: &Reader, pair: &Pair<'_>, n: usize) -> Self {
        let long = pair.text(2 * n);
        let kind = if pair.are_mixed { "mixed" } else { "apart" };
        let Pair {
            beginning,
            one,
            other,
            ..
        } = pair;

        Self {
            what: format!("{beginning:?}, {one:?} and {other:?}, {kind}"),
            once: reader.work(&pair.text(n)),
            twice: reader.work(&long),
            bytes: long.len() as u64,
        }
    }

    fn is_in_proportion(&self, reader: &Reader) -> bool {
        let doubled = self.once.saturating_mul(23) / 10;
        let bounded = reader.bounded * self.bytes;

        self.twice <= doubled + bounded + STEP && self.twice <= reader.per_byte * self.bytes + STEP
    }

    fn per_byte(&self) -> u64 {
        self.twice / self.bytes
    }
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            what, once, twice, ..
        } = self;
        let per_byte = self.per_byte();

        write!(
            f,
            "{what}: {once} units of work became {twice}, {per_byte} a byte"
        )
    }
}

fn search(name: &str) {
    let reader = READERS.iter().find(|reader| reader.name == name);
    let reader = reader.expect("there is such a reader");
    let n = repetitions();
    let tokens = reader.tokens();

    // What is made once, such as a schema, is not of a text.
    reader.work("");

    let mut measured = Vec::new();
    for pair in pairs(reader, &tokens) {
        measured.push(Measured::of(reader, &pair, n));
    }

    measured.sort_by_key(|measured| std::cmp::Reverse(measured.per_byte()));
    for worst in measured.iter().take(3) {
        println!("{name}: {worst}");
    }

    let slow: Vec<String> = measured
        .iter()
        .filter(|measured| !measured.is_in_proportion(reader))
        .map(Measured::to_string)
        .collect();
    assert!(
        slow.is_empty(),
        "{name}: {} slow texts, among them {:#?}",
        slow.len(),
        slow.iter().take(NAMED).collect::<Vec<_>>()
    );
}

fn pairs<'t>(reader: &'t Reader, tokens: &'t [String]) -> impl Iterator<Item = Pair<'t>> {
    let firsts = reader
        .beginnings
        .iter()
        .flat_map(|beginning| tokens.iter().map(move |one| (*beginning, one)));

    firsts.flat_map(move |(beginning, one)| {
        let pair = move |(other, are_mixed)| Pair {
            beginning,
            one,
            other,
            are_mixed,
        };
        tokens
            .iter()
            .flat_map(|other| [(other.as_str(), true), (other.as_str(), false)])
            .map(pair)
    })
}

#[test]
fn replies() {
    search("replies");
}

#[test]
fn stage_replies() {
    search("stage replies");
    search("stage replies in JSON");
}

#[test]
fn tables() {
    search("tables in YAML");
    search("tables in JSON");
}

#[test]
fn flow_files() {
    search("flow files");
}

#[test]
fn prompts() {
    search("prompts");
}

#[test]
fn saved_states_and_snapshots() {
    search("saved states");
    search("snapshots of sessions");
}

#[test]
fn memories() {
    search("memories");
}
