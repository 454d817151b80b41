//! A session and its entries.

use std::collections::VecDeque;
use std::mem;

use crate::store::position::{Addition, Entry, PAGE, Position, Recent, Start};
use crate::store::values::now;
use crate::store::{Change, NewSession, Replaced, SessionHeader, SessionId, Shortened};

/// The memory of a session apart from its texts, in bytes, approximately.
const SESSION: usize = 512;

#[derive(Debug)]
pub(super) struct Session {
    pub(super) header: SessionHeader,
    pub(super) owner: String,
    /// Whether the client chose the id.
    pub(super) is_named: bool,
    /// What is kept instead of the entries that are dropped.
    base: Option<String>,
    /// The last entries.
    kept: VecDeque<Kept>,
    bytes: usize,
}

/// An entry.
#[derive(Debug)]
struct Kept {
    stamp: i64,
    body: String,
    /// The text that searches find.
    text: String,
}

impl Kept {
    fn bytes(&self) -> usize {
        let texts = self.body.capacity().saturating_add(self.text.capacity());
        texts.saturating_add(mem::size_of::<Self>())
    }
}

/// Returns how much memory an entry needs at most, in bytes.
pub(super) fn bytes_of(addition: &Addition) -> usize {
    let change = &addition.change;
    let replaced = change.replaced.as_ref();
    let base = addition.shortened.as_ref();
    let texts = [
        addition.body.capacity(),
        change.text.capacity(),
        change.title.as_ref().map_or(0, String::capacity),
        change.strategy.as_ref().map_or(0, String::capacity),
        replaced.map_or(0, |replaced| replaced.text.capacity()),
        base.map_or(0, |shortened| shortened.base.capacity()),
    ];
    texts
        .into_iter()
        .fold(mem::size_of::<Kept>(), usize::saturating_add)
}

impl Session {
    pub(super) fn new(owner: &str, id: &SessionId, new: &NewSession) -> Self {
        let now = now();
        let header = SessionHeader {
            id: id.clone(),
            kind: new.kind,
            title: new.title.clone(),
            strategy: new.strategy.clone(),
            is_complete: false,
            entries: 0,
            created: now,
            updated: now,
        };
        let texts = [owner, id.as_str(), &header.title, &header.strategy];
        let bytes = texts.iter().map(|text| text.len()).sum();

        Self {
            header,
            owner: owner.to_owned(),
            is_named: new.id.is_some(),
            base: None,
            kept: VecDeque::new(),
            bytes: SESSION.saturating_add(bytes),
        }
    }

    /// Returns the memory that it uses, in bytes, approximately.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of entries that are dropped.
    fn dropped(&self) -> u64 {
        let kept = u64::try_from(self.kept.len()).unwrap_or(u64::MAX);
        self.header.entries.saturating_sub(kept)
    }

    /// Returns an entry by its number, if it is kept.
    fn entry(&self, number: u64) -> Option<&Kept> {
        let index = self.index_after(number.checked_sub(1)?)?;
        self.kept.get(index)
    }

    /// Returns the index of the entry after the one with this number.
    fn index_after(&self, number: u64) -> Option<usize> {
        let index = number.checked_sub(self.dropped())?;
        usize::try_from(index).ok()
    }

    pub(super) fn end(&self, key: i64) -> Position {
        Position {
            session: key,
            entries: self.header.entries,
            stamp: self.kept.back().map(|entry| entry.stamp),
        }
    }

    /// Returns whether the session ends at a position.
    pub(super) fn ends_at(&self, position: Position) -> bool {
        self.header.entries == position.entries && self.has_stamp(position)
    }

    fn has_stamp(&self, position: Position) -> bool {
        let Some(stamp) = position.stamp else {
            return true;
        };
        self.entry(position.entries)
            .is_some_and(|entry| entry.stamp == stamp)
    }

    pub(super) fn append(&mut self, additions: Vec<Addition>) {
        self.header.updated = now();
        for addition in additions {
            self.push(addition);
        }
    }

    fn push(&mut self, addition: Addition) {
        let Addition {
            stamp,
            body,
            change,
            shortened,
        } = addition;
        let Change {
            title,
            strategy,
            is_complete,
            text,
            replaced,
        } = change;

        let entry = Kept { stamp, body, text };
        self.bytes = self.bytes.saturating_add(entry.bytes());
        self.kept.push_back(entry);
        self.header.entries = self.header.entries.saturating_add(1);

        if let Some(is_complete) = is_complete {
            self.header.is_complete = is_complete;
        }
        if let Some(title) = title {
            self.count(self.header.title.len(), title.len());
            self.header.title = title;
        }
        if let Some(strategy) = strategy {
            self.count(self.header.strategy.len(), strategy.len());
            self.header.strategy = strategy;
        }
        if let Some(replaced) = replaced {
            self.replace_text(replaced);
        }
        if let Some(shortened) = shortened {
            self.shorten(shortened);
        }
    }

    fn replace_text(&mut self, replaced: Replaced) {
        let index = replaced.entry.checked_sub(1);
        let index = index.and_then(|before| self.index_after(before));
        let Some(entry) = index.and_then(|index| self.kept.get_mut(index)) else {
            return;
        };

        let before = entry.bytes();
        entry.text = replaced.text;
        let after = entry.bytes();
        self.count(before, after);
    }

    fn shorten(&mut self, shortened: Shortened) {
        let count = self.index_after(shortened.dropped).unwrap_or_default();
        let dropped = self.kept.drain(..count.min(self.kept.len()));
        let freed = dropped.map(|entry| entry.bytes()).sum();
        self.count(freed, 0);

        let base = self.base.as_ref().map_or(0, String::len);
        self.count(base, shortened.base.len());
        self.base = Some(shortened.base);
    }

    /// Counts what replaces something else.
    fn count(&mut self, before: usize, after: usize) {
        self.bytes = self.bytes.saturating_sub(before).saturating_add(after);
    }

    /// Returns the entries after a position, or all of them if there are others at the position.
    pub(super) fn recent(&self, key: i64, position: Option<Position>) -> Recent {
        let there = position.filter(|position| position.session == key && self.has(*position));
        let after = there.map_or_else(|| self.dropped(), |position| position.entries);
        let start = match there {
            Some(_) => Start::There,
            None => self.start(key),
        };

        let entries = self.page(after);
        let read = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        Recent {
            kind: self.header.kind,
            start,
            is_complete: after.saturating_add(read) >= self.header.entries,
            entries,
        }
    }

    /// Returns whether the session has the entry that a position is after, and the next ones.
    fn has(&self, position: Position) -> bool {
        let kept = self.dropped()..=self.header.entries;
        kept.contains(&position.entries) && self.has_stamp(position)
    }

    fn start(&self, key: i64) -> Start {
        let position = Position {
            entries: self.dropped(),
            ..Position::start_of(key)
        };
        Start::Anew {
            position,
            base: self.base.clone(),
        }
    }

    fn page(&self, after: u64) -> Vec<Entry> {
        let mut bytes = 0_usize;
        let entries = self.after(after).take_while(|entry| {
            let has_room = bytes < PAGE;
            bytes = bytes.saturating_add(entry.body.len());
            has_room
        });
        let entries = entries.map(|entry| Entry {
            stamp: entry.stamp,
            body: entry.body.clone(),
        });
        entries.collect()
    }

    fn after(&self, number: u64) -> impl Iterator<Item = &Kept> {
        let index = self.index_after(number).unwrap_or_default();
        self.kept.iter().skip(index)
    }

    /// Returns the numbers and the texts of the entries after the one with this number.
    pub(super) fn texts(&self, after: u64) -> impl Iterator<Item = (u64, &str)> {
        let first = after.max(self.dropped()).saturating_add(1);
        let texts = self.after(after).map(|entry| entry.text.as_str());
        (first..).zip(texts)
    }

    /// Returns the newest entries, in order.
    pub(super) fn newest(&self, max_bytes: usize) -> Vec<String> {
        let mut bytes = 0_usize;
        let newest = self.kept.iter().rev().enumerate();
        let newest = newest.take_while(|(index, entry)| {
            bytes = bytes.saturating_add(entry.body.len());
            bytes <= max_bytes || *index == 0
        });

        let count = newest.count();
        let older = self.kept.len().saturating_sub(count);
        let newest = self.kept.iter().skip(older);
        newest.map(|entry| entry.body.clone()).collect()
    }
}
