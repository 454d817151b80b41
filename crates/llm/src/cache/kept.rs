use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::Arc;

/// The approximate overhead of an entry in addition to its content, in bytes.
const ENTRY_BYTES: usize = 256;

/// The limits of a cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) entries: usize,
    pub(super) bytes: usize,
}

/// The most recently used values.
#[derive(Debug)]
pub(super) struct Kept<K, V> {
    entries: HashMap<Arc<K>, Entry<V>>,
    /// The keys by last use, so that making room examines no other entries.
    by_use: BTreeMap<u64, Arc<K>>,
    bytes: usize,
    requests: u64,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    /// The last use, counted in requests.
    used: u64,
}

impl<K, V> Default for Kept<K, V> {
    fn default() -> Self {
        Self {
            entries: HashMap::new(),
            by_use: BTreeMap::new(),
            bytes: 0,
            requests: 0,
        }
    }
}

impl<K: Eq + Hash, V: Clone> Kept<K, V> {
    pub(super) fn find(&mut self, key: &K) -> Option<V> {
        self.requests += 1;
        let entry = self.entries.get_mut(key)?;

        if let Some(key) = self.by_use.remove(&entry.used) {
            self.by_use.insert(self.requests, key);
        }

        entry.used = self.requests;

        Some(entry.value.clone())
    }

    /// Keeps a value. `bytes` is the size of key and value.
    pub(super) fn keep(&mut self, key: K, value: V, bytes: usize, most: Most) {
        let bytes = ENTRY_BYTES.saturating_add(bytes);
        if bytes > most.bytes || most.entries == 0 {
            return;
        }

        self.remove(&key);
        while self.entries.len() >= most.entries || self.bytes.saturating_add(bytes) > most.bytes {
            let Some((_, oldest)) = self.by_use.pop_first() else {
                break;
            };

            self.remove(&oldest);
        }

        // Counted separately, because the key may have been added and removed again since the
        // request was counted.
        self.requests += 1;
        let key = Arc::new(key);
        let entry = Entry {
            value,
            bytes,
            used: self.requests,
        };

        self.by_use.insert(entry.used, Arc::clone(&key));
        self.entries.insert(key, entry);
        self.bytes += bytes;
    }

    fn remove(&mut self, key: &K) {
        let Some(entry) = self.entries.remove(key) else {
            return;
        };

        self.by_use.remove(&entry.used);
        self.bytes = self.bytes.saturating_sub(entry.bytes);
    }
}
