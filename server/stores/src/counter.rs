//! Numbers of requests and bytes by store, for the page and for Prometheus.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};

/// Requests to one store since the start of the program, retries included.
#[derive(Debug, Default)]
pub struct Requests {
    lists: AtomicU64,
    reads: AtomicU64,
    writes: AtomicU64,
    bytes: AtomicU64,
}

/// Prices of S3 standard in `us-east-1`, in USD a request; those of Google and Azure are about the same.
const USD_PER_LIST_OR_WRITE: f64 = 0.005 / 1_000.0;
const USD_PER_READ: f64 = 0.0004 / 1_000.0;

impl Requests {
    /// Number of requests that list.
    pub fn lists(&self) -> u64 {
        self.lists.load(Ordering::Relaxed)
    }

    /// Number of requests that read objects or facts about them.
    pub fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Number of requests that write.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// Bytes of objects that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Estimated price of the requests in USD, without bytes.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn cost_usd(&self) -> f64 {
        (self.lists() + self.writes()) as f64 * USD_PER_LIST_OR_WRITE
            + self.reads() as f64 * USD_PER_READ
    }

    pub(crate) fn add_bytes(&self, bytes: usize) {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn add(&self, request: &HttpRequest) {
        let query = request.uri().query().unwrap_or_default();
        let is_list = ["list-type=", "comp=list", "delimiter=", "prefix="]
            .iter()
            .any(|mark| query.contains(mark));
        let count = match request.method().as_str() {
            "GET" | "PROPFIND" if is_list || request.method().as_str() == "PROPFIND" => &self.lists,
            "GET" | "HEAD" => &self.reads,
            _ => &self.writes,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes clients that count what they send.
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Arc<Requests>);

#[derive(Debug)]
struct CountingClient {
    client: HttpClient,
    requests: Arc<Requests>,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let client = ReqwestConnector::default().connect(options)?;
        Ok(HttpClient::new(CountingClient {
            client,
            requests: Arc::clone(&self.0),
        }))
    }
}

#[async_trait::async_trait]
impl HttpService for CountingClient {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.requests.add(&request);
        self.client.execute(request).await
    }
}
