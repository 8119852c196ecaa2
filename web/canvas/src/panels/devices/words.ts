/** What the panel says, in both languages. */
export const en = { title: "Devices" };
export const zh = { title: "设备" };
