/** What computes here, where each node is to run and ran, and what can be done about it. */
import "./devices.css";
import { Here } from "./Here";
import { Nodes } from "./Nodes";
import { Preflight } from "./Preflight";
import { Selection } from "./Selection";

export default function Devices() {
  return (
    <div className="devices">
      <Here />
      <Selection />
      <Nodes />
      <Preflight />
    </div>
  );
}
