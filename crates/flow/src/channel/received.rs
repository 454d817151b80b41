/// The result of [`Channel::receive`](crate::Channel::receive).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received<M> {
    /// A message.
    Message(M),
    /// No message arrived in time.
    TimedOut,
    /// All senders are gone.
    Closed,
}
