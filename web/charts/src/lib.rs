//! Every plot, drawn to any plotters backend: canvas in the browser, SVG in tests and reports.
