/** 简体中文 */
import { zh as devices } from "../panels/devices/words";
import { zh as models } from "../panels/models/words";
import { zh as queue } from "../panels/queue/words";
import { zh as results } from "../panels/results/words";
import { zh as timing } from "../panels/timing/words";
import type { Words } from "./en";

export const zh: Words = {
  app: { untitled: "未命名", connecting: "服务器没有响应，正在重试…", worker: "工作进程：{{problem}}" },
  example: { title: "示例", textToImage: "文字生成图片", imageToImage: "重画一张图片", inpaint: "重画图片的一部分", detectFaces: "查找人脸" },
  bar: {
    run: "运行", stop: "停止", queue: "{{count}} 个等待", open: "打开", save: "保存", download: "下载", help: "快捷键与帮助",
    theme: "浅色或深色", language: "English", add: "添加节点", arrange: "整理", newTab: "新工作流", closeTab: "关闭 {{name}}",
    tabs: "打开的工作流", tools: "工具", changed: "未保存", percent: "{{percent}} %",
    faults_one: "{{count}} 个错误", faults_other: "{{count}} 个错误",
    closePanel: "关闭{{title}}", loading: "正在加载…", panelSize: "面板大小", panels: "面板",
  },
  palette: {
    title: "添加节点", search: "搜索节点", none: "没有与“{{query}}”匹配的节点。", fits: "接受 {{kind}} 的节点", gives: "输出 {{kind}} 的节点",
  },
  node: {
    carriedNothing: "尚无数据：请先运行工作流。", carried: "传递了 {{value}}",
    unknown: "此服务器没有这种节点，将原样保留。", problem: "问题", bypassed: "已绕过", muted: "已静音",
    device: "设备", title: "标题", linked: "来自连线", output: "输出 {{name}}：{{kind}}", input: "输入 {{name}}：{{kind}}",
    pictures: "{{title}} 的图片", picture: "第 {{number}} 张，共 {{count}} 张", running: "运行中", reused: "沿用上次结果",
    upload: "选择或拖入图片", after: "运行之后", randomise: "新随机数", pinned: "已固定",
    spent: "共 {{total}}：{{parts}}", before: "上次运行 {{time}}", ranOn: "在 {{device}} 上运行", ranBefore: "此前请求别的设备时在 {{device}} 上运行",
    absent: "本机没有 {{device}}，只有 {{here}}，节点将在那里运行。`vinode doctor` 会说明缺少什么。",
    fallback: "请求 {{requested}}，实际使用 {{actual}}", fix: "解决办法：{{fix}}", wires: "接入 {{title}} 的连线", noWire: "无连线", fetch: "下载模型 {{name}}",
  },
  phase: {
    wait: "等待", convert: "转换", load: "加载", compile: "编译", upload: "传入设备", compute: "计算", download: "从设备取回", host: "Python 代码",
  },
  after: { fixed: "保持", increment: "加 1", decrement: "减 1", randomize: "随机" },
  group: { colour: "分组颜色", title: "分组标题", name: "分组" },
  link: {
    "no-node": "没有节点 {{node}}。",
    "no-output": "{{node}} 没有输出 {{slot}}。",
    "no-input": "{{node}} 没有输入 {{input}}。",
    kind: "{{input}} 需要 {{wanted}}，而这里给出 {{given}}。",
    cycle: "这条连线会形成环路：节点会等待自己。",
  },
  problem: {
    "unknown-type": "此服务器没有 {{type}} 类型的节点。",
    "missing-input": "缺少 {{input}}：请提供 {{kind}}。",
    "not-fed": "{{input}} 没有输入：与它相连的节点已被绕过，且没有可传递的内容。",
    "needs-link": "{{input}} 需要通过连线提供 {{kind}}。",
    "not-whole": "{{input}} 需要整数，而不是 {{got}}。",
    "not-a-number": "{{input}} 需要数字，而不是 {{got}}。",
    "not-true-or-false": "{{input}} 只能为真或假，而不是 {{got}}。",
    "not-a-text": "{{input}} 需要文本。",
    "too-small": "{{input}} 不得小于 {{minimum}} {{unit}}，现为 {{got}}。",
    "too-large": "{{input}} 不得大于 {{maximum}} {{unit}}，现为 {{got}}。",
    "not-in-list": "{{input}} 没有选项 {{got}}。",
    "no-output-node": "不会产生任何结果：请添加一个保存或显示结果的节点。",
  },
  fault: {
    empty: "文件是空的。",
    "no-workflow": "这不是工作流。请打开 vinode 或 ComfyUI 的工作流，或带有工作流的图片。",
    "no-workflow-in-picture": "图片中没有工作流。",
    "no-class": "节点 {{node}} 没有 class_type，无法知道它是什么。",
    "too-new": "文件版本较新（{{got}}）。请更新 vinode 后再打开。",
    "too-large": "文件大于 64 MB。",
    "too-many-nodes": "工作流超过 {{most}} 个节点（子图每次使用都计入）。",
    "no-object": "节点 {{node}} 的 {{key}} 不是对象，文件已损坏。",
    "json-tail": "不是 JSON：第 {{line}} 行第 {{column}} 列之后还有内容。",
    "json-deep": "第 {{line}} 行的括号嵌套过深。",
    "json-key": "不是 JSON：第 {{line}} 行第 {{column}} 列缺少键。",
    "json-twice": "键“{{got}}”在第 {{line}} 行重复，请只保留一个。",
    "json-colon": "不是 JSON：第 {{line}} 行第 {{column}} 列缺少冒号。",
    "json-comma": "不是 JSON：第 {{line}} 行第 {{column}} 列缺少逗号或括号。",
    "json-string": "不是 JSON：第 {{line}} 行第 {{column}} 列的文本没有结束，或转义有误。",
    "json-value": "不是 JSON：第 {{line}} 行第 {{column}} 列缺少值。",
    "json-number": "第 {{line}} 行第 {{column}} 列的数字过大。",
  },
  note: {
    fetched: "模型 {{name}} 已就绪。",
    saved: "已保存为 {{name}}。", copied: "已复制 {{count}} 个节点。", unknown: "未知的节点类型：{{names}}，将予以保留。",
    offline: "服务器没有响应。", nothing: "还没有可运行的内容：请先添加节点。", full: "浏览器存储已满，请将工作保存到文件。",
  },
  file: {
    title: "打开工作流", here: "从本机选择…", none: "服务器上还没有保存的工作流。", name: "名称",
    saveTitle: "保存到服务器", save: "保存",
  },
  help: {
    change: "更改按键：{{command}}", press: "请按下按键：{{command}}", reset: "恢复所有默认按键",
    title: "快捷键", close: "关闭", key: "按键", does: "作用", hint: "双击画布添加节点。拖入图片或 JSON 文件即可打开其中的工作流。" },
  settings: {
    title: "此浏览器的设置", snap: "节点对齐到网格", drag: "拖动画布为框选，滚轮为平移", minimap: "显示小地图",
  },
  about: { takes: "输入", gives: "输出" },
  mask: {
    title: "绘制遮罩", size: "画笔", soft: "柔和度", erase: "擦除", invert: "反转", feather: "羽化边缘", clear: "清除", undo: "撤销",
    save: "使用", picture: "图片及其红色遮罩",
  },
  menu: {
    title: "操作", left: "左对齐", right: "右对齐", top: "顶部对齐", bottom: "底部对齐", middle: "垂直居中排列",
    centre: "水平居中排列", across: "水平等距", down: "垂直等距",
  },
  find: { title: "查找节点", search: "标题、类型或编号", none: "此工作流中没有与“{{query}}”匹配的节点。" },
  command: {
    palette: "添加节点", run: "运行", "run-front": "优先运行", "run-selected": "只运行所选", stop: "停止", undo: "撤销", redo: "重做", copy: "复制", cut: "剪切",
    paste: "粘贴", "paste-linked": "粘贴并保留外部连线", duplicate: "创建副本", delete: "删除", "select-all": "全选",
    "clear-selection": "取消选择", group: "分组", collapse: "折叠或展开", bypass: "绕过", mute: "静音", pin: "固定", wires: "接入节点的连线",
    arrange: "整理", fit: "显示全部", "fit-selection": "显示所选", minimap: "小地图", save: "保存", "save-as": "另存为",
    open: "打开", "new-tab": "新工作流", "next-tab": "下一个工作流", help: "快捷键与帮助", find: "查找节点", theme: "浅色或深色",
    "zoom-in": "放大", "zoom-out": "缩小",
    about: "节点说明", "panel-timing": "时间", "panel-queue": "队列", "panel-results": "结果", "panel-devices": "设备", "panel-models": "模型",
  },
  timing, queue, results, devices, models,
};
