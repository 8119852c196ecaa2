/** What the panel says, in both languages. */
export const en = { title: "Results" };
export const zh = { title: "结果" };
