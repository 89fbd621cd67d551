//! Requests for comparisons of runs.

use trainscope_api::compare::{
    CompareQuery, Comparison, DifferenceMap, MAP_MEDIA_TYPE, MapQuery, decode_map,
};
use trainscope_api::paths;

use super::ClientError;
use super::profiles::{bytes_of_query, of_query};

/// Comparison of runs with one of them.
pub async fn compare(query: &CompareQuery) -> Result<Comparison, ClientError> {
    of_query(paths::COMPARE, query).await
}

/// Differences over steps, as bytes.
pub async fn compare_map(query: &MapQuery) -> Result<DifferenceMap, ClientError> {
    let bytes = bytes_of_query(paths::COMPARE_MAP, query, MAP_MEDIA_TYPE).await?;
    let (head, cells) = decode_map(&bytes).map_err(|_| ClientError::Misunderstood)?;
    let map = serde_json::from_slice(head);
    let mut map: DifferenceMap = map.map_err(|_| ClientError::Misunderstood)?;
    map.fill(&cells).map_err(|_| ClientError::Misunderstood)?;
    Ok(map)
}
