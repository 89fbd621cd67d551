//! Importances of the parameters of large searches: share of variance, with pairs.

use criterion::{Criterion, criterion_group, criterion_main};
use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use trainscope_analysis::columns::CellValue;
use trainscope_analysis::headline::Direction;
use trainscope_analysis::importance::{Measure, NamedColumn, Question, importance};

/// Numbers, integers and categories in turn; the first number decides the result.
fn search(runs: usize, parameters: usize) -> (Vec<Vec<CellValue>>, Vec<CellValue>) {
    let mut random = Pcg64::seed_from_u64(1);
    let mut unit = || (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    let value = |at: usize, unit: f64| match at % 3 {
        0 => CellValue::Number(10.0_f64.powf(-5.0 * unit)),
        1 => CellValue::Number((64.0 * unit).round()),
        _ => CellValue::Text(format!("kind {:.0}", 5.0 * unit)),
    };
    let columns: Vec<Vec<CellValue>> = (0..parameters)
        .map(|at| (0..runs).map(|_| value(at, unit())).collect())
        .collect();
    let results = columns.first().into_iter().flatten().map(|own| {
        let power = own.number().unwrap_or(1.0).log10();
        CellValue::Number((power + 3.0).powi(2))
    });
    let results = results.collect();
    (columns, results)
}

/// Numbers of runs and parameters; only a few under test.
fn sizes() -> &'static [(usize, usize)] {
    if std::env::args().any(|flag| flag == "--test") {
        &[(40, 4)]
    } else {
        &[(1_000, 20), (10_000, 64)]
    }
}

fn variance(criterion: &mut Criterion) {
    for (runs, parameters) in sizes().iter().copied() {
        let (cells, results) = search(runs, parameters);
        let names: Vec<String> = (0..parameters).map(|at| format!("p{at}")).collect();
        let columns: Vec<NamedColumn<'_>> = names
            .iter()
            .zip(&cells)
            .map(|(name, cells)| NamedColumn {
                name,
                cells,
                domain: None,
            })
            .collect();
        let question = Question {
            columns: &columns,
            results: &results,
            direction: Some(Direction::Less),
        };
        let name = format!("importance, {runs} runs × {parameters} parameters");
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| importance(&question, Some(Measure::Variance), &|| false));
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = variance
}
criterion_main!(benches);
