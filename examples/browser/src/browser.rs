//! A browser, driven over WebDriver.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Map, Value, json};
use url::{ParseError, Url};

/// An error of a test.
pub type Failure = Box<dyn Error + Send + Sync>;

/// The result of a test.
pub type Result<T> = std::result::Result<T, Failure>;

/// A browser with one window.
pub struct Browser {
    client: Client,
    screenshots: PathBuf,
}

/// Reads the messages that the browser logged since the last time.
#[derive(Debug)]
struct ReadLog;

impl WebDriverCompatibleCommand for ReadLog {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> std::result::Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/se/log"))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        (
            http::Method::POST,
            Some(json!({"type": "browser"}).to_string()),
        )
    }
}

impl Browser {
    /// Starts a browser through the driver at the address in `COGWORK_WEBDRIVER`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such driver.
    pub async fn start(width: u32, height: u32) -> Result<Self> {
        let driver = std::env::var("COGWORK_WEBDRIVER")
            .map_err(|_| "COGWORK_WEBDRIVER is not set; run scripts/check-browser")?;
        let size = format!("--window-size={width},{height}");
        let capabilities = json!({
            "goog:chromeOptions": {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", size]},
            "goog:loggingPrefs": {"browser": "ALL"},
        });

        let mut builder = ClientBuilder::new(HttpConnector::new());
        if let Value::Object(capabilities) = capabilities {
            builder.capabilities(capabilities.into_iter().collect::<Map<_, _>>());
        }
        let client = builder.connect(&driver).await?;

        // Windows of a browser have a minimum width, but their content may be narrower.
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        let browser = Self {
            client,
            screenshots: screenshots()?,
        };
        browser
            .devtools("Emulation.setDeviceMetricsOverride", metrics)
            .await?;
        Ok(browser)
    }

    /// Returns the client, for clicks and keys.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Sends a command of the browser's developer tools.
    ///
    /// # Errors
    ///
    /// Returns the error of the browser.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Result<Value> {
        let command = DevTools {
            command: command.to_owned(),
            parameters,
        };
        Ok(self.client.issue_cmd(command).await?)
    }

    /// Sets the colours that the page is asked to use.
    ///
    /// # Errors
    ///
    /// Returns the error of the browser.
    pub async fn prefer(&self, scheme: &str) -> Result<()> {
        let feature = json!({"name": "prefers-color-scheme", "value": scheme});
        self.devtools("Emulation.setEmulatedMedia", json!({"features": [feature]}))
            .await?;
        Ok(())
    }

    /// Opens a page from disk, and returns the milliseconds until it was shown.
    ///
    /// # Errors
    ///
    /// Returns an error if the page doesn't become ready.
    pub async fn open(&self, page: &Path) -> Result<f64> {
        let url = Url::from_file_path(page).map_err(|()| "the path of the page is relative")?;
        self.open_url(url.as_str()).await?;
        self.opening_time().await
    }

    /// Opens a page at an address.
    ///
    /// # Errors
    ///
    /// Returns an error if the page doesn't become ready.
    pub async fn open_url(&self, url: &str) -> Result<()> {
        self.client.goto("about:blank").await?;
        self.client.goto(url).await?;
        self.until_ready().await
    }

    /// Waits until the page shows what it is about.
    ///
    /// # Errors
    ///
    /// Returns an error if that takes longer than 30 seconds, or if the page cannot show it.
    pub async fn until_ready(&self) -> Result<()> {
        for _ in 0..600 {
            let ready = self
                .run("return document.documentElement?.dataset.ready ?? ''")
                .await?;
            match ready.as_str() {
                Some("true") => return Ok(()),
                Some("failed") => return Err("the page could not show its record".into()),
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }

        Err("the page was not ready within 30 seconds".into())
    }

    /// Waits until a script returns `true`.
    ///
    /// # Errors
    ///
    /// Returns an error that names the script if that takes longer than 30 seconds.
    pub async fn until(&self, script: &str) -> Result<()> {
        for _ in 0..600 {
            if self.run(script).await? == true {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }

        let shown = self.run("return document.body.innerText").await?;
        let shown = shown.as_str().unwrap_or_default();
        Err(format!("not true within 30 seconds: {script}\n{shown}").into())
    }

    async fn opening_time(&self) -> Result<f64> {
        let time = self
            .run("return performance.getEntriesByName('ready')[0].startTime")
            .await?;
        Ok(time.as_f64().unwrap_or(f64::NAN))
    }

    /// Runs a script in the page, and returns its result.
    ///
    /// # Errors
    ///
    /// Returns the error of the script.
    pub async fn run(&self, script: &str) -> Result<Value> {
        Ok(self.client.execute(script, Vec::new()).await?)
    }

    /// Returns what was logged since the last time: errors of scripts, and violations of the policy.
    ///
    /// # Errors
    ///
    /// Returns the error of the browser.
    pub async fn log(&self) -> Result<Vec<String>> {
        let log = self.client.issue_cmd(ReadLog).await?;
        let entries = log.as_array().cloned().unwrap_or_default();
        Ok(entries.iter().map(Value::to_string).collect())
    }

    /// Keeps a picture of the window, for people to look at.
    ///
    /// # Errors
    ///
    /// Returns an error if the picture cannot be written.
    pub async fn screenshot(&self, name: &str) -> Result<()> {
        let picture = self.client.screenshot().await?;
        fs::write(self.screenshots.join(format!("{name}.png")), picture)?;
        Ok(())
    }

    /// Closes the browser.
    ///
    /// # Errors
    ///
    /// Returns the error of the browser.
    pub async fn close(self) -> Result<()> {
        Ok(self.client.close().await?)
    }
}

/// A command of Chromium's developer tools.
#[derive(Debug)]
struct DevTools {
    command: String,
    parameters: Value,
}

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> std::result::Result<Url, ParseError> {
        let session = session.unwrap_or_default();
        base.join(&format!("session/{session}/goog/cdp/execute"))
    }

    fn method_and_body(&self, _: &Url) -> (http::Method, Option<String>) {
        let body = json!({"cmd": self.command, "params": self.parameters});
        (http::Method::POST, Some(body.to_string()))
    }
}

fn screenshots() -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/browser");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
