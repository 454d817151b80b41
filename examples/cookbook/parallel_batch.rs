//! A parallel batch: pages are fetched concurrently, up to three at a time. The outcomes are in the order of the pages.
//! A page that takes too long is replaced by a note, and the others are not delayed.
//!
//! ```text
//! /home has 4 letters
//! /archive takes too long
//! /team has 4 letters
//! /prices has 6 letters
//! /contact has 7 letters
//! (at most 3 at a time)
//! ```
//!
//! For real pages, or a real model, change `Site::get`.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork::flow::{Batch, BuildError, Flow, Node, from_exec_with};

// --- core ---

struct Crawl {
    addresses: Vec<String>,
    pages: Vec<String>,
}

fn crawl(site: &Arc<Site>) -> Result<Flow<Crawl>, BuildError> {
    let fetch = from_exec_with(site.clone(), async |site, address: String| {
        site.get(&address).await
    })
    .timeout(Duration::from_millis(500))
    .fallback(async |address, _| Ok(format!("{address} takes too long")));

    let fetch = Batch::at_most(
        3,
        fetch,
        |crawl: &Crawl| crawl.addresses.clone(),
        |crawl, pages| crawl.pages = pages,
    );

    Flow::builder("crawl")
        .batch("fetch", fetch)
        .chain(["fetch"])
        .build()
}

// --- end of the core ---

/// A site with slow pages, and how many of them are being fetched.
#[derive(Default)]
struct Site {
    fetching: AtomicUsize,
    most: AtomicUsize,
}

impl Site {
    async fn get(&self, address: &str) -> Result<String, std::io::Error> {
        let fetching = self.fetching.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(fetching, Ordering::SeqCst);

        let time = if address == "/archive" { 60_000 } else { 5 };
        tokio::time::sleep(Duration::from_millis(time)).await;

        self.fetching.fetch_sub(1, Ordering::SeqCst);
        Ok(format!("{address} has {} letters", address.len() - 1))
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let site = Arc::new(Site::default());
    let addresses = ["/home", "/archive", "/team", "/prices", "/contact"];
    let mut state = Crawl {
        addresses: addresses.map(str::to_owned).to_vec(),
        pages: Vec::new(),
    };
    crawl(&site)?.run(&mut state).await?;

    println!("{}", state.pages.join("\n"));
    println!("(at most {} at a time)", site.most.load(Ordering::SeqCst));
    Ok(())
}
