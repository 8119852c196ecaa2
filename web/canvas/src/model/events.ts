/** Everything that can be done to a workflow. */
import type { Given, Group, InputPlace, Link, Mode, Node, NodeId, Point } from "./document";
import type { Json } from "./json";

export type Event =
  | { readonly type: "add"; readonly nodes: readonly Node[]; readonly groups?: readonly Group[] }
  | { readonly type: "move"; readonly nodes: ReadonlyMap<NodeId, Point>; readonly groups?: ReadonlyMap<string, Point> }
  | { readonly type: "link"; readonly from: Link; readonly to: InputPlace }
  | { readonly type: "unlink"; readonly to: InputPlace; readonly value: Json | undefined }
  | { readonly type: "set-input"; readonly to: InputPlace; readonly value: Given | undefined }
  | { readonly type: "set-meta"; readonly nodes: readonly NodeId[]; readonly key: string; readonly value: Json | undefined }
  | { readonly type: "set-mode"; readonly nodes: readonly NodeId[]; readonly mode: Mode }
  | { readonly type: "delete"; readonly nodes: readonly NodeId[]; readonly groups: readonly string[] }
  | { readonly type: "change-group"; readonly id: string; readonly change: Partial<Omit<Group, "id">> }
  | { readonly type: "reroute"; readonly id: NodeId; readonly to: InputPlace; readonly pos: Point }
  | { readonly type: "insert"; readonly node: Node; readonly to: InputPlace; readonly slot: number }
  | { readonly type: "all"; readonly events: readonly Event[] };
