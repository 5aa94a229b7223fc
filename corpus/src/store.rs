//! Remote stores: S3 and compatible ones.

use crate::error::{Error, Result};
use crate::lake::Lake;

#[cfg(feature = "cluster")]
pub use remote::{Stores, open};

/// The lake at a URL.
///
/// # Errors
/// Always, because this program was built without remote stores.
#[cfg(not(feature = "cluster"))]
pub fn open(given: &str, _: &str, _: &str) -> Result<Lake> {
    let help = "build it with `--features cluster`, or give a path";
    Err(Error::usage(format!("`{given}`: this program was built without remote stores"), help))
}

#[cfg(feature = "cluster")]
mod remote {
    use std::sync::Arc;

    use datafusion::error::DataFusionError;
    use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
    use object_store::ObjectStore;
    use object_store::aws::{AmazonS3, AmazonS3Builder};
    use object_store::path::Path;
    use url::Url;

    use super::{Error, Lake, Result};

    /// The lake at a URL.
    ///
    /// # Errors
    /// When the store is not supported, or is not configured by the environment.
    pub fn open(given: &str, scheme: &str, rest: &str) -> Result<Lake> {
        if scheme != "s3" {
            let message = format!("`{given}`: there is no store `{scheme}`");
            return Err(Error::usage(message, "expected a path or `s3://BUCKET/PREFIX`"));
        }
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let prefix = prefix.trim_matches('/');
        let url = if prefix.is_empty() { format!("s3://{bucket}/") } else { format!("s3://{bucket}/{prefix}/") };
        let store = bucket_of(bucket)
            .map_err(|error| Error::Store { what: format!("cannot open the bucket `{bucket}`"), error })?;
        Ok(Lake::in_store(given.trim_end_matches('/'), url, Arc::new(store), Path::from(prefix)))
    }

    /// A bucket, which is configured by `AWS_ENDPOINT_URL`, `AWS_ACCESS_KEY_ID` and the other usual variables.
    fn bucket_of(bucket: &str) -> object_store::Result<AmazonS3> {
        // A local store has no certificate.
        let plain = std::env::var("AWS_ENDPOINT_URL").is_ok_and(|url| url.starts_with("http://"));
        AmazonS3Builder::from_env().with_bucket_name(bucket).with_allow_http(plain).build()
    }

    /// The stores of sessions, here and on executors: folders, and buckets that are opened on first use.
    #[derive(Debug, Default)]
    pub struct Stores {
        known: DefaultObjectStoreRegistry,
    }

    impl ObjectStoreRegistry for Stores {
        fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
            self.known.register_store(url, store)
        }

        fn get_store(&self, url: &Url) -> datafusion::error::Result<Arc<dyn ObjectStore>> {
            match (self.known.get_store(url), url.scheme(), url.host_str()) {
                (Err(_), "s3", Some(bucket)) => {
                    let failed = |error| DataFusionError::ObjectStore(Box::new(error));
                    let store: Arc<dyn ObjectStore> = Arc::new(bucket_of(bucket).map_err(failed)?);
                    self.known.register_store(url, Arc::clone(&store));
                    Ok(store)
                }
                (found, ..) => found,
            }
        }
    }
}
