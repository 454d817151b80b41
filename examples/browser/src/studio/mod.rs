//! A studio over a folder of runs, in this process.

mod flows;
mod runs;

use std::path::Path;
use std::time::Duration;

use cogwork::journal::Store;
use cogwork_studio::{Runner, Studio};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use url::Url;

use crate::Result;
pub use flows::{REFUND, Refund, TRAIN};

/// The question that the train of thought answers.
pub const TRAIN_PROBLEM: &str =
    "A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?";

/// A studio, which is served until it is dropped.
pub struct ServedStudio {
    folder: TempDir,
    store: Store,
    runner: Runner,
    url: Url,
    task: JoinHandle<()>,
}

impl Drop for ServedStudio {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ServedStudio {
    /// Serves an empty folder.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no port.
    pub async fn start() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().to_str().ok_or("the folder isn't Unicode")?;
        let store = Store::at(place)?;
        let runner = Runner::new(store.clone(), flows::flows()?);
        let studio = Studio::bind(runner.clone(), 0).await?;
        let url = Url::parse(&studio.url())?;
        let task = tokio::spawn(studio.serve(std::future::pending()));

        Ok(Self {
            folder,
            store,
            runner,
            url,
            task,
        })
    }

    /// Returns the address with the token.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the address of a page, for a browser that has entered.
    ///
    /// # Errors
    ///
    /// Returns an error if the address cannot be made.
    pub fn page(&self, query: &[(&str, &str)]) -> Result<Url> {
        let mut url = self.url.clone();
        url.query_pairs_mut().clear().extend_pairs(query);
        Ok(url)
    }

    /// Returns the folder of the runs.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the store of the runs.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Starts a run with an id, and returns when it has ended, failed or waits.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be started.
    pub async fn finish(&self, flow: &str, id: &str, input: &str) -> Result<()> {
        self.begin(flow, id, input).await?;
        self.until_stopped(id).await
    }

    /// Waits until a run has ended, failed or waits.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such run.
    pub async fn until_stopped(&self, id: &str) -> Result<()> {
        while self.store.is_in_use(id).await? {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// Starts a run with an id, which continues in a task.
    ///
    /// # Errors
    ///
    /// Returns an error if the run cannot be started.
    pub async fn begin(&self, flow: &str, id: &str, input: &str) -> Result<()> {
        self.runner.start(flow, input.into(), Some(id)).await?;
        Ok(())
    }
}
