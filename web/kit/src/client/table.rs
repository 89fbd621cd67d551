//! Requests about the table of runs.

use trainscope_api::importance::{ImportanceAnswer, ImportanceRequest, PairAnswer, PairRequest};
use trainscope_api::paths;
use trainscope_api::table::{
    PipelineKinds, RunRow, TABLE_MEDIA_TYPE, TableAnswer, TableColumns, TableRequest, decode,
};

use super::{ClientError, Request, answer, get, json, send, url};

/// All columns, without their values.
pub async fn table_columns() -> Result<TableColumns, ClientError> {
    get(paths::TABLE_COLUMNS, &[]).await
}

/// Values of columns, as bytes.
pub async fn table(request: &TableRequest) -> Result<TableAnswer, ClientError> {
    let asked = Request::post(&url(paths::TABLE)).header("Accept", TABLE_MEDIA_TYPE);
    let bytes = answer(asked, Some(json(request)?)).await?;
    decode(&bytes).map_err(|_| ClientError::Misunderstood)
}

/// All values of a run, of every source.
pub async fn table_row(run: &str) -> Result<RunRow, ClientError> {
    get(paths::TABLE_ROW, &[("run", run)]).await
}

/// Kinds of data pipelines.
pub async fn pipeline_kinds() -> Result<PipelineKinds, ClientError> {
    get(paths::TABLE_PIPELINES, &[]).await
}

/// Influence of parameters on a result.
pub async fn importance(request: &ImportanceRequest) -> Result<ImportanceAnswer, ClientError> {
    send(Request::post(&url(paths::IMPORTANCE)), request).await
}

/// A result by two parameters.
pub async fn importance_pair(request: &PairRequest) -> Result<PairAnswer, ClientError> {
    send(Request::post(&url(paths::IMPORTANCE_PAIR)), request).await
}
