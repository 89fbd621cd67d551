//! The texts of the page of lineage, in both languages.

pub struct LineageTexts {
    pub title: &'static str,
    /// Effects of the keys of the registry, in their order.
    pub keys: [&'static str; 16],
}

pub const EN: LineageTexts = LineageTexts {
    title: "Lineage",
    keys: [
        "next, previous run",
        "select the run",
        "open the run; keep only the brushed ones",
        "curves of the selected runs",
        "all values of the run",
        "hide the run",
        "tag; note",
        "next, previous axis",
        "move the axis",
        "move the brush",
        "resize the brush",
        "new brush; remove the axis",
        "logarithmic; upside down",
        "colour by the axis",
        "remove all brushes",
        "table as CSV",
    ],
};

pub const ZH: LineageTexts = LineageTexts {
    title: "溯源",
    keys: [
        "下一个、上一个训练",
        "选中该训练",
        "打开该训练；只保留刷选的训练",
        "所选训练的曲线",
        "该训练的全部取值",
        "隐藏该训练",
        "标签；备注",
        "下一个、上一个坐标轴",
        "移动坐标轴",
        "移动刷选范围",
        "调整刷选范围",
        "新建刷选；移除坐标轴",
        "对数刻度；上下颠倒",
        "按该坐标轴着色",
        "清除全部刷选",
        "将表格导出为 CSV",
    ],
};
