//! `/api/histograms`, `/api/images` and their like: records of one tag; `/api/lineage` and `/api/hparams`: of one run.

use axum::extract::State;
use axum::response::Response;
#[cfg(test)]
use trainscope_api::records::Records;
use trainscope_api::records::{
    HparamsList, Lineages, MAX_RECORDS, PREVIEW_ELEMENTS, RecordsQuery, RunQuery, Tensor,
};
use trainscope_format::{Body, Kind, Profile, Stretch, TensorData};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::index::{IndexedRecord, ReadError};
use crate::queries::{media, program};

pub(super) async fn list<T: serde::Serialize + Send + 'static>(
    site: Site,
    kind: Kind,
    query: RecordsQuery,
    describe: fn(IndexedRecord) -> Result<Option<T>, ReadError>,
) -> Result<Response, Failure> {
    if let Some(points) = query.points
        && points > MAX_RECORDS
    {
        let message = format!("`points` wants 0 to {MAX_RECORDS}, not {points}");
        return Err(Failure::bad_request(message));
    }
    blocking(move || json(&site.index.records(kind, &query, describe)?)).await
}

/// The body of a record, if it is of this kind.
macro_rules! body {
    ($body:ident) => {
        |found| match found.body {
            Body::$body(body) => Ok(Some(body)),
            _ => Ok(None),
        }
    };
}

/// Defines the handlers of kinds of records: name, path, kind, conversion and type of the bodies, description of the
/// request and of the answer.
macro_rules! records {
    ($($name:ident $path:literal $kind:ident $describe:expr => $type:ty, $doc:literal, $answer:literal;)+) => { $(
        #[doc = $doc]
        #[cfg_attr(test, utoipa::path(
            get, path = $path, operation_id = stringify!($name), params(RecordsQuery),
            responses((status = 200, description = $answer, body = Records<$type>))
        ))]
        pub(super) async fn $name(
            State(site): State<Site>,
            Params(query): Params<RecordsQuery>,
        ) -> Result<Response, Failure> {
            list(site, Kind::$kind, query, $describe).await
        }
    )+ };
}

records! {
    histograms "/api/histograms" Histograms body!(Histogram) => trainscope_format::Histogram, "Histograms of one tag", "Records of one tag";
    text "/api/text" Text body!(Text) => trainscope_format::Text, "Texts of one tag", "Records of one tag";
    pr_curves "/api/pr_curves" PrCurves body!(PrCurve) => trainscope_format::PrCurve, "Precision and recall of one tag", "Records of one tag";
    custom_scalars "/api/custom_scalars" CustomScalars body!(CustomScalars) => trainscope_format::ChartLayout, "Layouts of charts", "Records of one tag";
    landscapes "/api/landscapes" Landscapes body!(Landscape) => trainscope_format::Landscape, "Loss landscapes of one tag", "Records of one tag";
    explanations "/api/explanations" Explanations body!(Explanation) => trainscope_format::Explanation, "Explanations of one tag", "Records of one tag";
    statistics "/api/statistics" Statistics body!(Statistics) => trainscope_format::TensorSummary, "What is known of a tensor that is not kept", "Records of one tag";
    dumps "/api/dumps" Dumps body!(Dump) => trainscope_format::DumpRef, "Where tensors were dumped in full", "Records of one tag";
    recorded_hits "/api/recorded_hits" Hits body!(Hit) => trainscope_format::WatchHit, "Conditions that the program itself has seen to hold", "Records of one tag";
    losses "/api/losses" Losses body!(Loss) => trainscope_format::CollectorLoss, "Records that the program could not write", "Records of one tag";
    profiles "/api/profiles" Profile profile => Profile, "Spans and counters", "Records of one tag";
    images "/api/images" Images media::images => trainscope_api::records::Images, "Images of one tag", "Records of one tag; the pictures are blobs";
    audio "/api/audio" Audio media::audio => trainscope_api::records::Audio, "Audio clips of one tag", "Records of one tag; the clips are blobs";
    tensors "/api/tensors" Tensors describe_tensor => Tensor, "Tensors of one tag", "Records of one tag with their first elements";
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the others move the body out"
)]
fn profile(found: IndexedRecord) -> Result<Option<Profile>, ReadError> {
    let Body::Profile(body) = &found.body else {
        return Ok(None);
    };
    // A record that no longer decodes belongs to a replaced file.
    Ok(Profile::read(&found.read(body.data)?).ok())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the others move the body out"
)]
fn describe_tensor(found: IndexedRecord) -> Result<Option<Tensor>, ReadError> {
    let body = match &found.body {
        Body::Tensor(body) => body,
        Body::Opaque(opaque) => {
            let len = opaque.shape.iter().copied().reduce(u64::saturating_mul);
            return Ok(Some(Tensor {
                dtype: opaque.dtype.clone(),
                original_dtype: None,
                shape: opaque.shape.clone(),
                len: len.unwrap_or(1),
                values: Vec::new(),
                data: None,
            }));
        }
        _ => return Ok(None),
    };
    let values = match &body.data {
        TensorData::Inline(bytes) => body.numbers(bytes, 0, PREVIEW_ELEMENTS),
        TensorData::Stretch(stretch) => {
            let preview = (PREVIEW_ELEMENTS * body.dtype.size_bytes()) as u64;
            let bytes = found.read(Stretch {
                len_bytes: stretch.len_bytes.min(preview),
                ..*stretch
            })?;
            body.numbers(&bytes, 0, PREVIEW_ELEMENTS)
        }
    };
    Ok(Some(Tensor {
        dtype: body.dtype.as_str().to_owned(),
        original_dtype: body.original_dtype.map(|dtype| dtype.as_str().to_owned()),
        shape: body.shape.clone(),
        len: body.len().unwrap_or(u64::MAX),
        values,
        data: match &body.data {
            TensorData::Stretch(stretch) => Some(media::blob(&found, *stretch)),
            TensorData::Inline(_) => None,
        },
    }))
}

/// Lineage of the model of a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/lineage", operation_id = "lineage", params(RunQuery),
    responses((status = 200, description = "Every record, by wall time", body = Lineages))
))]
pub(super) async fn lineage(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        let records =
            site.index
                .records_of_run(&query.run, Kind::Lineage, |found| match found.body {
                    Body::Lineage(body) => Ok(Some(*body)),
                    _ => Ok(None),
                })?;
        json(&Lineages { records })
    })
    .await
}

/// Hyper-parameters of a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/hparams", operation_id = "hparams", params(RunQuery),
    responses((status = 200, description = "Every record, by wall time", body = HparamsList))
))]
pub(super) async fn hparams(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        let records =
            site.index
                .records_of_run(&query.run, Kind::Hparams, |found| match found.body {
                    Body::Hparams(body) => Ok(Some(body)),
                    _ => Ok(None),
                })?;
        json(&HparamsList { records })
    })
    .await
}

/// Facts of the program of a run
#[cfg_attr(test, utoipa::path(
    get, path = "/api/program", operation_id = "program", params(RunQuery),
    responses((status = 200, description = "The newest fact of each rank, kind and subject", body = trainscope_api::program::ProgramFacts))
))]
pub(super) async fn program(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || json(&program::facts(&site.index, &query.run)?)).await
}
