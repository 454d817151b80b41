//! Collections and scalars in flow style.

/// A value in flow style, with its line and its place in the source.
pub(super) enum Node {
    Scalar(Scalar),
    Seq {
        span: (usize, usize),
        items: Vec<Node>,
    },
    Map {
        span: (usize, usize),
        line: usize,
        pairs: Vec<(Scalar, Node)>,
    },
}

/// A scalar in flow style, and whether it is quoted.
#[derive(Debug)]
pub(super) struct Scalar {
    pub(super) line: usize,
    pub(super) text: String,
    pub(super) quoted: bool,
}
