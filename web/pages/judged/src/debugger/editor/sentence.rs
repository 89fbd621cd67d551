//! The limits of a condition as one sentence with blanks, from the texts of its parameters: `Alert when [maximum] is
//! [above] [5] or …, with a relative tolerance of [1e-5].`

use leptos::html::Input;
use trainscope_api::watchpoints::{Condition, Parameter, ParameterKind};
use trainscope_format::digits::Operator;

use super::{Form, blank, put};
use trainscope_web_kit::components::{IconButton, IconName};
use trainscope_web_kit::i18n::{I18n, use_i18n};
use trainscope_web_kit::prelude::*;

/// Limit with its quantity and comparison.
#[derive(Clone, Debug, PartialEq)]
struct Limit {
    one: Parameter,
    /// Words for the quantity that is compared, in the language of the page.
    quantity: String,
    operator: Operator,
}

impl Limit {
    fn of(one: &Parameter, i18n: I18n) -> Option<Self> {
        let comparison = one.comparison.as_ref()?;
        Some(Self {
            one: one.clone(),
            quantity: i18n.raw(&comparison.quantity),
            operator: comparison.operator,
        })
    }
}

/// The sentence; nothing for a condition without parameters.
#[component]
pub(super) fn Sentence(form: Form, condition: Condition) -> impl IntoView {
    let i18n = use_i18n();
    let Condition {
        parameters,
        all_limits,
        ..
    } = condition;
    if parameters.is_empty() {
        return ().into_any();
    }
    let (limits, settings): (Vec<Parameter>, Vec<Parameter>) =
        parameters.into_iter().partition(|one| one.is_limit);
    let watching = form.watching;
    let is_set = |one: &&Parameter| {
        one.default.is_some()
            || watching
                .draft
                .with_untracked(|draft| draft.0.contains_key(&one.name))
    };
    let mut clauses: Vec<String> = limits
        .iter()
        .filter(is_set)
        .map(|one| one.name.clone())
        .collect();
    if clauses.is_empty() {
        clauses.extend(limits.first().map(|one| one.name.clone()));
    }
    let clauses = RwSignal::new(clauses);
    // Index of the clause whose field takes the focus once it is rendered.
    let focus = StoredValue::new(None::<usize>);
    let limits = StoredValue::new(limits);
    let spare = move || {
        let taken = clauses.get();
        limits.with_value(|limits| {
            let mut free = limits.iter().filter(|one| !taken.contains(&one.name));
            free.next().map(|one| one.name.clone())
        })
    };
    let add = move |_| {
        if let Some(name) = untrack(spare) {
            focus.set_value(Some(clauses.with_untracked(Vec::len)));
            clauses.update(|clauses| clauses.push(name));
        }
    };
    let parts = move || {
        let texts = i18n.texts().debugger();
        let shown = clauses.get();
        let is_many = shown.len() > 1;
        let parts = shown.iter().enumerate().map(|(at, name)| {
            let joint = (at > 0).then(|| texts.or_and[usize::from(all_limits)]);
            view! {
                {joint.map(|joint| view! { <span class="joint">{joint}</span> })}
                <Clause form=form limits=limits clauses=clauses at=at name=name.clone() is_many=is_many focus=focus />
            }
        });
        parts.collect_view()
    };
    let settings = settings
        .iter()
        .enumerate()
        .map(|(at, one)| setting(form, one, at == 0, i18n))
        .collect_view();
    let has_limits = limits.with_value(|limits| !limits.is_empty());
    let texts = i18n.texts().debugger();
    view! {
        <div class="sentence" role="group" aria-label=texts.limits>
            {has_limits.then(|| view! { <span>{texts.alert_when[0]}</span> })}
            {parts}
            {has_limits.then(|| view! { <span>{texts.alert_when[1]}</span> })}
            {settings}
            {move || {
                spare().map(|_| {
                    view! {
                        <button type="button" class="link add-clause" on:click=add>
                            {i18n.texts().debugger().add_clause}
                        </button>
                    }
                })
            }}
        </div>
    }
    .into_any()
}

/// Quantity, comparison and field of one limit. Fixed parts are text, the others drop-down lists.
#[component]
fn Clause(
    form: Form,
    limits: StoredValue<Vec<Parameter>>,
    clauses: RwSignal<Vec<String>>,
    at: usize,
    name: String,
    is_many: bool,
    focus: StoredValue<Option<usize>>,
) -> impl IntoView {
    let i18n = use_i18n();
    let texts = i18n.texts().debugger();
    let taken = clauses.get_untracked();
    let limits: Vec<Limit> =
        limits.with_value(|all| all.iter().filter_map(|one| Limit::of(one, i18n)).collect());
    let Some(current) = limits.iter().find(|limit| limit.one.name == name).cloned() else {
        return ().into_any();
    };
    let is_fixed = current.one.default.is_some();
    // Limits that this clause may show.
    let free: Vec<Limit> = limits
        .into_iter()
        .filter(|limit| {
            limit.one.name == name
                || (limit.one.default.is_none() && !taken.contains(&limit.one.name))
        })
        .filter(|limit| limit.one.name == name || !is_fixed)
        .collect();
    let mut quantities: Vec<String> = free.iter().map(|limit| limit.quantity.clone()).collect();
    quantities.dedup();
    let operators: Vec<Operator> = free
        .iter()
        .filter(|limit| limit.quantity == current.quantity)
        .map(|limit| limit.operator)
        .collect();
    let free = StoredValue::new(free);
    let before = StoredValue::new(name);
    // A clause keeps its typed number when its limit changes.
    let choose = move |wanted: &dyn Fn(&Limit) -> bool| {
        let found = free.with_value(|free| free.iter().find(|limit| wanted(limit)).cloned());
        let Some(found) = found else { return };
        before.with_value(|before| form.watching.rename(before, &found.one.name));
        focus.set_value(Some(at));
        clauses.update(|clauses| clauses[at].clone_from(&found.one.name));
    };
    let (shown, operator) = (current.quantity.clone(), current.operator);
    let quantity_view = if quantities.len() > 1 {
        let options = quantities.into_iter().map(|name| {
            view! { <option value=name.clone() selected=name == shown>{name.clone()}</option> }
        });
        view! {
            <select
                name="quantity"
                aria-label=texts.quantity
                on:change=move |event| {
                    let wanted = event_target_value(&event);
                    // The comparison stays if the quantity has it.
                    let alike = free.with_value(|free| {
                        free.iter()
                            .any(|limit| limit.quantity == wanted && limit.operator == operator)
                    });
                    choose(&|limit| {
                        limit.quantity == wanted && (!alike || limit.operator == operator)
                    });
                }
            >
                {options.collect_view()}
            </select>
        }
        .into_any()
    } else {
        view! { <span>{current.quantity.clone()}</span> }.into_any()
    };
    let operator_view = if operators.len() > 1 {
        let options = operators.into_iter().map(|one| {
            let sign = one.sign();
            view! { <option value=sign selected=one == operator>{(texts.comparison)(one)}</option> }
        });
        let quantity = StoredValue::new(current.quantity.clone());
        view! {
            <select
                name="comparison"
                aria-label=texts.comparison_label
                on:change=move |event| {
                    let sign = event_target_value(&event);
                    quantity.with_value(|quantity| {
                        choose(&|limit| {
                            limit.quantity == *quantity && limit.operator.sign() == sign
                        });
                    });
                }
            >
                {options.collect_view()}
            </select>
        }
        .into_any()
    } else {
        view! { <span>{(texts.comparison)(operator)}</span> }.into_any()
    };
    let field = NodeRef::<Input>::new();
    Effect::new(move || {
        if let Some(field) = field.get()
            && focus.get_value() == Some(at)
        {
            focus.set_value(None);
            request_animation_frame(move || {
                // A field that cannot take the focus can still be clicked.
                let _ignored = field.focus();
            });
        }
    });
    let label = i18n.words(&current.one.help);
    let remove = {
        let label = label.clone();
        let name = current.one.name.clone();
        (is_many && !is_fixed).then(move || {
            view! {
                <IconButton
                    icon=IconName::Close
                    size=10
                    class="remove-clause"
                    label=Signal::derive(move || {
                        (i18n.texts().debugger().remove_clause)(&label)
                    })
                    on_press=move || {
                        put(form.watching, &name, "", ParameterKind::Finite);
                        clauses
                            .update(|clauses| {
                                clauses.remove(at);
                            });
                    }
                />
            }
        })
    };
    view! {
        <span class="clause">
            {quantity_view}
            {operator_view}
            {blank(form, &current.one, &label, field)}
            {unit(current.one.kind)}
            {remove}
            {form.mistake_at(&current.one.name)}
        </span>
    }
    .into_any()
}

/// A parameter that is not a limit, after the limits.
fn setting(form: Form, one: &Parameter, is_first: bool, i18n: I18n) -> AnyView {
    let label = i18n.raw(&one.help);
    let joint = i18n.texts().debugger().with_and[usize::from(!is_first)];
    let field = blank(form, one, &label, NodeRef::new());
    if one.kind == ParameterKind::Switch {
        return view! {
            <label class="clause">
                {field}
                {label}
            </label>
        }
        .into_any();
    }
    view! {
        <span class="clause">
            <span class="joint">{joint}</span>
            <span>{label}</span>
            {field}
            {unit(one.kind)}
            {form.mistake_at(&one.name)}
        </span>
    }
    .into_any()
}

/// Unit after a field.
fn unit(kind: ParameterKind) -> Option<&'static str> {
    (kind == ParameterKind::Percentage).then_some("%")
}
