//! `/api/histograms`, `/api/images` and their like: records of one tag; `/api/lineage` and `/api/hparams`: of one run.

use axum::extract::State;
use axum::response::Response;
use trainscope_api::error::ApiError;
use trainscope_api::records::{
    At, Audio, HparamsList, Images, Lineages, MAX_RECORDS, PREVIEW_ELEMENTS, Records, RecordsQuery,
    RunQuery, Tensor,
};
use trainscope_format::{
    Body, ChartLayout, CollectorLoss, DumpRef, Explanation, Histogram, Kind, Landscape, PrCurve,
    Profile, Stretch, TensorData, TensorSummary, Text, WatchHit,
};

use super::error::Failure;
use super::request::Params;
use super::{Site, blocking, json};
use crate::index::{Index, IndexedRecord, ReadError};
use crate::queries::media;

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

/// Defines the handler of one kind whose bodies are sent unchanged.
macro_rules! as_recorded {
    ($name:ident, $path:literal, $kind:ident, $body:ident($type:ty), $doc:literal) => {
        #[doc = $doc]
        #[utoipa::path(
                    get,
                    path = $path,
                    operation_id = stringify!($name),
                    params(RecordsQuery),
                    responses(
                        (status = 200, description = "Records of one tag", body = Records<$type>),
                        (status = "default", description = "Why not", body = ApiError),
                    )
                )]
        pub(super) async fn $name(
            State(site): State<Site>,
            Params(query): Params<RecordsQuery>,
        ) -> Result<Response, Failure> {
            list(site, Kind::$kind, query, |found| match found.body {
                Body::$body(body) => Ok(Some(body)),
                _ => Ok(None),
            })
            .await
        }
    };
}

as_recorded!(
    histograms,
    "/api/histograms",
    Histograms,
    Histogram(Histogram),
    "Histograms of one tag"
);
as_recorded!(text, "/api/text", Text, Text(Text), "Texts of one tag");
as_recorded!(
    pr_curves,
    "/api/pr_curves",
    PrCurves,
    PrCurve(PrCurve),
    "Precision and recall of one tag"
);
as_recorded!(
    custom_scalars,
    "/api/custom_scalars",
    CustomScalars,
    CustomScalars(ChartLayout),
    "Layouts of charts"
);
as_recorded!(
    landscapes,
    "/api/landscapes",
    Landscapes,
    Landscape(Landscape),
    "Loss landscapes of one tag"
);
as_recorded!(
    explanations,
    "/api/explanations",
    Explanations,
    Explanation(Explanation),
    "Explanations of one tag"
);

as_recorded!(
    statistics,
    "/api/statistics",
    Statistics,
    Statistics(TensorSummary),
    "What is known of a tensor that is not kept"
);
as_recorded!(
    dumps,
    "/api/dumps",
    Dumps,
    Dump(DumpRef),
    "Where tensors were dumped in full"
);
as_recorded!(
    recorded_hits,
    "/api/recorded_hits",
    Hits,
    Hit(WatchHit),
    "Conditions that the program itself has seen to hold"
);
as_recorded!(
    losses,
    "/api/losses",
    Losses,
    Loss(CollectorLoss),
    "Records that the program could not write"
);

/// Spans and counters
#[utoipa::path(
    get,
    path = "/api/profiles",
    operation_id = "profiles",
    params(RecordsQuery),
    responses(
        (status = 200, description = "Records of one tag", body = Records<Profile>),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn profiles(
    State(site): State<Site>,
    Params(query): Params<RecordsQuery>,
) -> Result<Response, Failure> {
    list(site, Kind::Profile, query, |found| {
        let Body::Profile(body) = &found.body else {
            return Ok(None);
        };
        // A record that no longer decodes belongs to a replaced file.
        Ok(Profile::read(&found.read(body.data)?).ok())
    })
    .await
}

/// Images of one tag
#[utoipa::path(
    get,
    path = "/api/images",
    operation_id = "images",
    params(RecordsQuery),
    responses(
        (status = 200, description = "Records of one tag; the pictures are blobs", body = Records<Images>),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn images(
    State(site): State<Site>,
    Params(query): Params<RecordsQuery>,
) -> Result<Response, Failure> {
    list(site, Kind::Images, query, media::images).await
}

/// Audio clips of one tag
#[utoipa::path(
    get,
    path = "/api/audio",
    operation_id = "audio",
    params(RecordsQuery),
    responses(
        (status = 200, description = "Records of one tag; the clips are blobs", body = Records<Audio>),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn audio(
    State(site): State<Site>,
    Params(query): Params<RecordsQuery>,
) -> Result<Response, Failure> {
    list(site, Kind::Audio, query, media::audio).await
}

/// Tensors of one tag
#[utoipa::path(
    get,
    path = "/api/tensors",
    operation_id = "tensors",
    params(RecordsQuery),
    responses(
        (status = 200, description = "Records of one tag with their first elements", body = Records<Tensor>),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn tensors(
    State(site): State<Site>,
    Params(query): Params<RecordsQuery>,
) -> Result<Response, Failure> {
    list(site, Kind::Tensors, query, describe_tensor).await
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

/// All records of a kind in a run, of any tag.
fn of_run<T>(
    index: &Index,
    run: &str,
    kind: Kind,
    describe: fn(IndexedRecord) -> Result<Option<T>, ReadError>,
) -> Result<Vec<At<T>>, Failure> {
    let mut all = Vec::new();
    for (tag, rank) in index.tags_of(run, kind)? {
        let query = RecordsQuery {
            run: run.to_owned(),
            tag: tag.to_string(),
            rank,
            points: Some(MAX_RECORDS),
            ..RecordsQuery::default()
        };
        all.append(&mut index.records(kind, &query, describe)?.records);
    }
    all.sort_by(|a, b| a.wall_time_secs.total_cmp(&b.wall_time_secs));
    Ok(all)
}

/// Lineage of the model of a run
#[utoipa::path(
    get,
    path = "/api/lineage",
    operation_id = "lineage",
    params(RunQuery),
    responses(
        (status = 200, description = "Every record, by wall time", body = Lineages),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn lineage(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        let records = of_run(
            &site.index,
            &query.run,
            Kind::Lineage,
            |found| match found.body {
                Body::Lineage(body) => Ok(Some(*body)),
                _ => Ok(None),
            },
        )?;
        json(&Lineages { records })
    })
    .await
}

/// Hyper-parameters of a run
#[utoipa::path(
    get,
    path = "/api/hparams",
    operation_id = "hparams",
    params(RunQuery),
    responses(
        (status = 200, description = "Every record, by wall time", body = HparamsList),
        (status = "default", description = "Why not", body = ApiError),
    )
)]
pub(super) async fn hparams(
    State(site): State<Site>,
    Params(query): Params<RunQuery>,
) -> Result<Response, Failure> {
    blocking(move || {
        let records = of_run(
            &site.index,
            &query.run,
            Kind::Hparams,
            |found| match found.body {
                Body::Hparams(body) => Ok(Some(body)),
                _ => Ok(None),
            },
        )?;
        json(&HparamsList { records })
    })
    .await
}
