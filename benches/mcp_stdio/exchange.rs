use std::ops::Range;
use std::time::{Duration, Instant};

use serde_json::Value;

/// Requests to a server, and its answers.
pub(crate) struct Exchange {
    first: usize,
    /// All requests, one after the other.
    requests: String,
    /// Where each request ends.
    ends: Vec<usize>,
    /// When each request was sent.
    sent: Vec<Instant>,
    answers: Vec<u8>,
    /// What was read at once: where it ends in the answers, and when it was read.
    reads: Vec<(usize, Instant)>,
    answered: usize,
}

impl Exchange {
    pub(crate) fn new(first: usize, count: usize) -> Self {
        let mut requests = String::new();
        let ends = (first..first + count).map(|number| {
            requests += &call(number);
            requests.len()
        });

        let ends: Vec<_> = ends.collect();
        Self {
            first,
            sent: Vec::with_capacity(ends.len()),
            answers: Vec::with_capacity(requests.len() * 4),
            reads: Vec::with_capacity(ends.len()),
            requests,
            ends,
            answered: 0,
        }
    }

    /// Returns whether there are answers to all requests.
    pub(crate) fn is_complete(&self) -> bool {
        self.answered == self.ends.len()
    }

    /// Returns the requests to send, so that at most this many wait for their answers.
    pub(crate) fn send(&mut self, window: usize) -> &[u8] {
        let from = self.end(self.sent.len());
        let count = self.ends.len().min(self.answered + window);
        self.sent.resize(count, Instant::now());

        let text = from..self.end(count);
        &self.requests.as_bytes()[text]
    }

    /// Returns where this many requests end.
    fn end(&self, requests: usize) -> usize {
        requests.checked_sub(1).map_or(0, |last| self.ends[last])
    }

    /// Returns where to append answers.
    pub(crate) fn answers(&mut self) -> &mut Vec<u8> {
        &mut self.answers
    }

    /// Counts the answers that were appended.
    pub(crate) fn receive(&mut self) {
        let new = &self.answers[self.read()..];
        self.answered += new.iter().filter(|byte| **byte == b'\n').count();
        self.reads.push((self.answers.len(), Instant::now()));
    }

    fn read(&self) -> usize {
        self.reads.last().map_or(0, |(end, _)| *end)
    }

    /// Checks the answers, and returns the time that each request took.
    pub(crate) fn times(&self) -> Vec<Duration> {
        let mut reads = self.reads.iter();
        let mut read = reads.next().expect("an answer");

        lines(&self.answers)
            .map(|line| {
                while line.end > read.0 {
                    read = reads.next().expect("the rest of the answer");
                }
                let number = number(&self.answers[line]);
                read.1 - self.sent[number - self.first]
            })
            .collect()
    }
}

/// Returns where the lines are, including their ends.
fn lines(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive(|byte| *byte == b'\n')
        .map(move |line| {
            let range = start..start + line.len();
            start = range.end;
            range
        })
}

/// Returns the number of the thought that an answer is about.
fn number(answer: &[u8]) -> usize {
    let answer: Value = serde_json::from_slice(answer).expect("JSON");
    let recorded = &answer["result"]["structuredContent"]["thoughtNumber"];
    assert_eq!(recorded, &answer["id"], "{answer}");

    let number = recorded.as_u64().expect("a number");
    usize::try_from(number).expect("a number of a thought")
}

fn call(number: usize) -> String {
    let thought =
        "The three cases differ only in the sign, so it is enough to look at one of them.";
    format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"sequentialthinking","arguments":{{"thought":"{thought}","thoughtNumber":{number},"totalThoughts":{number},"nextThoughtNeeded":true}}}}}}"#
    ) + "\n"
}
