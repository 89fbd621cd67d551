//! Notes about oddities of a graph, in both languages.

use trainscope_api::Sentence;
use trainscope_format::graph::{GraphNote, GraphNoteKind};

pub(crate) fn words(note: &GraphNote) -> Sentence {
    let GraphNote {
        kind,
        count,
        example,
    } = note;
    let zh = match kind {
        GraphNoteKind::Empty => "计算图没有节点".to_owned(),
        GraphNoteKind::RepeatedNames => format!("{count} 个节点重名，如 {example}"),
        GraphNoteKind::LeadNowhere => format!("{count} 个输入没有来源，如 {example}"),
        GraphNoteKind::Cycle => format!("{count} 个节点处于环中或等待环中的节点"),
        GraphNoteKind::LeftOut => format!("图过大，未包含 {count} 个节点和边"),
        GraphNoteKind::TooDeep => format!("{example} 中的子图嵌套过深，未包含"),
        GraphNoteKind::FileMissing => {
            format!("{count} 个参数的值存于 {example}，计算图旁没有该文件")
        }
    };
    let en = note.to_string();
    Sentence { en, zh }
}
