/** The socket: opened again, after growing pauses, for as long as the page lives. */
import { type Frame, readFrame } from "./frames";

const [SHORTEST, LONGEST] = [500, 15_000]; // ms

export interface Listener {
  readonly frame: (frame: Frame) => void;
  readonly state: (open: boolean) => void;
}

/** How long to wait before try number `tries`, spread so that many pages do not come at once. */
export function pause(tries: number, random: number): number {
  return Math.min(LONGEST, SHORTEST * 2 ** tries) * (0.5 + random / 2);
}

/** Listen until the function that is given back is called. */
export function listen(client: string, listener: Listener): () => void {
  let tries = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket | undefined;
  let ended = false;

  function open(): void {
    const address = new URL(`./ws?clientId=${encodeURIComponent(client)}&vinode=1`, window.location.href);
    address.protocol = address.protocol.replace("http", "ws");
    socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      tries = 0;
      const data = { supports_preview_metadata: true, vinode: true };
      socket?.send(JSON.stringify({ type: "feature_flags", data }));
      listener.state(true);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      const frame = readFrame(event.data);
      if (frame) listener.frame(frame);
    };
    socket.onclose = () => {
      if (ended) return;
      listener.state(false);
      timer = setTimeout(open, pause(tries, Math.random()));
      tries += 1;
    };
  }

  open();
  return () => {
    ended = true;
    clearTimeout(timer);
    socket?.close();
  };
}
