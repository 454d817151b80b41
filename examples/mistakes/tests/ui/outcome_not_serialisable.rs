//! An outcome that cannot be recorded. `#[derive(Serialize, Deserialize)]` is missing.

use cogwork_flow::from_phases;

struct Page(String);

fn main() {
    let _ = from_phases(
        |url: &mut String| url.clone(),
        async |url| Ok::<_, std::io::Error>(Page(url)),
        |url, page| *url = page.0,
    );
}
