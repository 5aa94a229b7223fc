// The manuals in a real browser: every instruction decoded by the page, search, permalinks, accessibility, no errors.
// Usage: browser.mjs FOLDER AXE, where FOLDER has a manual in each folder and AXE is axe-core's axe.min.js.
import { spawn } from "node:child_process";
import { readFileSync, readdirSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [folder, axe] = process.argv.slice(2).map((path) => resolve(path));
const profile = mkdtempSync(join(tmpdir(), "manual-"));
const chromium = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
  "--user-data-dir=" + profile, "about:blank"], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });

// The protocol: JSON with a zero behind it, both ways.
let number = 0, buffer = "";
const waiting = new Map(), trouble = [];
const send = (method, params = {}, sessionId) => new Promise((done, failed) => {
  waiting.set(++number, { done, failed });
  chromium.stdio[3].write(JSON.stringify({ id: number, method, params, sessionId }) + "\0");
});
chromium.stdio[4].setEncoding("utf8").on("data", (chunk) => {
  buffer += chunk;
  for (let end; (end = buffer.indexOf("\0")) >= 0; buffer = buffer.slice(end + 1)) {
    const message = JSON.parse(buffer.slice(0, end));
    if (message.method === "Runtime.exceptionThrown") trouble.push(message.params.exceptionDetails.exception?.description);
    if (message.method === "Runtime.consoleAPICalled" && message.params.type === "error") trouble.push(JSON.stringify(message.params.args));
    if (message.method === "Log.entryAdded" && message.params.entry.level === "error") trouble.push(message.params.entry.text);
    const { done, failed } = waiting.get(message.id) ?? {};
    waiting.delete(message.id);
    if (message.error) failed?.(new Error(message.error.message)); else done?.(message.result);
  }
});

const { targetInfos } = await send("Target.getTargets");
const { sessionId } = await send("Target.attachToTarget", { targetId: targetInfos.find((it) => it.type === "page").targetId, flatten: true });
for (const domain of ["Page", "Runtime", "Log"]) await send(domain + ".enable", {}, sessionId);
const run = async (expression) => {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true }, sessionId);
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
};
const until = async (what, expression) => {
  for (let round = 0; round < 300; round++) {
    const value = await run(expression);
    if (value) return value;
    await new Promise((again) => setTimeout(again, 100));
  }
  throw new Error(`${what}: it did not happen`);
};
const open = async (path) => {
  // A page that differs in its fragment alone would not be loaded again.
  await send("Page.navigate", { url: "about:blank" }, sessionId);
  await send("Page.navigate", { url: "file://" + path }, sessionId);
  await until(path, `document.readyState === "complete" && location.href !== "about:blank"`);
};
const check = (truth, what) => { if (!truth) trouble.push(what); };
const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&amp;/g, "&");

const accessible = async (path) => {
  await run(readFileSync(axe, "utf8") + ";0");
  const { violations } = await run(`axe.run(document, { preload: false }).then(({ violations }) => ({ violations: violations.map((it) => it.id + ": " + it.nodes[0].html) }))`);
  for (const violation of violations) trouble.push(`${path}: ${violation}`);
};

try {
  for (const set of readdirSync(folder)) {
    const examples = [];
    for (const file of readdirSync(join(folder, set, "i"))) {
      const page = readFileSync(join(folder, set, "i", file), "utf8");
      for (const [, code, text] of page.matchAll(/data-code>([0-9a-f]+)<\/code><\/td><td><code>([^<]*)<\/code>/g)) {
        examples.push([code, unescape(text)]);
      }
    }
    // Every example of every instruction, in portions that a fragment holds.
    let decoded = 0;
    for (let at = 0; at < examples.length; at += 200) {
      const some = examples.slice(at, at + 200);
      for (const list of set === "usc" ? some.map((one) => [one]) : [some]) {
        await open(join(folder, set, "decoder.html") + "#" + encodeURIComponent(list.map(([code]) => code).join("\n")));
        const rows = await until(set, `(() => { const rows = [...document.querySelectorAll("tr[data-at]")]; return rows.length && rows.map((row) => row.children[2].textContent) })()`);
        list.forEach(([code, text], index) => check(rows[index] === text, `${set}: ${code} is ${rows[index]}, not ${text}`));
        decoded += rows.length;
      }
    }
    console.log(`${set}: ${decoded} examples decoded`);
    // What is typed is kept in the address, and the address brings it back.
    await open(join(folder, set, "decoder.html"));
    await run(`(() => { const source = document.getElementById("source"); source.value = ${JSON.stringify(examples[0][1])}; source.dispatchEvent(new Event("input")); })()`);
    await until("rows", `document.querySelectorAll("tr[data-at]").length`);
    const kept = await run("location.hash");
    check(decodeURIComponent(kept.slice(1)) === examples[0][1].trim(), `${set}: the address keeps ${kept}`);
    // A bit that is flipped twice is as before.
    const code = await run(`document.querySelector("tr[data-at]").children[1].textContent.replace(/ /g, "")`);
    for (let time = 0; time < 2; time++) await run(`document.querySelector(".workbench .bits button").click()`);
    check(await run(`document.querySelector("tr[data-at]").children[1].textContent.replace(/ /g, "")`) === code, `${set}: two flips change ${code}`);
    // The search answers.
    await run(`(() => { const input = document.querySelector("#search input"); input.value = "branch"; input.dispatchEvent(new Event("input")); })()`);
    await until("hits", `document.querySelectorAll("#hits li").length`);
    const pages = readdirSync(join(folder, set)).filter((file) => file.endsWith(".html"));
    for (const page of [...pages, "i/" + readdirSync(join(folder, set, "i"))[0]]) {
      await open(join(folder, set, page));
      if (page === "decoder.html") {
        await run(`location.hash = ${JSON.stringify("#" + examples[0][0])}`);
        await until("rows", `document.querySelectorAll("tr[data-at]").length`);
      }
      if (existsSync(axe)) await accessible(`${set}/${page}`);
    }
  }
} finally {
  chromium.kill();
  await new Promise((done) => chromium.on("exit", done));
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
for (const text of [...new Set(trouble)].slice(0, 40)) console.error(text);
process.exit(trouble.length ? 1 : 0);
