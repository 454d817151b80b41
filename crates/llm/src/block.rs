use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Content of a [`Message`](crate::Message) that isn't text. Cloning it copies no data.
///
/// A client that cannot send a block returns an error of kind
/// [`InvalidRequest`](crate::LlmErrorKind::InvalidRequest). Nothing is left out silently.
///
/// ```
/// use cogwork_llm::{Block, Message};
///
/// let png = "iVBORw0KGgo="; // the file, in base64
/// let message = Message::user("What is in the picture?").with_blocks([Block::image("image/png", png)]);
/// assert_eq!(message.blocks().len(), 1);
/// assert_eq!(format!("{:?}", message.blocks()), "[Image(12 characters)]");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// An embedded image.
    Image {
        /// The media type, such as `image/png`.
        media_type: Arc<str>,
        /// The content in base64.
        data: Arc<str>,
    },
    /// An image that the server fetches.
    ImageUrl {
        /// The URL.
        url: Arc<str>,
    },
    /// An embedded file.
    File {
        /// The file name without its directory.
        name: Arc<str>,
        /// The media type, such as `application/pdf`.
        media_type: Arc<str>,
        /// The content in base64.
        data: Arc<str>,
    },
}

impl Block {
    /// Creates an embedded image from base64 data.
    pub fn image(media_type: impl Into<Arc<str>>, data: impl Into<Arc<str>>) -> Self {
        Self::Image {
            media_type: media_type.into(),
            data: data.into(),
        }
    }

    /// Creates an image that the server fetches.
    pub fn image_url(url: impl Into<Arc<str>>) -> Self {
        Self::ImageUrl { url: url.into() }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Image { data, .. } | Self::File { data, .. } => data.len(),
            Self::ImageUrl { url } => url.len(),
        }
    }
}

impl fmt::Debug for Block {
    /// Omits the content, which may be megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Image { .. } => "Image",
            Self::ImageUrl { .. } => "ImageUrl",
            Self::File { .. } => "File",
        };
        write!(f, "{kind}({} characters)", self.bytes())
    }
}
