/// Implements `Debug` for error types by writing `{:#}`.
///
/// Rust prints the `Debug` form of an error that `main` returns, and `unwrap` does the same. With
/// this macro, people read the same sentence there as in `Display`.
///
/// ```
/// use std::fmt;
///
/// struct TooMany {
///     most: usize,
/// }
///
/// impl fmt::Display for TooMany {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         write!(f, "expected at most {} items", self.most)
///     }
/// }
///
/// cogwork_text::debug_as_display!(TooMany);
///
/// assert_eq!(format!("{:?}", TooMany { most: 3 }), "expected at most 3 items");
/// ```
#[macro_export]
macro_rules! debug_as_display {
    ($($error:ty),+ $(,)?) => {$(
        impl ::core::fmt::Debug for $error {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::write!(f, "{self:#}")
            }
        }
    )+};
}
