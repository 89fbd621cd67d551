//! Requests about profiles: the fields of a query are the parameters of its address, those without a value left out.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use trainscope_api::paths;
use trainscope_api::profile::{
    FlameAnswer, FlameQuery, MemoryAnswer, MemoryQuery, OperatorAnswer, OperatorQuery,
    OperatorsAnswer, OperatorsQuery, ProfileDiff, ProfileDiffQuery, ProfileList, ProfileOverview,
    ProfileQuery, RanksAnswer, SqlAnswer, SqlRequest,
};
use trainscope_api::timeline::{
    AreaAnswer, AreaQuery, CELLS_MEDIA_TYPE, PathAnswer, PathQuery, SliceAnswer, SliceQuery,
    StepAnswer, StepQuery, TimelineAnswer, TimelineLanes, TimelineQuery, TimelineSearchAnswer,
    TimelineSearchQuery, decode,
};

use super::{ClientError, Request, address, answer, get, send, url};

/// Sessions and ranks of a run.
pub async fn profile(run: &str) -> Result<ProfileList, ClientError> {
    get(paths::PROFILE, &[("run", run)]).await
}

pub async fn profile_overview(query: &ProfileQuery) -> Result<ProfileOverview, ClientError> {
    of_query(paths::PROFILE_OVERVIEW, query).await
}

pub async fn profile_operators(query: &OperatorsQuery) -> Result<OperatorsAnswer, ClientError> {
    of_query(paths::PROFILE_OPERATORS, query).await
}

pub async fn profile_operator(query: &OperatorQuery) -> Result<OperatorAnswer, ClientError> {
    of_query(paths::PROFILE_OPERATOR, query).await
}

pub async fn profile_memory(query: &MemoryQuery) -> Result<MemoryAnswer, ClientError> {
    of_query(paths::PROFILE_MEMORY, query).await
}

pub async fn profile_ranks(query: &ProfileQuery) -> Result<RanksAnswer, ClientError> {
    of_query(paths::PROFILE_RANKS, query).await
}

pub async fn profile_flame(query: &FlameQuery) -> Result<FlameAnswer, ClientError> {
    of_query(paths::PROFILE_FLAME, query).await
}

pub async fn profile_diff(query: &ProfileDiffQuery) -> Result<ProfileDiff, ClientError> {
    of_query(paths::PROFILE_DIFF, query).await
}

pub async fn profile_sql(request: &SqlRequest) -> Result<SqlAnswer, ClientError> {
    send(Request::post(&url(paths::PROFILE_SQL)), request).await
}

/// Cells of rows between two moments, as bytes.
pub async fn timeline(query: &TimelineQuery) -> Result<TimelineAnswer, ClientError> {
    let bytes = bytes_of_query(paths::TIMELINE, query, CELLS_MEDIA_TYPE).await?;
    decode(&bytes).map_err(|_| ClientError::Misunderstood)
}

/// The answer to a query in a media type other than JSON.
pub(super) async fn bytes_of_query(
    path: &str,
    query: &impl Serialize,
    media_type: &str,
) -> Result<Vec<u8>, ClientError> {
    let fields = serde_json::to_value(query).map_err(|_| ClientError::Misunderstood)?;
    let pairs = pairs(fields);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, text)| (&**key, &**text)).collect();
    let request = Request::get(&address(path, &pairs));
    answer(request.header("Accept", media_type), None).await
}

pub async fn timeline_lanes(query: &ProfileQuery) -> Result<TimelineLanes, ClientError> {
    of_query(paths::TIMELINE_LANES, query).await
}

pub async fn timeline_slice(query: &SliceQuery) -> Result<SliceAnswer, ClientError> {
    of_query(paths::TIMELINE_SLICE, query).await
}

/// The newest session that has a step of the training.
pub async fn timeline_step(query: &StepQuery) -> Result<StepAnswer, ClientError> {
    of_query(paths::TIMELINE_STEP, query).await
}

pub async fn timeline_area(query: &AreaQuery) -> Result<AreaAnswer, ClientError> {
    of_query(paths::TIMELINE_AREA, query).await
}

pub async fn timeline_path(query: &PathQuery) -> Result<PathAnswer, ClientError> {
    of_query(paths::TIMELINE_PATH, query).await
}

pub async fn timeline_search(
    query: &TimelineSearchQuery,
) -> Result<TimelineSearchAnswer, ClientError> {
    of_query(paths::TIMELINE_SEARCH, query).await
}

pub(super) async fn of_query<T: DeserializeOwned>(
    path: &str,
    query: &impl Serialize,
) -> Result<T, ClientError> {
    let fields = serde_json::to_value(query).map_err(|_| ClientError::Misunderstood)?;
    let pairs = pairs(fields);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(key, text)| (&**key, &**text)).collect();
    get(path, &pairs).await
}

/// The fields of an object as text; lists and objects have no form in an address and are left out.
fn pairs(fields: Value) -> Vec<(String, String)> {
    let Value::Object(fields) = fields else {
        return Vec::new();
    };
    let text = |value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let fields = fields.into_iter();
    fields
        .filter_map(|(key, value)| Some((key, text(value)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use trainscope_api::profile::OperatorGroup;

    use super::*;

    #[test]
    fn fields_with_a_value_are_parameters() {
        let query = OperatorsQuery {
            run: "a/b".to_owned(),
            rank: Some(3),
            since_step: Some(-1),
            by: OperatorGroup::Shape,
            filter: Some("type:conv".to_owned()),
            ..OperatorsQuery::default()
        };
        let mut found = pairs(serde_json::to_value(&query).unwrap());
        found.sort();
        let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
        let wanted = [
            pair("by", "shape"),
            pair("filter", "type:conv"),
            pair("from", "0"),
            pair("rank", "3"),
            pair("run", "a/b"),
            pair("since_step", "-1"),
        ];
        assert_eq!(found, wanted);
    }
}
