import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// `npm run dev` sends what is not the canvas's own to a server started beside it.
const server = process.env["VINODE"] ?? "http://127.0.0.1:8188";

export default defineConfig({
  base: "./",
  plugins: [react()],
  // The server's policy lets no data: address be fetched, so pictures stay files.
  build: { outDir: process.env["CANVAS_OUT"] ?? "../static", emptyOutDir: true, assetsInlineLimit: 0, target: "es2022", license: { fileName: "licenses.md" } },
  server: {
    proxy: Object.fromEntries(
      ["/vinode", "/api", "/ws"].map((path) => [path, { target: server, changeOrigin: true, ws: path === "/ws" }]),
    ),
  },
  // Node 20 has the WebSocket of browsers only where it is asked for.
  test: { environment: "node", include: ["test/**/*.test.ts"], execArgv: ["--experimental-websocket"], testTimeout: 30_000 },
});
