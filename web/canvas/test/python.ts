/** Asks the Python side, where there is one: PYTHON, the checkout's .venv, or python3. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const VENV = ["bin/python", "Scripts/python.exe"].map((path) => `${ROOT}.venv/${path}`).filter(existsSync);

function ask(python: string, code: string, input = ""): string {
  return execFileSync(python, ["-c", code], { input, cwd: ROOT, encoding: "utf8", stdio: ["pipe", "pipe", "ignore"] });
}

function works(python: string): boolean {
  try {
    return ask(python, "import vinode.graph.workflow; print('yes')").includes("yes");
  } catch {
    return false;
  }
}

const found = [process.env["PYTHON"] ?? "", ...VENV, "python3"].find((python) => python !== "" && works(python));

export const hasPython = found !== undefined;

/** Run code that reads its input from stdin and prints; gives what it printed. */
export function python(code: string, input = ""): string {
  if (found === undefined) throw new Error("no Python with vinode: set PYTHON");
  return ask(found, code, input);
}

/** Start `vinode serve` with options; gives the process and its address once it answers. */
export async function serve(options: readonly string[]): Promise<{ process: ChildProcess; address: string }> {
  if (found === undefined) throw new Error("no Python with vinode: set PYTHON");
  const started = spawn(found, ["-m", "vinode", "serve", ...options], { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  const address = await new Promise<string>((done, failed) => {
    const hear = (chunk: Buffer): void => {
      said += chunk.toString();
      const told = /http:\/\/[\d.]+:\d+/.exec(said);
      if (told) done(told[0]);
    };
    started.stdout.on("data", hear);
    started.stderr.on("data", hear);
    started.on("exit", () => failed(new Error(`the server ended: ${said}`)));
  });
  return { process: started, address };
}
