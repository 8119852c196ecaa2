/** What the panel says, in both languages. */
export const en = {
  title: "Queue", pause: "Pause", resume: "Go on", clear: "Cancel all that wait", follow: "Follow the node that runs",
  paused: "Paused: what runs ends, nothing else begins.", waiting: "Runs in their order", empty: "Nothing runs or waits.", run: "Run {{number}}",
  cancel: "Cancel run {{number}}", first: "Run {{number}} first", up: "Run {{number}} earlier", down: "Run {{number}} later", history: "Ended",
  none: "No run has ended yet.", more: "Older ones", prune: "Forget all but the newest {{count}}", sure: "Forget {{count}} runs? Their pictures stay.",
  yes: "Forget", no: "Keep", failed: "failed", cancelled: "cancelled", why: "Why?", unknown: "The server ended while it ran.", open: "Open", again: "Again",
};
export const zh: typeof en = {
  title: "队列", pause: "暂停", resume: "继续", clear: "取消所有等待项", follow: "跟随正在运行的节点",
  paused: "已暂停：正在运行的会完成，不会开始新的。", waiting: "按顺序排列的运行", empty: "没有正在运行或等待的任务。", run: "运行 {{number}}",
  cancel: "取消运行 {{number}}", first: "最先运行 {{number}}", up: "提前运行 {{number}}", down: "推后运行 {{number}}", history: "已结束",
  none: "还没有结束的运行。", more: "更早的", prune: "只保留最新的 {{count}} 个", sure: "要忘记 {{count}} 个运行吗？图片会保留。",
  yes: "忘记", no: "保留", failed: "失败", cancelled: "已取消", why: "为什么？", unknown: "运行时服务器结束了。", open: "打开", again: "再次运行",
};
