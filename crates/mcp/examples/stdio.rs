//! A server over the standard input and output.
//!
//! ```console
//! $ cargo run --package cogwork-mcp --example stdio -- [--data FOLDER]
//! ```

use std::error::Error;

use cogwork_mcp::Server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut server = Server::builder();
    let mut arguments = std::env::args().skip(1);

    while let Some(argument) = arguments.next() {
        server = match argument.as_str() {
            "--data" => server.with_data(arguments.next().ok_or("--data needs a folder")?),
            _ => return Err("expected --data FOLDER".into()),
        };
    }

    server.open()?.serve_stdio().await?;
    Ok(())
}
