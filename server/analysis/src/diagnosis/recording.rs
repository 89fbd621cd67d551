//! Lines of code that record missing data, for each framework.

/// Framework of a training, inferred from its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// A Python framework that its files do not identify: most likely `PyTorch`.
    Python,
    /// `TensorFlow` or Keras.
    Keras,
    /// `MindSpore`.
    MindSpore,
    /// A program in Python or Rust with trainscope's collectors, which write the same files.
    Collector,
}

/// Data that a rule needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// No data that can be recorded.
    Nothing,
    /// The learning rate and the size of a batch.
    Settings,
    /// A graph that includes the loss.
    GraphWithLoss,
    /// A graph with names of trained parameters.
    Parameters,
    /// Parameters with a gradient.
    Gradients,
    /// Shapes in the graph.
    Shapes,
    Pipeline,
    Shuffle,
    Inputs,
    Program,
}

impl Missing {
    /// The line of code; empty if the framework has none.
    pub(super) const fn line(self, framework: Framework) -> &'static str {
        use Framework::{Collector, Keras, MindSpore, Python};
        match (self, framework) {
            (Self::Settings, Python) => {
                "writer.add_hparams({\"lr\": lr, \"batch_size\": batch_size}, {})"
            }
            (Self::Settings, Keras) => "hp.hparams({\"lr\": lr, \"batch_size\": batch_size})",
            (Self::Settings, MindSpore) => {
                "SummaryCollector(summary_dir, collect_specified_data={\"collect_train_lineage\": True})"
            }
            (Self::Settings, Collector) => {
                "run.hparams({\"lr\": lr, \"batch_size\": batch_size}); Rust: collector.hyperparameters(…)"
            }
            (Self::GraphWithLoss, Python) => {
                "writer.add_graph(ModelWithLoss(model, loss_fn), (x, y))"
            }
            (Self::GraphWithLoss, Keras) => {
                "tf.summary.graph(train_step.get_concrete_function(x, y).graph)"
            }
            (Self::GraphWithLoss | Self::Parameters, MindSpore) => {
                "SummaryCollector(summary_dir, collect_specified_data={\"collect_graph\": True})"
            }
            (Self::GraphWithLoss | Self::Parameters, Collector) => {
                "run.watch(model, optimizer); Rust: collector.graph(\"model\", graph.build())"
            }
            (Self::Parameters, Python) => "torch.onnx.export(model, x, f\"{run}/model.onnx\")",
            (Self::Parameters, Keras) => "model.export(f\"{run}/model.onnx\", format=\"onnx\")",
            (Self::Gradients, Python) => "trainscope.start(run).watch(model, optimizer)",
            (Self::Program, Python | Collector) => "trainscope run -- python train.py",
            (Self::Shapes, Python | Keras) => {
                "onnx.save(onnx.shape_inference.infer_shapes(model), path)"
            }
            (Self::Pipeline, MindSpore) => {
                "SummaryCollector(summary_dir, collect_specified_data={\"collect_dataset_graph\": True})"
            }
            (Self::Pipeline, Collector) => {
                "run.dataset([\"Mnist\", \"Shuffle\"]); Rust: collector.lineage(DatasetPipeline::source(…).build())"
            }
            (Self::Shuffle, MindSpore) => "dataset = dataset.shuffle(buffer_size)",
            (Self::Inputs, Python) => {
                "save_file({\"activation/input\": x}, f\"{run}/dump/step_{step}.safetensors\")"
            }
            (Self::Inputs, Collector) => {
                "run.tensor(\"activation/input\", x, role=\"input\"); Rust: step.tensor(…, Role::Input, …)"
            }
            _ => "",
        }
    }
}
