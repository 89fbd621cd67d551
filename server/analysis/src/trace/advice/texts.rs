//! Titles of advice, and the line of code of each framework that follows it.

use trainscope_api::Sentence;
use trainscope_format::trace::TraceFormat;

use super::Rule;

/// Short instruction of a rule.
pub(super) fn title(rule: Rule) -> Sentence {
    let (en, zh) = match rule {
        Rule::DataBound => ("Load data in more processes", "用更多进程加载数据"),
        Rule::DeviceIdle => ("Give the device more work", "给设备更多工作"),
        Rule::HostBound => ("Launch fewer and larger kernels", "下发更少、更大的 kernel"),
        Rule::LaunchBound => ("Join short kernels", "合并短 kernel"),
        Rule::SyncInStep => (
            "Do not wait for the device within a step",
            "迭代中不要等待设备",
        ),
        Rule::PageableCopies => ("Copy batches from pinned memory", "从锁页内存拷贝批次"),
        Rule::ExposedCommunication => (
            "Hide communication behind the backward pass",
            "用反向传播掩盖通信",
        ),
        Rule::StragglerRank => ("Speed up the slow rank", "加快慢的 rank"),
        Rule::UnevenRanks => ("Even out the ranks", "均衡各 rank 的负载"),
        Rule::TensorCoresUnused => ("Compute on tensor cores", "使用 Tensor Core 计算"),
        Rule::ManySmallOptimizerKernels => (
            "Update all weights with few kernels",
            "用少量 kernel 更新全部权重",
        ),
        Rule::MemoryNearLimit => ("Leave more memory free", "留出更多空闲内存"),
        Rule::MemoryGrowth => ("Release what each step keeps", "释放每个迭代留下的内存"),
        Rule::MemoryFragmentation => ("Allocate in larger blocks", "以更大的块分配内存"),
        Rule::AllocatorInStep => (
            "Do not allocate device memory within a step",
            "迭代中不要分配设备内存",
        ),
        Rule::StepOutliers => ("Look at the longest step", "查看最长的迭代"),
        Rule::StepTimeDrift => ("Find what grows from step to step", "找出随迭代增长的部分"),
        Rule::StepTimeRegression => ("Compare with the baseline", "与基线对比"),
        Rule::OperatorRegression => ("Look at the slower operators", "查看变慢的算子"),
        Rule::Recompilation => ("Compile once", "只编译一次"),
        Rule::ProfilerOverhead => ("Profile less at once", "一次少采集一些"),
        Rule::ProfileDamaged => ("Let the profiler finish its file", "让性能分析器写完文件"),
    };
    Sentence::new(en, zh)
}

/// Code or setting that follows the instruction: that of the cause, else that of the rule. Code reads the same in all
/// languages.
pub(super) fn remedy(rule: Rule, format: TraceFormat, of_cause: Option<&str>) -> Sentence {
    let of_rule = || match format {
        TraceFormat::Kineto | TraceFormat::Snapshot => torch(rule),
        TraceFormat::Mindspore => mindspore(rule),
        TraceFormat::Xplane => jax(rule),
        TraceFormat::Chrome | TraceFormat::Spans | TraceFormat::Folded | TraceFormat::Nsight => "",
    };
    let code = of_cause.unwrap_or_else(of_rule);
    Sentence::new(code, code)
}

const fn torch(rule: Rule) -> &'static str {
    match rule {
        Rule::DataBound => {
            "DataLoader(..., num_workers=8, prefetch_factor=4, persistent_workers=True)"
        }
        Rule::DeviceIdle => "DataLoader(..., batch_size=2 * batch_size)",
        Rule::HostBound | Rule::LaunchBound => {
            "model = torch.compile(model, mode=\"reduce-overhead\")"
        }
        Rule::SyncInStep => "total += loss.detach()  # total.item() every 100 steps",
        Rule::PageableCopies => {
            "DataLoader(..., pin_memory=True); batch.to(device, non_blocking=True)"
        }
        Rule::ExposedCommunication => {
            "DistributedDataParallel(model, bucket_cap_mb=100, gradient_as_bucket_view=True)"
        }
        Rule::StragglerRank => {
            "nvidia-smi --query-gpu=clocks.sm,temperature.gpu,power.draw --format=csv -l 1"
        }
        Rule::UnevenRanks => "DistributedSampler(dataset, drop_last=True)",
        Rule::TensorCoresUnused => "with torch.autocast(\"cuda\", dtype=torch.bfloat16):",
        Rule::ManySmallOptimizerKernels => "torch.optim.AdamW(model.parameters(), fused=True)",
        Rule::MemoryNearLimit => "torch.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)",
        Rule::MemoryGrowth => "losses.append(loss.detach().item())",
        Rule::MemoryFragmentation => "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True",
        Rule::AllocatorInStep => "# no torch.cuda.empty_cache() in the loop",
        Rule::Recompilation => "torch.compile(model, dynamic=True)  # TORCH_LOGS=recompiles",
        Rule::ProfilerOverhead => {
            "profile(with_stack=False, record_shapes=False, profile_memory=False)"
        }
        Rule::ProfileDamaged => "schedule(wait=1, warmup=1, active=3)",
        Rule::StepOutliers
        | Rule::StepTimeDrift
        | Rule::StepTimeRegression
        | Rule::OperatorRegression => "",
    }
}

const fn mindspore(rule: Rule) -> &'static str {
    match rule {
        Rule::DataBound => {
            "dataset.map(..., num_parallel_workers=8); ds.config.set_prefetch_size(16)"
        }
        Rule::DeviceIdle => "dataset.batch(2 * batch_size)",
        Rule::HostBound | Rule::LaunchBound => "mindspore.set_context(mode=mindspore.GRAPH_MODE)",
        Rule::ExposedCommunication => {
            "mindspore.set_auto_parallel_context(all_reduce_fusion_config=[85, 160])"
        }
        Rule::StragglerRank => "npu-smi info watch",
        Rule::TensorCoresUnused => "mindspore.amp.auto_mixed_precision(net, \"O2\")",
        Rule::MemoryNearLimit => "cell.recompute()",
        Rule::MemoryFragmentation => "mindspore.set_context(memory_optimize_level=\"O1\")",
        Rule::Recompilation => {
            "net.set_inputs(mindspore.Tensor(shape=[None, 16], dtype=mindspore.float32))"
        }
        Rule::ProfilerOverhead => "Profiler(profile_memory=False, with_stack=False)",
        _ => "",
    }
}

const fn jax(rule: Rule) -> &'static str {
    match rule {
        Rule::DataBound => "dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE).prefetch(2)",
        Rule::HostBound | Rule::LaunchBound => "step = jax.jit(step)",
        Rule::SyncInStep => "# no float(loss) or block_until_ready() within the loop",
        Rule::TensorCoresUnused => {
            "jax.config.update(\"jax_default_matmul_precision\", \"bfloat16\")"
        }
        Rule::MemoryNearLimit => "layer = jax.checkpoint(layer)",
        Rule::Recompilation => "JAX_LOG_COMPILES=1",
        _ => "",
    }
}

/// Search that frames the slices in the timeline.
pub(super) const fn search(rule: Rule) -> &'static str {
    match rule {
        Rule::DataBound => "kind:data",
        Rule::SyncInStep => "Synchronize",
        Rule::PageableCopies => "Pageable",
        Rule::ExposedCommunication | Rule::StragglerRank => "kind:comm",
        Rule::HostBound | Rule::LaunchBound | Rule::DeviceIdle => "kind:compute",
        Rule::ManySmallOptimizerKernels => "Optimizer.step",
        Rule::AllocatorInStep => "/cudaMalloc|cudaFree|hipMalloc|hipFree/",
        Rule::Recompilation => "dynamo",
        _ => "",
    }
}
