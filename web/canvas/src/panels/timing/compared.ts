/** The columns of two runs beside each other. */
export const COMPARED = ["title", "before", "after", "change", "ratio", "where", "phases"] as const;
