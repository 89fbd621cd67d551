//! Limits of the rules about profiles.

/// Limits of all rules about profiles: parameters of the conditions of these rules.
///
/// Shares are 0 to 1. A trailing "above", "below" or "minimum" names the side of the limit that is a hit.
/// [`Limits::default`] is made from the catalogue of conditions, which has the defaults.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// `data_bound`: data part ÷ steps above which it is a hit.
    pub data_share: f64,
    /// `data_bound`: the same for an error.
    pub data_share_error: f64,
    /// `device_idle`: share of the steps above which the device is idle.
    pub idle_share: f64,
    /// `device_idle`: utilization below which it is a warning.
    pub utilization_warning: f64,
    /// `host_bound`: idle of cause *host* ÷ device span above.
    pub host_idle_share: f64,
    /// `launch_bound`: share of kernels shorter than their launch call above.
    pub short_kernel_share: f64,
    /// `launch_bound`: idle of cause *host* or *kernel* ÷ device span above.
    pub launch_idle_share: f64,
    /// `sync_in_step`: waiting calls per step, without the last one, minimum.
    pub sync_calls: f64,
    /// `sync_in_step`: idle behind them ÷ steps above.
    pub sync_idle_share: f64,
    /// `pageable_copies`: time of copies ÷ steps above.
    pub pageable_share: f64,
    /// `exposed_communication`: exposed communication ÷ steps above.
    pub exposed_share: f64,
    /// `straggler_rank`: length of steps ÷ length without waiting for the rank above.
    pub slowness: f64,
    /// `straggler_rank`: the same for an error.
    pub slowness_error: f64,
    /// `straggler_rank`: number of steps in a row.
    pub slow_steps: u64,
    /// `uneven_ranks`: spread over ranks ÷ mean above.
    pub uneven_share: f64,
    /// `tensor_cores_unused`: share of kernel time below operators that could use them above.
    pub tensor_core_share: f64,
    /// `many_small_optimizer_kernels`: kernels of one name in the update of a step above.
    pub update_kernels: f64,
    /// `many_small_optimizer_kernels`: their mean duration in microseconds below.
    pub update_kernel_micros: f64,
    /// `memory_near_limit`: peak ÷ size of the device above.
    pub memory_share: f64,
    /// `memory_near_limit`: the same for an error.
    pub memory_share_error: f64,
    /// `memory_growth`: growth over the session ÷ peak above.
    pub growth_share: f64,
    /// `memory_growth`: minimum number of steps.
    pub growth_steps: u64,
    /// `memory_fragmentation`: (reserved − allocated) ÷ reserved above.
    pub fragmentation_share: f64,
    /// `memory_fragmentation`: reserved ÷ size of the device above.
    pub reserved_share: f64,
    /// `allocator_in_step`: number of first steps that are not judged.
    pub allocator_warmup_steps: u64,
    /// `step_outliers`: share of the steps above which outliers are a hit.
    pub outlier_share: f64,
    /// `step_outliers`: the same for a warning.
    pub outlier_share_warning: f64,
    /// `step_time_drift`: change over the session ÷ median above.
    pub drift_share: f64,
    /// `step_time_drift`: probability of such a trend by chance below.
    pub drift_probability: f64,
    /// `step_time_drift`: minimum number of steps.
    pub drift_steps: u64,
    /// `step_time_regression`: median ÷ median of the baseline above.
    pub regression_factor: f64,
    /// `step_time_regression`: the same for an error.
    pub regression_factor_error: f64,
    /// `step_time_regression`: minimum number of steps of either.
    pub regression_steps: u64,
    /// `operator_regression`: growth of the self time a step ÷ that of the baseline above.
    pub operator_growth: f64,
    /// `operator_regression`: growth of the self time a step ÷ step above.
    pub operator_step_share: f64,
    /// `recompilation`: number of first steps that are not judged.
    pub compile_warmup_steps: u64,
    /// `profiler_overhead`: cost of the profiler ÷ steps above.
    pub overhead_share: f64,
}
