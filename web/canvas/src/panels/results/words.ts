/** What the panel says, in both languages. */
export const en = {
  title: "Results", mine: "Only of this workflow", none: "No pictures yet.", more: "Older ones", compare: "compare", mark: "Compare {{name}}",
  another: "Choose another picture to compare it with.", look: "Look at {{name}}", zoom: "Whole size, or all of it", before: "Newer picture", after: "Older picture",
  open: "Open its workflow", download: "Download", send: "Send to…", new: "a new node", close: "Close", settings: "What made it", made: "Made",
  comparing: "{{before}} beside {{after}}", edge: "Edge between the two pictures",
};
export const zh: typeof en = {
  title: "结果", mine: "仅此工作流", none: "还没有图片。", more: "更早的", compare: "对比", mark: "对比 {{name}}",
  another: "再选一张图片进行对比。", look: "查看 {{name}}", zoom: "原始大小或适应窗口", before: "较新的图片", after: "较旧的图片",
  open: "打开其工作流", download: "下载", send: "发送到…", new: "新节点", close: "关闭", settings: "生成参数", made: "生成时间",
  comparing: "{{before}} 与 {{after}} 对比", edge: "两张图片的分界线",
};
