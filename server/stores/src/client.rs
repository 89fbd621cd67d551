//! Clients of stores, one for each bucket, with credentials of the environment and of the machine.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::sync::{Arc, LazyLock, mpsc};
use std::time::Duration;

use object_store::ObjectStore;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::path::Path as Key;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, RetryConfig};
use parking_lot::Mutex;
use tokio::runtime::Runtime;

use crate::address::{Address, Scheme};
use crate::counter::{Connector, Requests};
use crate::errors;
use crate::listing::Base;
use crate::object::Tails;

/// Number of threads for requests. They only move bytes.
const THREADS: usize = 2;
/// Repetitions of a request that fails, the first after 0.1 s, each later one after twice as long.
const MAX_RETRIES: usize = 6;
/// Time after which a request is not repeated.
const RETRY_TIMEOUT: Duration = Duration::from_mins(1);
/// Time without a byte after which a request fails.
const READ_TIMEOUT: &str = "30s";
/// Time for a whole answer: 8 MiB at 28 kB/s.
const ANSWER_TIMEOUT: &str = "300s";
const CONNECT_TIMEOUT: &str = "5s";

/// A bucket, with what is known about its objects.
pub(crate) struct Store {
    /// Its address, such as `s3://bucket`.
    pub(crate) name: String,
    pub(crate) objects: Arc<dyn ObjectStore>,
    /// Listing page by page, if the store can do that.
    pub(crate) pages: Option<Arc<dyn PaginatedListStore>>,
    pub(crate) requests: Arc<Requests>,
    pub(crate) bases: Mutex<Vec<Arc<Base>>>,
    pub(crate) tails: Mutex<Tails>,
}

static STORES: LazyLock<Mutex<BTreeMap<String, Arc<Store>>>> = LazyLock::new(Mutex::default);

static RUNTIME: LazyLock<io::Result<Runtime>> = LazyLock::new(|| {
    // Without a provider the client panics. A second one is refused, which is no harm.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let builder = builder.worker_threads(THREADS).thread_name("store");
    builder.enable_all().build()
});

fn runtime() -> io::Result<&'static Runtime> {
    RUNTIME.as_ref().map_err(|error| {
        let reason = format!("no threads for requests to stores: {error}");
        io::Error::new(error.kind(), reason)
    })
}

/// Runs requests and waits for their answer. Any thread may call it, one of another runtime included.
pub(crate) fn wait<T: Send + 'static>(
    requests: impl Future<Output = T> + Send + 'static,
) -> io::Result<T> {
    let (sender, answer) = mpsc::sync_channel(1);
    begin(async move { drop(sender.send(requests.await)) })?;
    answer
        .recv()
        .map_err(|_| io::Error::other("the request to the store was given up"))
}

/// Runs requests without waiting.
pub(crate) fn begin(requests: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
    drop(runtime()?.spawn(requests));
    Ok(())
}

/// All stores that were asked for.
pub(crate) fn all() -> Vec<Arc<Store>> {
    STORES.lock().values().cloned().collect()
}

impl Store {
    /// The store of an address. Nothing is requested.
    pub(crate) fn of(address: &Address) -> io::Result<Arc<Self>> {
        let name = address.store();
        if let Some(store) = STORES.lock().get(&name) {
            return Ok(Arc::clone(store));
        }
        runtime()?;
        let made = Arc::new(Self::new(address, name.clone())?);
        Ok(Arc::clone(STORES.lock().entry(name).or_insert(made)))
    }

    fn new(address: &Address, name: String) -> io::Result<Self> {
        let requests = Arc::new(Requests::default());
        let connector = Connector(Arc::clone(&requests));
        let retry = RetryConfig {
            backoff: BackoffConfig::default(),
            max_retries: MAX_RETRIES,
            retry_timeout: RETRY_TIMEOUT,
        };
        let bucket = &*address.bucket;
        let failed = |error| errors::explain(&name, "opening", &error);
        let (objects, pages): (Arc<dyn ObjectStore>, Option<Arc<dyn PaginatedListStore>>) =
            match address.scheme {
                Scheme::S3 => {
                    check_credentials()?;
                    let mut builder = AmazonS3Builder::from_env();
                    for (key, value) in limits() {
                        let key = object_store::aws::AmazonS3ConfigKey::Client(key);
                        builder = builder.with_config(key, value);
                    }
                    if is_loopback("AWS_ENDPOINT_URL") || is_loopback("AWS_ENDPOINT") {
                        builder = builder.with_allow_http(true);
                    }
                    let builder = builder.with_bucket_name(bucket).with_retry(retry);
                    let builder = builder.with_disable_bulk_delete(true);
                    let store = builder.with_http_connector(connector).build();
                    let store = Arc::new(store.map_err(failed)?);
                    (Arc::clone(&store) as _, Some(store as _))
                }
                Scheme::Google => {
                    let mut builder = GoogleCloudStorageBuilder::from_env();
                    for (key, value) in limits() {
                        let key = object_store::gcp::GoogleConfigKey::Client(key);
                        builder = builder.with_config(key, value);
                    }
                    let builder = builder.with_bucket_name(bucket).with_retry(retry);
                    let store = builder.with_http_connector(connector).build();
                    let store = Arc::new(store.map_err(failed)?);
                    (Arc::clone(&store) as _, Some(store as _))
                }
                Scheme::Azure => {
                    let mut builder = MicrosoftAzureBuilder::from_env();
                    for (key, value) in limits() {
                        let key = object_store::azure::AzureConfigKey::Client(key);
                        builder = builder.with_config(key, value);
                    }
                    if is_loopback("AZURE_STORAGE_ENDPOINT") || is_loopback("AZURE_ENDPOINT") {
                        builder = builder.with_allow_http(true);
                    }
                    let builder = builder.with_container_name(bucket).with_retry(retry);
                    let store = builder.with_http_connector(connector).build();
                    let store = Arc::new(store.map_err(failed)?);
                    (Arc::clone(&store) as _, Some(store as _))
                }
                Scheme::Http | Scheme::Https => {
                    let allows_http = is_loopback_url(&name);
                    let options = limits()
                        .into_iter()
                        .fold(ClientOptions::new(), |options, (key, value)| {
                            options.with_config(key, value)
                        });
                    let builder = HttpBuilder::new()
                        .with_url(&name)
                        .with_client_options(options.with_allow_http(allows_http));
                    let builder = builder.with_retry(retry).with_http_connector(connector);
                    (Arc::new(builder.build().map_err(failed)?), None)
                }
            };
        Ok(Self {
            name,
            objects,
            pages,
            requests,
            bases: Mutex::default(),
            tails: Mutex::default(),
        })
    }

    /// Makes a bucket of S3 known that is somewhere else than the environment says.
    #[cfg(test)]
    pub(crate) fn set(address: &Address, url: &str) {
        runtime().unwrap();
        let requests = Arc::new(Requests::default());
        let store = AmazonS3Builder::new()
            .with_bucket_name(&address.bucket)
            .with_endpoint(url)
            .with_allow_http(true)
            .with_access_key_id("key")
            .with_secret_access_key("secret-of-test")
            .with_region("us-east-1")
            .with_disable_bulk_delete(true)
            .with_retry(RetryConfig {
                max_retries: 0,
                ..RetryConfig::default()
            })
            .with_http_connector(Connector(Arc::clone(&requests)));
        let store = Arc::new(store.build().unwrap());
        let store = Self {
            name: address.store(),
            objects: Arc::clone(&store) as _,
            pages: Some(store as _),
            requests,
            bases: Mutex::default(),
            tails: Mutex::default(),
        };
        STORES.lock().insert(address.store(), Arc::new(store));
    }

    /// The key of an address for requests.
    pub(crate) fn key(&self, address: &Address) -> io::Result<Key> {
        Key::parse(&address.key).map_err(|error| {
            let reason = format!("{}: a key of this form cannot be read: {error}", self.name);
            io::Error::new(io::ErrorKind::InvalidInput, reason)
        })
    }
}

fn limits() -> [(ClientConfigKey, &'static str); 3] {
    [
        (ClientConfigKey::ConnectTimeout, CONNECT_TIMEOUT),
        (ClientConfigKey::ReadTimeout, READ_TIMEOUT),
        (ClientConfigKey::Timeout, ANSWER_TIMEOUT),
    ]
}

/// Plain HTTP is for this machine alone, unless a variable of the store allows it.
fn is_loopback(variable: &str) -> bool {
    std::env::var(variable).is_ok_and(|url| is_loopback_url(&url))
}

fn is_loopback_url(url: &str) -> bool {
    let host = url.strip_prefix("http://").unwrap_or_default();
    let host = host.split('/').next().unwrap_or_default();
    ["127.0.0.1", "localhost", "[::1]"]
        .iter()
        .any(|loopback| host.strip_prefix(loopback).is_some_and(is_port_or_empty))
}

fn is_port_or_empty(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(':')
}

/// Fails for credentials that are set in a way that is not read.
fn check_credentials() -> io::Result<()> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let has_keys = is_set("AWS_ACCESS_KEY_ID")
        || is_set("AWS_WEB_IDENTITY_TOKEN_FILE")
        || is_set("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
        || is_set("AWS_CONTAINER_CREDENTIALS_FULL_URI")
        || is_set("AWS_SKIP_SIGNATURE");
    if is_set("AWS_PROFILE") && !has_keys {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "AWS_PROFILE is set, and profiles are not read: export the keys with \
             `eval \"$(aws configure export-credentials --format env)\"`",
        ));
    }
    Ok(())
}
