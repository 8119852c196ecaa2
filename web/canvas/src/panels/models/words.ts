/** What the panel says, in both languages. */
export const en = {
  title: "Models", search: "Search models", jobs: "Work on models", none: "No model answers “{{query}}”.", checkpoints: "Checkpoints", use: "Use",
  file: "File in the folder of models…", convert: "Convert", same: "the same answers", error: "largest error {{error}}", cosine: "cosine {{cosine}}",
  freed: "{{size}} are free again.", about: "About", size: "On the disk", weights: "Weights", verified: "Verified", made: "Made", licence: "Licence",
  source: "Source", again: "Convert", fetch: "Fetch", remove: "Remove", sure: "Remove {{name}}?", keep: "Keep", working: "Progress of {{name}}",
  cancel: "Stop the work on {{name}}", job: { waiting: "waits", running: "works", failed: "failed", cancelled: "cancelled", done: "done" },
  state: { "in catalogue": "to be had", pulled: "fetched", converted: "ready", damaged: "damaged" },
};
export const zh: typeof en = {
  title: "模型", search: "搜索模型", jobs: "模型任务", none: "没有符合“{{query}}”的模型。", checkpoints: "检查点", use: "使用",
  file: "模型文件夹中的文件…", convert: "转换", same: "结果相同", error: "最大误差 {{error}}", cosine: "余弦 {{cosine}}",
  freed: "已释放 {{size}}。", about: "详情", size: "磁盘占用", weights: "权重精度", verified: "验证", made: "生成时间", licence: "许可证",
  source: "来源", again: "转换", fetch: "获取", remove: "删除", sure: "删除 {{name}} 吗？", keep: "保留", working: "{{name}} 的进度",
  cancel: "停止处理 {{name}}", job: { waiting: "等待中", running: "进行中", failed: "失败", cancelled: "已取消", done: "完成" },
  state: { "in catalogue": "可获取", pulled: "已获取", converted: "就绪", damaged: "已损坏" },
};
