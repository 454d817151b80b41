//! Suites in folders of their own, whose models count their calls.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_agents::Loader;
use cogwork_eval::{Evaluation, Suite, Table};
use cogwork_journal::Store;
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Role, Usage, async_trait};
use tempfile::TempDir;

pub(crate) struct Project {
    folder: TempDir,
    calls: Arc<AtomicUsize>,
}

impl Project {
    pub(crate) fn new(suite: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Self {
            folder,
            calls: Arc::default(),
        };
        project.write("suite.yaml", suite);
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// The number of calls of models so far.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    pub(crate) fn suite(&self) -> Suite {
        let calls = Arc::clone(&self.calls);
        let counted =
            move |_: &str, client| Arc::new(Counted(client, calls.clone())) as Arc<dyn LlmClient>;
        let folder = self.path("");
        let loader = Loader::new()
            .with_client_wrapper(counted)
            // A file for each variable, so that a test can change one.
            .with_environment(move |name| fs::read_to_string(folder.join(name)).ok());
        Suite::load(self.path("suite.yaml"), &loader).unwrap()
    }

    /// The problems of the suite, without the folder.
    pub(crate) fn problems(&self) -> String {
        let error = Suite::load(self.path("suite.yaml"), &Loader::new()).unwrap_err();
        error
            .to_string()
            .replace(&format!("{}/", self.folder.path().display()), "")
    }

    pub(crate) fn evaluation(&self) -> Evaluation {
        Evaluation::new(self.suite(), Store::files(self.path("runs")))
    }

    pub(crate) async fn table(&self) -> Table {
        self.evaluation().run().await.unwrap()
    }
}

struct Counted(Arc<dyn LlmClient>, Arc<AtomicUsize>);

#[async_trait]
impl LlmClient for Counted {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        // A server names the model that it was asked for, here in the role.
        let mut messages = request.messages().iter();
        let role = messages.find(|message| message.role() == Role::System);
        let role = role.map(|message| message.text().to_owned());

        let response = self.0.complete(request).await?;
        let response = response.with_usage(Usage::new(8, 2));
        Ok(match role {
            Some(model) => response.with_model(model),
            None => response,
        })
    }
}
