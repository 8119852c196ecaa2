/** 简体中文 */
import type { Words } from "./en";

export const zh: Words = {
  app: { untitled: "未命名", connecting: "服务器没有响应，正在重试…", worker: "工作进程：{{problem}}" },
  bar: {
    run: "运行", stop: "停止", queue: "{{count}} 个等待", open: "打开", save: "保存", download: "下载", help: "快捷键与帮助",
    theme: "浅色或深色", language: "English", add: "添加节点", arrange: "整理", newTab: "新工作流", closeTab: "关闭 {{name}}",
    tabs: "打开的工作流", tools: "工具", changed: "未保存", percent: "{{percent}} %",
  },
  palette: {
    title: "添加节点", search: "搜索节点", none: "没有与“{{query}}”匹配的节点。", fits: "接受 {{kind}} 的节点", gives: "输出 {{kind}} 的节点",
  },
  node: {
    unknown: "此服务器没有这种节点，将原样保留。", problem: "问题", bypassed: "已绕过", muted: "已静音",
    device: "设备", title: "标题", linked: "来自连线", output: "输出 {{name}}：{{kind}}", input: "输入 {{name}}：{{kind}}",
    pictures: "{{title}} 的图片", picture: "第 {{number}} 张，共 {{count}} 张", running: "运行中", reused: "沿用上次结果",
    upload: "选择或拖入图片", after: "运行之后", randomise: "新随机数", pinned: "已固定",
  },
  after: { fixed: "保持", increment: "加 1", decrement: "减 1", randomize: "随机" },
  group: { title: "分组标题", name: "分组" },
  link: {
    "no-node": "没有节点 {{node}}。",
    "no-output": "{{node}} 没有输出 {{slot}}。",
    "no-input": "{{node}} 没有输入 {{input}}。",
    kind: "{{input}} 需要 {{wanted}}，而这里给出 {{given}}。",
    cycle: "这条连线会形成环路：节点会等待自己。",
  },
  fault: {
    empty: "文件是空的。",
    "no-workflow": "这不是工作流。请打开 vinode 或 ComfyUI 的工作流，或带有工作流的图片。",
    "no-workflow-in-picture": "图片中没有工作流。",
    "no-class": "节点 {{node}} 没有 class_type，无法知道它是什么。",
    "too-new": "文件版本较新（{{got}}）。请更新 vinode 后再打开。",
    "too-large": "文件大于 64 MB。",
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
    saved: "已保存为 {{name}}。", copied: "已复制 {{count}} 个节点。", unknown: "未知的节点类型：{{names}}，将予以保留。",
    offline: "服务器没有响应。", nothing: "还没有可运行的内容：请先添加节点。", full: "浏览器存储已满，请将工作保存到文件。",
  },
  file: {
    title: "打开工作流", here: "从本机选择…", none: "服务器上还没有保存的工作流。", name: "名称",
    saveTitle: "保存到服务器", save: "保存",
  },
  help: { title: "快捷键", close: "关闭", key: "按键", does: "作用", hint: "双击画布添加节点。拖入图片或 JSON 文件即可打开其中的工作流。" },
  find: { title: "查找节点", search: "标题、类型或编号", none: "此工作流中没有与“{{query}}”匹配的节点。" },
  command: {
    palette: "添加节点", run: "运行", "run-front": "优先运行", stop: "停止", undo: "撤销", redo: "重做", copy: "复制", cut: "剪切",
    paste: "粘贴", "paste-linked": "粘贴并保留外部连线", duplicate: "创建副本", delete: "删除", "select-all": "全选",
    "clear-selection": "取消选择", group: "分组", collapse: "折叠或展开", bypass: "绕过", mute: "静音", pin: "固定",
    arrange: "整理", fit: "显示全部", "fit-selection": "显示所选", minimap: "小地图", save: "保存", "save-as": "另存为",
    open: "打开", "new-tab": "新工作流", "next-tab": "下一个工作流", help: "快捷键与帮助", find: "查找节点", theme: "浅色或深色",
    "zoom-in": "放大", "zoom-out": "缩小",
  },
};
