/** What the panel says, in both languages. */
export const en = {
  title: "Devices", here: "What is here", driver: "driver {{version}}", simulated: "simulated", none: "OpenVINO finds no device.",
  worker: "worker {{phase}}, {{memory}}, restarted {{restarts}} times", look: "Look again", doctor: "What is missing?", asking: "Trying drivers…",
  phase: { starting: "is starting", ready: "waits", busy: "works", waiting: "failed to start", stopped: "has stopped" },
  state: { ok: "fine", missing: "missing", broken: "broken", old: "too old", "not reached": "not reached" },
  put: "Put nodes on devices", all: "All nodes", selected_one: "{{count}} selected node", selected_other: "{{count}} selected nodes",
  preset: { AUTO: "Let vinode choose", "all-npu": "All on the NPU", "all-gpu": "All on the GPU", "unet-npu": "UNet NPU, VAE GPU, rest CPU" },
  device: "Device", strict: "never elsewhere", precision: "Precision", performance: "Performance", priority: "Priority", own: "the device's own",
  nodes: "Where nodes run", column: { node: "Node", asked: "Asked", would: "Would run on", ran: "Ran on" }, ops_one: "{{count}} operation", ops_other: "{{count}} operations",
  nobody: "No node here uses a model that the preset places.", unchanged: "Nothing had to be changed.", changed: "Changed: {{what}}.",
  preflight: "Would it run on an NPU?", platform: "NPU", ask: "Ask Intel's compiler", giveUp: "Stop waiting", compiling: "The compiler works; minutes, the first time…",
  estimate: "In about {{time}}, the compiler estimates.", fits: "All of it would run on NPU {{platform}}.", unfit: "Not all of it would run on NPU {{platform}}.",
};
export const zh: typeof en = {
  title: "设备", here: "本机设备", driver: "驱动 {{version}}", simulated: "模拟", none: "OpenVINO 没有找到设备。",
  worker: "工作进程{{phase}}，{{memory}}，重启 {{restarts}} 次", look: "重新查找", doctor: "缺少什么？", asking: "正在检查驱动…",
  phase: { starting: "正在启动", ready: "空闲", busy: "工作中", waiting: "启动失败", stopped: "已停止" },
  state: { ok: "正常", missing: "缺失", broken: "损坏", old: "过旧", "not reached": "未检查到" },
  put: "把节点放到设备上", all: "所有节点", selected_one: "选中 {{count}} 个节点", selected_other: "选中 {{count}} 个节点",
  preset: { AUTO: "由 vinode 选择", "all-npu": "全部用 NPU", "all-gpu": "全部用 GPU", "unet-npu": "UNet 用 NPU，VAE 用 GPU，其余 CPU" },
  device: "设备", strict: "绝不换设备", precision: "精度", performance: "性能", priority: "优先级", own: "设备默认",
  nodes: "节点运行位置", column: { node: "节点", asked: "请求", would: "将运行于", ran: "实际运行于" }, ops_one: "{{count}} 个算子", ops_other: "{{count}} 个算子",
  nobody: "这里没有该预设所涉及的模型节点。", unchanged: "无需更改。", changed: "已更改：{{what}}。",
  preflight: "能在 NPU 上运行吗？", platform: "NPU 型号", ask: "询问 Intel 编译器", giveUp: "不再等待", compiling: "编译器正在工作；首次需要几分钟…",
  estimate: "编译器估计约 {{time}}。", fits: "全部可以在 NPU {{platform}} 上运行。", unfit: "并非全部可以在 NPU {{platform}} 上运行。",
};
