/** What the panel says, in both languages. */
export const en = {
  title: "Timing", run: "Run", last: "the last of this workflow", compare: "Compare with", nothing: "nothing", heat: "Colour nodes by time",
  trace: "Trace for Perfetto", none: "No times yet: run the workflow.", failed: "failed", cancelled: "cancelled", python: "Python",
  gantt: "Nodes over time: + and − look nearer or farther, left and right move along, up and down go from node to node, Enter shows the node",
  bar: "{{title}}, {{total}} on {{device}}: {{parts}}", table: "Times of the nodes", comparison: "Times of two runs", whole: "Whole run",
  onlyBefore: "Only in the run before: {{nodes}}", onlyAfter: "Only in the run after: {{nodes}}",
  column: {
    title: "Node", asked: "Asked", ranOn: "Ran on", seconds: "Total", change: "Change", compute: "Compute", moving: "Moving data", waiting: "Waiting",
    convert: "Convert", load: "Load", compile: "Compile", upload: "Upload", download: "Download", host: "Python", before: "Before", after: "After",
    ratio: "Ratio", where: "Ran on", phases: "Phases that changed",
  },
};
export const zh: typeof en = {
  title: "时间", run: "运行", last: "此工作流的上一次", compare: "对比", nothing: "无", heat: "按耗时给节点着色",
  trace: "Perfetto 跟踪文件", none: "还没有时间数据：请先运行工作流。", failed: "失败", cancelled: "已取消", python: "Python 代码",
  gantt: "节点时间线：+ 和 − 缩放，左右键移动，上下键在节点间切换，回车显示节点",
  bar: "{{title}}，{{total}}，设备 {{device}}：{{parts}}", table: "各节点的时间", comparison: "两次运行的时间", whole: "整个运行",
  onlyBefore: "仅在之前的运行中：{{nodes}}", onlyAfter: "仅在之后的运行中：{{nodes}}",
  column: {
    title: "节点", asked: "请求设备", ranOn: "实际设备", seconds: "总计", change: "变化", compute: "计算", moving: "数据搬运", waiting: "等待",
    convert: "转换", load: "加载", compile: "编译", upload: "上传", download: "下载", host: "Python 代码", before: "之前", after: "之后",
    ratio: "比率", where: "实际设备", phases: "变化的阶段",
  },
};
