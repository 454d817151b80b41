use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Something in a [`Message`](crate::Message) that is not text. Cloning it copies no data.
///
/// A client sends what its protocol can carry, and fails with an error of kind
/// [`InvalidRequest`](crate::LlmErrorKind::InvalidRequest) for the rest: nothing is left out in silence.
///
/// ```
/// use cogwork_llm::{Block, Message};
///
/// let png = "iVBORw0KGgo="; // the file, in base64
/// let message = Message::user("What is in the picture?").with_blocks([Block::image("image/png", png)]);
/// assert_eq!(message.blocks().len(), 1);
/// assert_eq!(format!("{:?}", message.blocks()), r#"[Image("image/png", 12 characters)]"#);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// An image, sent along.
    Image {
        /// As in `image/png`.
        media_type: Arc<str>,
        /// The file, in base64.
        data: Arc<str>,
    },
    /// An image that the server fetches.
    ImageUrl {
        /// Where it is.
        url: Arc<str>,
    },
    /// A file, sent along.
    File {
        /// Its name, without a folder.
        name: Arc<str>,
        /// As in `application/pdf`.
        media_type: Arc<str>,
        /// The file, in base64.
        data: Arc<str>,
    },
}

impl Block {
    /// An image, with its data in base64.
    pub fn image(media_type: impl Into<Arc<str>>, data: impl Into<Arc<str>>) -> Self {
        Self::Image {
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// An image that the server fetches.
    pub fn image_url(url: impl Into<Arc<str>>) -> Self {
        Self::ImageUrl { url: url.into() }
    }

    /// A file, with its data in base64.
    pub fn file(
        name: impl Into<Arc<str>>,
        media_type: impl Into<Arc<str>>,
        data: impl Into<Arc<str>>,
    ) -> Self {
        Self::File {
            name: name.into(),
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Image { data, .. } | Self::File { data, .. } => data.len(),
            Self::ImageUrl { url } => url.len(),
        }
    }
}

impl fmt::Debug for Block {
    /// Without the data, which may be megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image { media_type, data } => {
                write!(f, "Image({media_type:?}, {} characters)", data.len())
            }
            Self::ImageUrl { url } => write!(f, "ImageUrl({url:?})"),
            Self::File {
                name,
                media_type,
                data,
            } => {
                write!(
                    f,
                    "File({name:?}, {media_type:?}, {} characters)",
                    data.len()
                )
            }
        }
    }
}
