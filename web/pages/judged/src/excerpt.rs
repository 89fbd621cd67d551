//! A line of the training's code with the lines around it, as they were when it ran.

use trainscope_format::SourceLine;
use trainscope_web_kit::prelude::*;

/// File and line, and the lines around it if the source could be read.
pub(crate) fn source_excerpt(source: &SourceLine) -> AnyView {
    let place = format!("{}:{}", source.file, source.line);
    let function = source.function.clone();
    let rows = source.lines().map(|(number, line)| {
        let is_it = number == source.line;
        view! {
            <div class:on=is_it>
                <span>{number}</span>
                <span>{line.to_owned()}</span>
            </div>
        }
        .into_any()
    });
    let rows: Vec<AnyView> = rows.collect();
    let has_rows = !rows.is_empty();
    view! {
        <p class="small source"><code>{place}</code> " " <span class="ink3">{function}</span></p>
        {has_rows.then(|| view! { <div class="excerpt" data-part="excerpt">{rows}</div> })}
    }
    .into_any()
}

/// The last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}
