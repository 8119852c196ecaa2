/** What the server tells of nodes: GET /vinode/nodes. */
import { type Json, listOf, numberOf, objectOf, textOf } from "./json";

export interface Kind {
  readonly name: string;
  readonly about: string;
  readonly colour: string;
  readonly isModel: boolean;
}

/** Limits of a number; bigint where a double would not be exact. */
export interface Range {
  readonly minimum: number | bigint | null;
  readonly maximum: number | bigint | null;
  readonly step: number | null;
  readonly unit: string;
}

/**
 * An input.
 *
 * widget   it can be filled in on the node
 * options  names to choose from; `closed`: no other is taken; `upload`: a file can be dropped
 */
export interface Input {
  readonly name: string;
  readonly kind: string;
  readonly widget: boolean;
  readonly required: boolean;
  readonly nullable: boolean;
  readonly list: boolean;
  readonly help: string;
  readonly default: Json | undefined;
  readonly range: Range | null;
  readonly options: readonly string[] | null;
  readonly closed: boolean;
  readonly upload: boolean;
  readonly multiline: boolean;
  readonly placeholder: string;
  readonly seed: boolean;
}

export interface Output {
  readonly name: string;
  readonly kind: string;
  readonly list: boolean;
  readonly help: string;
}

export interface NodeType {
  readonly id: string;
  readonly title: string;
  readonly category: string;
  readonly summary: string;
  readonly help: string;
  readonly isOutput: boolean;
  readonly usesDevice: boolean;
  readonly pack: string;
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
}

/** All that the server has. */
export interface Catalogue {
  readonly types: ReadonlyMap<string, NodeType>;
  readonly kinds: ReadonlyMap<string, Kind>;
}

export const NO_CATALOGUE: Catalogue = { types: new Map(), kinds: new Map() };

/** Read the server's answer; what it leaves out counts as absent. */
export function readCatalogue(answer: Json): Catalogue {
  const told = objectOf(answer);
  const kinds = [...objectOf(told.get("kinds"))].map(([name, kind]) => readKind(name, kind));
  const types = listOf(told.get("nodes")).map(readType);
  return {
    types: new Map(types.map((type) => [type.id, type])),
    kinds: new Map(kinds.map((kind) => [kind.name, kind])),
  };
}

function readKind(name: string, told: Json): Kind {
  const kind = objectOf(told);
  const [about, colour] = [textOf(kind.get("about")), textOf(kind.get("colour"))];
  return { name, about, colour, isModel: kind.get("is_model") === true };
}

function readType(told: Json): NodeType {
  const type = objectOf(told);
  const text = (key: string): string => textOf(type.get(key));
  return {
    id: text("id"),
    title: text("title") || text("id"),
    category: text("category"),
    summary: text("summary"),
    help: text("help"),
    isOutput: type.get("is_output") === true,
    usesDevice: type.get("uses_device") === true,
    pack: text("pack"),
    inputs: listOf(type.get("inputs")).map(readInput),
    outputs: listOf(type.get("outputs")).map(readOutput),
  };
}

function readOutput(told: Json): Output {
  const output = objectOf(told);
  const text = (key: string): string => textOf(output.get(key));
  return { name: text("name"), kind: text("kind"), list: output.get("list") === true, help: text("help") };
}

function readInput(told: Json): Input {
  const input = objectOf(told);
  const text = (key: string): string => textOf(input.get(key));
  const is = (key: string): boolean => input.get(key) === true;
  const options = input.get("options");
  return {
    name: text("name"),
    kind: text("kind"),
    widget: is("widget"),
    required: is("required"),
    nullable: is("nullable"),
    list: is("list"),
    help: text("help"),
    default: input.get("default"),
    range: input.has("range") ? readRange(input.get("range")) : null,
    options: options === undefined ? null : listOf(options).map(textOf),
    closed: input.get("closed") !== false,
    upload: is("upload"),
    multiline: is("multiline"),
    placeholder: text("placeholder"),
    seed: is("seed"),
  };
}

function readRange(told: Json | undefined): Range {
  const range = objectOf(told);
  const exact = (key: string): number | bigint | null => {
    const value = range.get(key);
    return typeof value === "bigint" ? value : (numberOf(value) ?? null);
  };
  const step = numberOf(range.get("step")) ?? null;
  return { minimum: exact("minimum"), maximum: exact("maximum"), step, unit: textOf(range.get("unit")) };
}

/** Give what a new node's widget holds before anybody touches it; undefined for a mere port. */
export function initialValue(input: Input): Json | undefined {
  if (!input.widget) return undefined;
  if (input.default !== undefined && input.default !== null) return input.default;
  if (input.nullable) return undefined;
  switch (input.kind) {
    case "COMBO":
      return input.options?.[0];
    case "STRING":
      return "";
    case "BOOLEAN":
      return false;
    case "INT":
    case "FLOAT":
      return input.range?.minimum ?? 0;
    default:
      return undefined;
  }
}
