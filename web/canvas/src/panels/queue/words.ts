/** What the panel says, in both languages. */
export const en = { title: "Queue" };
export const zh = { title: "队列" };
