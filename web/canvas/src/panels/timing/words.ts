/** What the panel says, in both languages. */
export const en = { title: "Timing" };
export const zh = { title: "时间" };
