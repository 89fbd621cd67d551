//! Errors of stores as sentences. Addresses of requests and bodies are left out: they can hold signatures.

use std::error::Error as _;
use std::io;

use object_store::Error;

/// Maximum number of characters of a reason.
const MAX_CHARS: usize = 300;

/// The error of an operation on an address: what failed, the reason that the store gives, and what may help.
pub(crate) fn explain(address: &str, operation: &str, error: &Error) -> io::Error {
    let text = chain(error);
    let code = element(&text, "Code");
    let (kind, reason) = match (error, code.as_deref()) {
        (_, Some("InvalidObjectState")) => (
            io::ErrorKind::PermissionDenied,
            "it is archived: restore it first".to_owned(),
        ),
        (_, Some("RequestTimeTooSkewed")) => (
            io::ErrorKind::PermissionDenied,
            "the clock of this machine is off by more than 15 minutes".to_owned(),
        ),
        (_, Some("NoSuchBucket")) => (
            io::ErrorKind::NotFound,
            "there is no bucket of this name".to_owned(),
        ),
        (
            _,
            Some(
                "PermanentRedirect"
                | "AuthorizationHeaderMalformed"
                | "IllegalLocationConstraintException",
            ),
        ) => (
            io::ErrorKind::PermissionDenied,
            "the bucket is in another region: set AWS_REGION".to_owned(),
        ),
        (_, Some("ExpiredToken")) => (
            io::ErrorKind::PermissionDenied,
            "the credentials have expired: set new ones and start again".to_owned(),
        ),
        (Error::NotFound { .. }, _) => (io::ErrorKind::NotFound, "it does not exist".to_owned()),
        (Error::Precondition { .. } | Error::AlreadyExists { .. }, _) => (
            io::ErrorKind::StaleNetworkFileHandle,
            "it was changed meanwhile".to_owned(),
        ),
        (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, code)
        | (
            _,
            code @ Some(
                "AccessDenied"
                | "AuthenticationFailed"
                | "AuthorizationFailure"
                | "InvalidAccessKeyId"
                | "SignatureDoesNotMatch",
            ),
        ) => (
            io::ErrorKind::PermissionDenied,
            format!(
                "the store refuses it{}; {}",
                code.map_or_else(String::new, |code| format!(" ({code})")),
                credentials(address)
            ),
        ),
        (_, Some(code)) => {
            let message = element(&text, "Message").unwrap_or_default();
            (
                io::ErrorKind::Other,
                format!("the store answers {code}: {message}"),
            )
        }
        (Error::Generic { .. }, None)
            if text.contains("instance metadata") || text.contains("169.254.169.254") =>
        {
            (
                io::ErrorKind::PermissionDenied,
                format!("there are no credentials: set {}", wanted(address)),
            )
        }
        (Error::Generic { .. }, None)
            if text.contains("BareRedirect") || text.contains("incorrectly configured region") =>
        {
            (
                io::ErrorKind::PermissionDenied,
                "the bucket is in another region: set AWS_REGION".to_owned(),
            )
        }
        _ => (io::ErrorKind::Other, last(error)),
    };
    let reason: String = reason.chars().take(MAX_CHARS).collect();
    io::Error::new(kind, format!("{operation} {address} failed: {reason}"))
}

/// The variable that the credentials come from, without its value.
fn credentials(address: &str) -> String {
    let variables: &[&str] = match address.split(':').next() {
        Some("s3") => &[
            "AWS_ACCESS_KEY_ID",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_SKIP_SIGNATURE",
        ],
        Some("gs") => &["GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_SERVICE_ACCOUNT"],
        Some("az") => &[
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_STORAGE_SAS_TOKEN",
            "AZURE_CLIENT_ID",
        ],
        _ => return "the address needs a login, and none is sent".to_owned(),
    };
    let used = variables
        .iter()
        .find(|name| std::env::var_os(name).is_some());
    match used {
        Some(name) => format!("the credentials are those of {name}"),
        None => format!("no credentials are set, such as {}", variables[0]),
    }
}

/// The variables that a user of a store sets first.
fn wanted(address: &str) -> &'static str {
    match address.split(':').next() {
        Some("gs") => {
            "GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for a public bucket"
        }
        Some("az") => {
            "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or AZURE_SKIP_SIGNATURE=true for a public container"
        }
        _ => {
            "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket"
        }
    }
}

/// All texts of an error and its sources, for the recognition of codes; never shown.
fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push('\n');
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}

/// The innermost reason, without anything that looks like an address.
fn last(error: &Error) -> String {
    let mut source: &dyn std::error::Error = error;
    while let Some(inner) = source.source() {
        source = inner;
    }
    let text = source.to_string();
    let words = text
        .split_whitespace()
        .filter(|word| !word.contains("://") && !word.contains('?') && !word.contains('<'));
    words.collect::<Vec<_>>().join(" ")
}

/// The text of an element of an error's XML.
fn element(text: &str, name: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (text, _) = rest.split_once(&format!("</{name}>"))?;
    Some(text.to_owned())
}
