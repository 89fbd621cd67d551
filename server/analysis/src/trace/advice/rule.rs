//! The rules about profiles, with their names.

/// A rule about a profile. Its name is the id of its condition, and part of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Waiting for data.
    DataBound,
    /// Idle time of the device.
    DeviceIdle,
    /// The device waits for the host.
    HostBound,
    /// Kernels that are shorter than their launch.
    LaunchBound,
    /// Waiting for the device within a step.
    SyncInStep,
    /// Copies from pageable memory.
    PageableCopies,
    /// Communication that no computation hides.
    ExposedCommunication,
    /// A rank that is slower than the others.
    StragglerRank,
    /// Ranks with unequal steps or memory.
    UnevenRanks,
    /// Matrix products without tensor cores.
    TensorCoresUnused,
    /// Many small kernels in the update.
    ManySmallOptimizerKernels,
    /// Memory of the device that is nearly full.
    MemoryNearLimit,
    /// Memory that grows from step to step.
    MemoryGrowth,
    /// Reserved memory that is not allocated.
    MemoryFragmentation,
    /// Calls of the device's allocator within steps.
    AllocatorInStep,
    /// Steps far longer than the others.
    StepOutliers,
    /// Steps that become longer.
    StepTimeDrift,
    /// Steps that are longer than those of a baseline.
    StepTimeRegression,
    /// Operators that take longer than in a baseline.
    OperatorRegression,
    /// Compilation in steps.
    Recompilation,
    /// The cost of the profiler itself.
    ProfilerOverhead,
    /// Parts of the profile that could not be read.
    ProfileDamaged,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 22] = [
        Self::DataBound,
        Self::DeviceIdle,
        Self::HostBound,
        Self::LaunchBound,
        Self::SyncInStep,
        Self::PageableCopies,
        Self::ExposedCommunication,
        Self::StragglerRank,
        Self::UnevenRanks,
        Self::TensorCoresUnused,
        Self::ManySmallOptimizerKernels,
        Self::MemoryNearLimit,
        Self::MemoryGrowth,
        Self::MemoryFragmentation,
        Self::AllocatorInStep,
        Self::StepOutliers,
        Self::StepTimeDrift,
        Self::StepTimeRegression,
        Self::OperatorRegression,
        Self::Recompilation,
        Self::ProfilerOverhead,
        Self::ProfileDamaged,
    ];

    /// True for rules that compare a profile with a baseline.
    #[must_use]
    pub const fn needs_baseline(self) -> bool {
        matches!(self, Self::StepTimeRegression | Self::OperatorRegression)
    }

    /// True for rules whose finding is about all steps together; any step that it names is an example.
    #[must_use]
    pub const fn is_about_all_steps(self) -> bool {
        self.is_about_time() && !matches!(self, Self::StepOutliers)
    }

    /// True for rules about the parts of the time of a step. They pass only with enough steps of even lengths.
    pub(super) const fn is_about_time(self) -> bool {
        matches!(
            self,
            Self::DataBound
                | Self::DeviceIdle
                | Self::HostBound
                | Self::LaunchBound
                | Self::SyncInStep
                | Self::PageableCopies
                | Self::ExposedCommunication
                | Self::TensorCoresUnused
                | Self::ManySmallOptimizerKernels
                | Self::StepOutliers
                | Self::StepTimeDrift
                | Self::ProfilerOverhead
        )
    }

    /// Name in answers and files of watchpoints.
    pub const fn name(self) -> &'static str {
        match self {
            Self::DataBound => "data_bound",
            Self::DeviceIdle => "device_idle",
            Self::HostBound => "host_bound",
            Self::LaunchBound => "launch_bound",
            Self::SyncInStep => "sync_in_step",
            Self::PageableCopies => "pageable_copies",
            Self::ExposedCommunication => "exposed_communication",
            Self::StragglerRank => "straggler_rank",
            Self::UnevenRanks => "uneven_ranks",
            Self::TensorCoresUnused => "tensor_cores_unused",
            Self::ManySmallOptimizerKernels => "many_small_optimizer_kernels",
            Self::MemoryNearLimit => "memory_near_limit",
            Self::MemoryGrowth => "memory_growth",
            Self::MemoryFragmentation => "memory_fragmentation",
            Self::AllocatorInStep => "allocator_in_step",
            Self::StepOutliers => "step_outliers",
            Self::StepTimeDrift => "step_time_drift",
            Self::StepTimeRegression => "step_time_regression",
            Self::OperatorRegression => "operator_regression",
            Self::Recompilation => "recompilation",
            Self::ProfilerOverhead => "profiler_overhead",
            Self::ProfileDamaged => "profile_damaged",
        }
    }
}
