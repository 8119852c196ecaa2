/** What the panel says, in both languages. */
export const en = { title: "Models" };
export const zh = { title: "模型" };
