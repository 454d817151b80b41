//! The last closure fails with an error that isn't a `BoxError`. `Ok(…?)` converts it.

use cogwork_flow::from_phases;

fn main() {
    let _ = from_phases(
        |text: &mut String| text.clone(),
        async |text| Ok::<_, std::fmt::Error>(text),
        |text, number| number.parse::<u32>().map(|number| *text = number.to_string()),
    );
}
