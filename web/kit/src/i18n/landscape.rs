//! The texts of the loss landscape, in both languages.

use crate::format;
use crate::i18n::Text;

texts! {
    /// Texts of the page about loss landscapes.
    LandscapeTexts

    none = "No loss landscape was recorded", "未记录损失函数地形图";
    none_next =
        "Record one with Plane::pca in Rust, run.landscape in Python, or SummaryLandscape in MindSpore.",
        "可用 Rust 的 Plane::pca、Python 的 run.landscape 或 MindSpore 的 SummaryLandscape 记录。";
    unfit = "This landscape cannot be drawn", "无法绘制该损失函数地形图";
    /// Reasons: no surface, sizes that disagree, axes that do not ascend.
    reasons: [Text; 3] =
        [
            "The record has no surface.", "The numbers of coordinates and losses disagree.",
            "The coordinates of an axis are not finite and ascending.",
        ],
        ["记录中没有曲面。", "坐标数与损失数不一致。", "坐标轴的坐标不是有限且递增的。"];
    choose = "Landscape", "地形";
    end = "end", "终点";
    step: fn(i64) -> String =
        |step| format!("step {}", format::integer(step)),
        |step| format!("迭代 {}", format::integer(step));
    steps = "Recorded at", "记录于";
    scale = "Colour", "颜色";
    scales: [Text; 2] = ["Linear", "Log"], ["线性", "对数"];
    log_needs = "A logarithmic scale needs losses above 0", "对数刻度要求损失大于 0";
    axes = "Axes", "坐标轴";
    /// Both axes fill the plot; a unit is as long along both.
    axis_modes: [Text; 2] = ["Stretched", "Equal"], ["拉伸", "等比"];
    contours = "Contours", "等高线";
    beside = "Other runs", "其他训练";
    no_other = "No other run has a loss landscape.", "其他训练没有损失函数地形图。";
    map = "Map", "等高线图";
    surface = "Surface", "三维曲面";
    turn = "drag to turn", "拖动旋转";
    cuts = "Across the end", "经过终点的剖面";
    loss = "loss", "损失";
    /// Short and long names of the directions.
    directions: [Text; 2] = ["first", "second"], ["方向一", "方向二"];
    direction: [fn(Option<&str>) -> String; 2] =
        [
            |share| {
                share.map_or_else(
                    || "first direction".to_owned(),
                    |share| format!("first direction, {share}"),
                )
            },
            |share| {
                share.map_or_else(
                    || "second direction".to_owned(),
                    |share| format!("second direction, {share}"),
                )
            },
        ],
        [
            |share| share.map_or_else(|| "方向一".to_owned(), |share| format!("方向一，{share}")),
            |share| share.map_or_else(|| "方向二".to_owned(), |share| format!("方向二，{share}")),
        ];
    limit = "+10 %", "+10 %";
    /// Rows of the table: loss at the end, lowest loss, its place, path, basin, curvature, points that are not finite.
    rows: [Text; 7] =
        [
            "loss at the end", "lowest loss", "at", "length of the path", "radius of +10 %", "largest curvature",
            "NaN, infinite",
        ],
        ["终点损失", "最小损失", "位置", "路径长度", "+10 % 半径", "最大曲率", "NaN，无穷"];
    /// Meaning of the rows of the basin and of the curvature.
    explain: [Text; 2] =
        [
            "Least distance from the end at which the surface exceeds 1.1 times the loss at the end, over 64 rays",
            "Larger second difference of the surface across the end, along both axes, over the spacing of the grid",
        ],
        [
            "沿 64 条射线，曲面超过终点损失 1.1 倍处到终点的最小距离",
            "曲面在终点处沿两轴的二阶差分（以网格间距计）的较大者",
        ];
    beyond = "beyond the plane", "超出平面";
    /// Heads of the recorded states: epoch or step, loss in the plane, loss of the training.
    units: [Text; 2] = ["epoch", "step"], ["轮次", "迭代"];
    in_plane = "loss in the plane", "平面内损失";
    in_training = "training loss", "训练损失";
    saved = "Saved states", "已保存的状态";
    /// Distance from the end, in the read-out.
    from_end = "distance from the end", "距终点";
    press = "click the map to read a point", "点击图中任意位置读数";
    /// Points along both axes.
    points: fn(usize, usize) -> String = |x, y| format!("{x} × {y} points"), |x, y| format!("{x} × {y} 个点");
    samples: fn(u64) -> String =
        |samples| match samples {
            0 => "number of samples not recorded".to_owned(),
            1 => "each the loss of 1 sample".to_owned(),
            many => format!("each the mean loss of {} samples", format::count(many)),
        },
        |samples| match samples {
            0 => "未记录样本数".to_owned(),
            many => format!("每点为 {} 个样本的平均损失", format::count(many)),
        };
    steps_per_epoch: fn(i64) -> String =
        |steps| format!("{steps} steps per epoch"),
        |steps| format!("每个轮次 {steps} 个迭代");
    /// Unit, and groups of saved states.
    saved_groups: fn(&str, &str) -> String =
        |unit, groups| format!("saved at {unit} {groups}"),
        |unit, groups| format!("保存的状态（{unit}）：{groups}");
    /// All settings.
    settings: fn(&str) -> String =
        |settings| format!("train_metadata.json: {settings}"),
        |settings| format!("train_metadata.json：{settings}");
    /// Plane of principal directions with the number of saved weights, of random directions, of another origin.
    principal: fn(usize) -> String =
        |saved| format!("plane of the two main directions of {saved} saved weights"),
        |saved| format!("{saved} 组已保存权重的两个主方向所在平面");
    random = "plane of two random directions", "两个随机方向所在平面";
    method: fn(&str) -> String = |method| format!("directions: {method}"), |method| format!("方向：{method}");
    /// Length of the directions: of the filters, at right angles, not recorded.
    normalisations: [Text; 3] =
        ["scaled by the norm of each filter", "orthonormal", "scaling of the directions not recorded"],
        ["按滤波器范数缩放", "标准正交", "未记录方向的缩放方式"];
    variance: fn(&str) -> String =
        |share| format!("Two directions hold {share} of the variance of the saved weights."),
        |share| format!("两个方向占已保存权重方差的 {share}。");
    no_variance = "The share of variance in these directions was not recorded.", "未记录这两个方向的方差占比。";
    no_unit = "Both axes have no common unit.", "两轴没有共同的单位。";
    /// Other runs: in the same plane, in other planes.
    same_plane: fn(&str) -> String =
        |runs| format!("{runs} is in the same plane."),
        |runs| format!("{runs} 位于同一平面。");
    other_planes =
        "The runs are in planes of their own: colours and ranges are common, places are not.",
        "各训练位于各自的平面：颜色与范围一致，位置不可比。";
    missing: fn(&str) -> String =
        |run| format!("{run} has no such landscape."),
        |run| format!("{run} 没有该损失函数地形图。");
    download = "Download", "下载";
    /// SVG, PNG, CSV of the surface, CSV of the path.
    files: [Text; 4] = ["SVG", "PNG", "CSV of the surface", "CSV of the path"], ["SVG", "PNG", "曲面 CSV", "路径 CSV"];
    /// Description of the map: points, minimum and maximum loss.
    picture: fn(&str, &str) -> String =
        |points, range| format!("Map of the loss over {points}, {range}"),
        |points, range| format!("损失等高线图，{points}，{range}");
}
