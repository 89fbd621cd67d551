//! Methods of a recorder for images, sound, graphs, hyper-parameters and lineage.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyList};
use trainscope_collector::{GraphBuilder, Hyperparameters, Lineage, Picture};
use trainscope_format::lineage::{DatasetNode, LineageValue, TrainLineage, UserInfo};
use trainscope_format::{ProgramFact, SourceLine};

use crate::media;
use crate::memory::{TensorMemory, dtype_of};
use crate::recorder::Recorder;
use crate::refusal::Outcome;
use crate::value;

#[pymethods]
impl Recorder {
    /// Records an image, or several of one size, from an array; `Run.image` says more.
    #[pyo3(signature = (name, image, step=None, *, layout=None, wall_time=None))]
    fn image(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        image: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        layout: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let record = || -> Outcome<bool> {
            let name = value::name(name)?;
            let at = this.get().time(step, wall_time)?;
            let layout = layout.map(value::name).transpose()?;
            let memory = TensorMemory::of(image)?;
            let images = media::images(&memory.view(), layout)?;
            let pictures: Vec<Picture<'_>> = images
                .pixels
                .iter()
                .map(|pixels| Picture {
                    width: images.width,
                    height: images.height,
                    channels: images.channels,
                    pixels,
                })
                .collect();
            this.get().collector.images(name, at, &pictures);
            Ok(images.is_ambiguous)
        };
        match record() {
            Ok(false) => Ok(()),
            Ok(true) => {
                let warn = this.py().import("trainscope._lost")?.getattr("warn")?;
                let text = "the channels of this image could be first or last: it is read as channels first; \
                            layout=\"HWC\" says otherwise";
                warn.call1((this, text)).map(drop)
            }
            Err(reason) => Self::refuse(this, reason),
        }
    }

    /// Records sound.
    ///
    /// `samples`: (n,), (n, channels) or (channels, n), where the shorter axis is that of the channels; floating point
    /// is from -1 to 1, integers use the range of their type. `rate`: samples per second. The samples are copied;
    /// another thread encodes them. After `finish` it is counted as lost.
    ///
    /// >>> run.audio("voice", [0.0, 0.5, 0.0, -0.5] * 100, 16000, step=3)
    #[pyo3(signature = (name, samples, rate, step=None, *, wall_time=None))]
    fn audio(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        samples: &Bound<'_, PyAny>,
        rate: &Bound<'_, PyAny>,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let record = || -> Outcome {
            let name = value::name(name)?;
            let at = this.get().time(step, wall_time)?;
            let rate = u32::try_from(value::step(rate)?)
                .ok()
                .filter(|rate| *rate > 0);
            let rate = rate.ok_or("a rate is a positive number of samples per second")?;
            let memory = TensorMemory::of(samples)?;
            let (samples, channels) = media::samples(&memory.view())?;
            this.get()
                .collector
                .audio(name, at, rate, channels, &samples);
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Records an image of bytes, rows from the top, channels interleaved; several frames become an animation.
    #[pyo3(signature = (name, pixels, width, height, channels, step=None, wall_time=None, frames=1, fps=4.0))]
    #[expect(clippy::too_many_arguments, reason = "called by name")]
    fn _pixels(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        pixels: &[u8],
        width: u32,
        height: u32,
        channels: u8,
        step: Option<&Bound<'_, PyAny>>,
        wall_time: Option<&Bound<'_, PyAny>>,
        frames: usize,
        fps: f32,
    ) -> PyResult<()> {
        let record = || -> Outcome {
            let name = value::name(name)?;
            let at = this.get().time(step, wall_time)?;
            let picture = |pixels| Picture {
                width,
                height,
                channels,
                pixels,
            };
            let collector = &this.get().collector;
            if frames <= 1 {
                collector.images(name, at, &[picture(pixels)]);
                return Ok(());
            }
            if pixels.is_empty() || !pixels.len().is_multiple_of(frames) {
                return Err(format!("{} bytes are not {frames} frames", pixels.len()).into());
            }
            let pictures: Vec<_> = pixels
                .chunks_exact(pixels.len() / frames)
                .map(picture)
                .collect();
            collector.animation(name, at, &pictures, fps);
            Ok(())
        };
        Self::settle(this, record())
    }

    /// Records a fact of the program. `source`: file, line, function, first line of the excerpt, excerpt.
    #[pyo3(signature = (kind, subject, numbers, texts, source=None, step=None))]
    fn _write_fact(
        &self,
        kind: String,
        subject: String,
        numbers: Vec<(String, f64)>,
        texts: Vec<(String, String)>,
        source: Option<(String, u64, String, u64, String)>,
        step: Option<i64>,
    ) {
        let source = source.map(|(file, line, function, first_line, excerpt)| SourceLine {
            file,
            line,
            function,
            first_line,
            excerpt,
        });
        let fact = ProgramFact {
            kind,
            subject,
            numbers,
            texts,
            source,
        };
        let step = step.unwrap_or_else(|| self.last_step());
        self.collector.program(step, fact);
    }

    /// Records a graph.
    ///
    /// Nodes have `name`, `kind` (input, parameter, operation), `op`, `inputs`, and may have `dtype`, `shape`,
    /// `source`, `attributes`; outputs are (name, node).
    #[pyo3(signature = (tag, nodes, outputs=None))]
    fn _graph(
        this: &Bound<'_, Self>,
        tag: &str,
        nodes: &Bound<'_, PyAny>,
        outputs: Option<Vec<(String, String)>>,
    ) -> PyResult<()> {
        let mut builder = GraphBuilder::new(tag);
        for node in nodes.try_iter()? {
            let node: GraphNode = node?.extract()?;
            let inputs: Vec<&str> = node.inputs.iter().map(String::as_str).collect();
            let dtype = node.dtype.as_deref().and_then(|name| dtype_of(name).ok());
            let typed = dtype.zip(node.shape.as_deref());
            builder = match (node.kind.as_str(), typed) {
                ("input", Some(((dtype, _), shape))) => builder.input(&node.name, dtype, shape),
                ("parameter", Some(((dtype, _), shape))) => {
                    builder.parameter(&node.name, dtype, shape)
                }
                (_, typed) => {
                    let operation = builder.operation(&node.name, &node.op, &inputs);
                    match typed {
                        Some(((dtype, _), shape)) => operation.typed(dtype, shape),
                        None => operation,
                    }
                }
            };
            for (name, value) in node.attributes.iter().flatten() {
                builder = builder.attribute(name, value);
            }
            if let Some(source) = &node.source {
                builder = builder.source(source);
            }
        }
        for (name, from) in outputs.unwrap_or_default() {
            builder = builder.output(&name, &from);
        }
        this.get().collector.graph(tag, builder.build());
        Ok(())
    }

    /// Records one serialized `Event` as it is.
    fn _raw_event(&self, event: Vec<u8>) {
        self.collector.event(event);
    }

    /// Records a restart: readers drop the earlier records of this step and of later ones.
    fn _session_start(&self, step: i64) {
        self.collector.session_start(step);
    }

    /// Settings of the training; names that the record has no field for become user-defined information.
    fn _train_lineage(&self, fields: BTreeMap<String, Bound<'_, PyAny>>) -> PyResult<()> {
        let mut lineage = TrainLineage::default();
        let mut others = UserInfo::default();
        for (name, value) in fields {
            match name.as_str() {
                "optimizer" => lineage.optimizer = value.extract()?,
                "learning_rate" => lineage.learning_rate = value.extract()?,
                "loss_function" => lineage.loss_function = value.extract()?,
                "epochs" => lineage.epochs = value.extract()?,
                "parallel_mode" => lineage.parallel_mode = value.extract()?,
                "device_count" => lineage.device_count = value.extract()?,
                "batch_size" => lineage.batch_size = value.extract()?,
                "dataset_path" => lineage.dataset_path = value.extract()?,
                "dataset_size" => lineage.dataset_size = value.extract()?,
                "network" => lineage.network = value.extract()?,
                "loss" => lineage.loss = value.extract()?,
                "model_path" => lineage.model_path = value.extract()?,
                "model_size_bytes" => lineage.model_size_bytes = value.extract()?,
                _ => others.values.push((name, lineage_value(&value)?)),
            }
        }
        self.collector.lineage(Lineage::Train(lineage));
        if !others.values.is_empty() {
            self.collector.lineage(Lineage::UserDefined(others));
        }
        Ok(())
    }

    /// Records a data pipeline, the source first: the operation of each step and its parameters.
    fn _dataset(&self, steps: &Bound<'_, PyList>) -> PyResult<()> {
        let mut node = None;
        for step in steps {
            let (operation, parameters): (String, Vec<(String, Bound<'_, PyAny>)>) =
                step.extract()?;
            let mut values = vec![("op_type".to_owned(), LineageValue::Text(operation))];
            for (name, value) in parameters {
                values.push((name, lineage_value(&value)?));
            }
            node = Some(DatasetNode {
                parameters: values,
                children: node.into_iter().collect(),
                ..DatasetNode::default()
            });
        }
        if let Some(node) = node {
            self.collector.lineage(Lineage::Dataset(node));
        }
        Ok(())
    }

    /// Records hyper-parameters by name, and names of scalars that measure success.
    fn _hparams(&self, values: &Bound<'_, PyList>, metrics: &Bound<'_, PyList>) -> PyResult<()> {
        let mut hyperparameters = Hyperparameters::default();
        for item in values {
            let (name, value) = item.extract::<(String, Bound<'_, PyAny>)>()?;
            hyperparameters = if let Ok(flag) = value.extract::<bool>() {
                hyperparameters.flag(&name, flag)
            } else if let Ok(number) = value.extract::<f64>() {
                hyperparameters.number(&name, number)
            } else {
                hyperparameters.text(&name, &value.str()?.to_string_lossy())
            };
        }
        for metric in metrics {
            hyperparameters = hyperparameters.metric(metric.extract()?);
        }
        self.collector.hyperparameters(&hyperparameters);
        Ok(())
    }
}

/// Node of a graph, as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct GraphNode {
    name: String,
    kind: String,
    op: String,
    inputs: Vec<String>,
    #[pyo3(default)]
    dtype: Option<String>,
    #[pyo3(default)]
    shape: Option<Vec<u64>>,
    #[pyo3(default)]
    source: Option<String>,
    #[pyo3(default)]
    attributes: Option<BTreeMap<String, String>>,
}

fn lineage_value(value: &Bound<'_, PyAny>) -> PyResult<LineageValue> {
    if let Ok(is_set) = value.cast::<PyBool>() {
        return Ok(LineageValue::Bool(is_set.is_true()));
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(LineageValue::Int(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(LineageValue::Number(number));
    }
    Ok(LineageValue::Text(
        value.str()?.to_string_lossy().into_owned(),
    ))
}
