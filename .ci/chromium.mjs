// A headless Chromium, spoken to over its pipe.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// Starts the browser. `told` is called with each event of the protocol.
export const start = async (told = () => {}) => {
  const profile = mkdtempSync(join(tmpdir(), "manual-"));
  const chromium = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
    "--remote-debugging-pipe", "--user-data-dir=" + profile, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

  // The protocol: JSON with a zero behind it, both ways.
  let number = 0, buffer = "";
  const waiting = new Map();
  const speak = (method, params = {}, sessionId) => new Promise((done, failed) => {
    waiting.set(++number, { done, failed });
    chromium.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + "\0");
  });
  chromium.stdio[4].setEncoding("utf8").on("data", (chunk) => {
    buffer += chunk;
    for (let end; (end = buffer.indexOf("\0")) >= 0; buffer = buffer.slice(end + 1)) {
      const message = JSON.parse(buffer.slice(0, end));
      if (message.method) told(message.method, message.params);
      const { done, failed } = waiting.get(message.id) ?? {};
      waiting.delete(message.id);
      if (message.error) failed?.(new Error(message.error.message)); else done?.(message.result);
    }
  });

  const { targetInfos } = await speak("Target.getTargets");
  const page = targetInfos.find((it) => it.type === "page").targetId;
  const { sessionId } = await speak("Target.attachToTarget", { targetId: page, flatten: true });
  const send = (method, params = {}) => speak(method, params, sessionId);
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(domain + ".enable");

  const run = async (expression) => {
    const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  // Waits until an expression is true, and gives its value.
  const until = async (what, expression) => {
    for (let round = 0; round < 600; round++) {
      // A page that is left in between has no answer.
      const value = await run(expression).catch((error) => { if (!/navigated|context/.test(error.message)) throw error; });
      if (value) return value;
      await new Promise((again) => setTimeout(again, 50));
    }
    throw new Error(`${what}: it did not happen`);
  };
  const open = async (path) => {
    // A page that differs in its fragment alone would not be loaded again.
    await send("Page.navigate", { url: "about:blank" });
    await until("a blank page", `location.href === "about:blank"`);
    await send("Page.navigate", { url: "file://" + path });
    await until(path, `document.readyState === "complete" && location.href !== "about:blank"`);
  };
  // A screen so wide, light or dark.
  const screen = async (width, dark, height = 900) => {
    await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
    await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
  };
  const stop = async () => {
    chromium.kill();
    await new Promise((done) => chromium.on("exit", done));
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return { send, run, until, open, screen, stop };
};
