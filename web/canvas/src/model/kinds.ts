/** Which kinds fit which: the rule of the server (graph/kinds.py), held equal by a test. */

export const ANY = "*";
const WIDER = new Set(["INT FLOAT", "STRING COMBO", "COMBO STRING"]);

/** Say whether an output of one kind may be linked to an input of another. */
export function fits(given: string, wanted: string): boolean {
  if (given === wanted || given === ANY || wanted === ANY) return true;
  return WIDER.has(`${given} ${wanted}`);
}
