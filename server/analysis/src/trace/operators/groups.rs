//! Groups of operators and kernels: the row that each slice belongs to.

use std::collections::HashMap;

use trainscope_api::profile::OperatorGroup;
use trainscope_format::trace::{NONE, SliceClass};

use super::type_of;
use crate::trace::kernels::short_name;
use crate::trace::scopes::Scopes;
use crate::trace::{Model, Role};

type Map<K> = HashMap<K, usize, foldhash::fast::RandomState>;

/// Numbers of groups by slice.
pub(super) struct Groups<'a> {
    model: &'a Model,
    by: OperatorGroup,
    scopes: Option<Scopes>,
    /// Groups by the numbers that decide them: texts are compared once for each.
    known: Map<(u32, u32)>,
    numbers: Map<Label>,
    /// Label of each group.
    pub labels: Vec<Label>,
}

/// Texts of a row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Label {
    pub name: String,
    pub r#type: String,
    pub shapes: String,
}

/// Shapes in the format of Kineto, without the white space of the file.
fn on_one_line(dims: &str) -> String {
    let dims: String = dims.split_whitespace().collect();
    dims.replace(',', ", ")
}

impl<'a> Groups<'a> {
    pub(super) fn new(model: &'a Model, by: OperatorGroup) -> Self {
        Self {
            model,
            by,
            scopes: (by == OperatorGroup::Scope).then(|| Scopes::new(model)),
            known: Map::default(),
            numbers: Map::default(),
            labels: Vec::new(),
        }
    }

    /// `true` if a group joins operators of several names: calls within its calls are part of them.
    pub(super) fn joins_names(&self) -> bool {
        matches!(self.by, OperatorGroup::Type | OperatorGroup::Scope)
    }

    /// Number of the group of a slice.
    pub(super) fn of(&mut self, slice: u32) -> usize {
        let slices = &self.model.trace.slices;
        let name = slices.names[slice as usize].0;
        let key = match (self.by, &self.scopes) {
            (OperatorGroup::Shape, _) => (name, slices.details[slice as usize]),
            (OperatorGroup::Scope, Some(scopes)) => (scopes.id(slice).0, NONE),
            // Collectives and copies of one name have one role.
            _ => (name, NONE),
        };
        if let Some(group) = self.known.get(&key) {
            return *group;
        }
        let label = self.label(slice);
        let group = *self.numbers.entry(label.clone()).or_insert_with(|| {
            self.labels.push(label);
            self.labels.len() - 1
        });
        self.known.insert(key, group);
        group
    }

    fn label(&self, slice: u32) -> Label {
        let trace = &self.model.trace;
        let name = self.model.name(slice);
        let own_type = type_of(name, trace.head.format).to_owned();
        match self.by {
            OperatorGroup::Name => Label {
                name: name.to_owned(),
                r#type: own_type,
                ..Label::default()
            },
            OperatorGroup::Type => Label {
                name: own_type.clone(),
                r#type: own_type,
                ..Label::default()
            },
            OperatorGroup::Scope => {
                let scopes = self.scopes.as_ref();
                let scope = scopes.map(|scopes| scopes.text(scopes.id(slice)));
                Label {
                    name: scope.unwrap_or_default().to_owned(),
                    ..Label::default()
                }
            }
            OperatorGroup::Shape => {
                let detail = trace.slices.details[slice as usize] as usize;
                let shapes = trace.shapes.get(detail);
                let shapes = shapes.map(|shapes| on_one_line(&shapes.dims));
                Label {
                    name: name.to_owned(),
                    r#type: own_type,
                    shapes: shapes.unwrap_or_default(),
                }
            }
            OperatorGroup::Kernel | OperatorGroup::Variant => Label {
                name: match self.by {
                    OperatorGroup::Variant => name,
                    _ => short_name(name),
                }
                .to_owned(),
                r#type: self.device_type(slice).to_owned(),
                shapes: String::new(),
            },
        }
    }

    fn device_type(&self, slice: u32) -> &str {
        // Categories of operators on a device name its unit.
        let categories = &self.model.trace.categories;
        let category = self.model.trace.slices.categories[slice as usize];
        let category = categories.get(usize::from(category));
        match self.model.roles[slice as usize] {
            Role::Memcpy => "memcpy",
            Role::Memset => "memset",
            Role::Communication => "communication",
            _ => category
                .filter(|category| category.class == SliceClass::Operator)
                .map_or("kernel", |category| &category.name),
        }
    }
}
