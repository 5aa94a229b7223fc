// The manuals in a real browser: every instruction and a corpus decoded by the page, search, permalinks, execution,
// the keyboard alone, accessibility, phones, paper, no errors, no network.
// Usage: browser.mjs MANUALS CORPORA AXE. MANUALS has a manual in each folder, CORPORA a file SET.tsv of `isaforge dis --tsv`
// for each of them, and AXE is axe-core's axe.min.js.
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { start } from "./chromium.mjs";

const [manuals, corpora, axe] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url));
const lines = (path) => readFileSync(path, "utf8").split("\n").filter((line) => line && !line.startsWith("#"));

const trouble = [];
const { send, run, until, open, screen, stop } = await start((method, params) => {
  if (method === "Runtime.exceptionThrown") trouble.push(params.exceptionDetails.exception?.description);
  if (method === "Runtime.consoleAPICalled" && params.type === "error") trouble.push(JSON.stringify(params.args));
  if (method === "Log.entryAdded" && params.entry.level === "error") trouble.push(params.entry.text);
  if (method === "Network.requestWillBeSent" && !/^(file|data|blob|about):/.test(params.request.url)) trouble.push("asks for " + params.request.url);
});
const check = (truth, what) => { if (!truth) trouble.push(what); };
const unescape = (text) => text.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&quot;/g, '"').replace(/&amp;/g, "&");

const axeSource = readFileSync(axe, "utf8");
const accessible = async (page) => {
  await run(axeSource + ";0");
  const violations = await run(`axe.run(document, { preload: false }).then(({ violations }) => violations.map((it) => it.id + ": " + it.nodes[0].html))`);
  for (const violation of violations) trouble.push(`${page}: ${violation}`);
};

// What stands in the program of the decoder: code and text, without the blanks within the code.
const program = `[...document.querySelectorAll("tr[data-at]")].map((row) => [row.children[1].textContent.replace(/ /g, ""), row.children[2].textContent])`;
const type = (id, text) => run(`(() => { const field = ${id}; field.value = ${JSON.stringify(text)}; field.dispatchEvent(new Event("input")); })()`);
const source = `document.getElementById("source")`;
const press = (name) => run(`[...document.querySelectorAll(".bar button")].find((it) => it.textContent === "${name}").click()`);

// Every example of every instruction: the address brings it.
const examplesOf = (folder) => readdirSync(join(folder, "i")).flatMap((file) => {
  const page = readFileSync(join(folder, "i", file), "utf8");
  return [...page.matchAll(/data-code>([0-9a-f]+)<\/code><td><code>([^<]*)<\/code>/g)].map(([, code, text]) => [code, unescape(text)]);
});
const examples = async (set, decoder, all) => {
  let decoded = 0;
  for (let at = 0; at < all.length; at += 200) {
    const some = all.slice(at, at + 200);
    for (const list of set === "usc" ? some.map((one) => [one]) : [some]) {
      if (at === 0 && list[0] === some[0]) await open(decoder + "#" + encodeURIComponent(list.map(([code]) => code).join("\n")));
      else await run(`location.hash = ${JSON.stringify("#" + encodeURIComponent(list.map(([code]) => code).join("\n")))}`);
      const rows = await until(set, `(() => { const rows = ${program}; return rows.length === ${list.length} && rows[0][0] === "${list[0][0]}" && rows })()`);
      list.forEach(([code, text], index) => check(rows[index][1] === text, `${set}: ${code} is ${rows[index][1]}, not ${text}`));
      decoded += rows.length;
    }
  }
  return decoded;
};

// Words of a corpus, valid or not, as the crate has them.
const corpus = async (set, decoder) => {
  const all = lines(join(corpora, set + ".tsv")).map((line) => line.split("\t"));
  const good = all.filter(([, kind]) => kind === "ok"), bad = all.filter(([, kind]) => kind !== "ok");
  // The page turns words around when more of them are instructions then. So there are never more of the others.
  const portions = [], size = Math.min(500, good.length);
  for (let at = 0; at < Math.max(good.length, bad.length); at += size) {
    const from = at < good.length ? Math.min(at, good.length - size) : 0;
    portions.push([...good.slice(from, from + size), ...bad.slice(at, at + size)]);
  }
  await open(decoder);
  for (const [number, some] of portions.entries()) {
    await type(source, "");
    await until("nothing", `!document.querySelector("tr[data-at]")`);
    await type(source, some.map(([code]) => code).join("\n"));
    const rows = await until(`${set}, portion ${number}`, `(() => { const rows = ${program}; return rows.length === ${some.length} && rows })()`);
    some.forEach(([code, , text], index) => check(rows[index][0] === code && rows[index][1] === text, `${set}: ${code} is ${rows[index].join(" ")}, not ${text}`));
  }
  return all.length;
};

// What users type is among the first three hits.
const queries = async (set, folder) => {
  const all = lines(join(here, "../page/tests/queries.tsv")).map((line) => line.split("\t")).filter(([of]) => of === set);
  await open(join(folder, "index.html"));
  const input = `document.querySelector("#search input")`;
  for (const [, query, wanted] of all) {
    await type(input, "");
    await run(`document.getElementById("hits").replaceChildren()`);
    await type(input, query);
    const hits = await until(`hits of ${query}`, `(() => { const hits = [...document.querySelectorAll("#hits li code")].map((it) => it.textContent); return hits.length && hits })()`);
    check(hits.slice(0, 3).some((name) => name.startsWith(wanted)), `${set}: ${query} should find ${wanted}, finds ${hits.slice(0, 3)}`);
  }
  // A key leads to the search, and another one from there to the page.
  if (all.length) {
    await run(`document.activeElement.blur(); document.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true }))`);
    check(await run(`document.activeElement === ${input}`), `${set}: / does not lead to the search`);
    const first = await until("a hit", `document.querySelector("#hits a")?.href`);
    await run(`${input}.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }))`);
    await until("the page of the hit", `location.href === ${JSON.stringify(first)}`);
  }
  return all.length;
};

// What is typed is kept in the address, in whatever way the program is changed, and the address brings it back.
const permalinks = async (set, decoder, [[code, text]]) => {
  await open(decoder);
  await type(source, text);
  await until("rows", `document.querySelectorAll("tr[data-at]").length`);
  const kept = () => run("decodeURIComponent(location.hash.slice(1))");
  check(await kept() === text.trim(), `${set}: the address keeps ${await kept()}`);
  const now = `document.querySelector("tr[data-at]").children[1].textContent.replace(/ /g, "")`;
  const before = await run(now);
  check(before === code, `${set}: ${text} is ${before}, not ${code}`);
  // A bit that is flipped twice is as before, even where the first flip leaves no instruction.
  const bit = await run(`document.querySelector(".workbench .bits button").title.split(" ")[1]`);
  const flip = `document.querySelector('.workbench .bits button[title^="bit ${bit} "]').click()`;
  await run(flip);
  const flipped = await run(now), address = await kept();
  check(flipped !== before && address === await run(`${source}.value.trim()`), `${set}: the address keeps ${address}`);
  await open(decoder + "#" + encodeURIComponent(address));
  check(await until("rows", `document.querySelectorAll("tr[data-at]").length && ${now}`) === flipped, `${set}: the address does not bring ${flipped} back`);
  await run(flip);
  check(await run(now) === before, `${set}: two flips of bit ${bit} change ${before}`);
  // The value of a field, too.
  await run(`(() => {
    const field = document.querySelector(".workbench table.values input"), old = field.value;
    field.value = old === "0x1" || old === "1" ? "0" : "1";
    field.dispatchEvent(new Event("change"));
  })()`);
  const other = await until("another instruction", `${now} !== "${before}" && ${now}`);
  check(await kept() === await run(`${source}.value.trim()`), `${set}: a field that is set gives ${other}, and the address ${await kept()}`);
  // And the text of the instruction.
  await run(`(() => { const line = document.querySelector(".workbench .line"); if (line) { line.value = ${JSON.stringify(text)}; line.dispatchEvent(new Event("change")); } })()`);
  await until("the instruction as it was", `document.querySelector(".workbench .line") === null || ${now} === "${before}"`);
  // A mistake has a place, and an address that is no text is one.
  await type(source, "% 0");
  await until("a mistake", `document.querySelector(".workbench .error")?.textContent.includes("^")`);
  await run(`location.hash = "#%"`);
  await until("whatever the address is", `document.getElementById("source").value === "%"`);
};

// Programs of the sets that execute: what is typed, and registers after a number of steps.
const runs = {
  valhall: ["loop: IADD_IMM.i32 r1, r1, #0x1\nISUB.s32 r2, r1, lane_id\nBRANCHZ.eq r2, loop\nNOP.end", 2, ["r1 = 0x1×16", "r2 = 0x1 0x0 0xffffffff 0xfffffffe"]],
  "valhall-2021": ["IADD_IMM.i32 r1, r1, #0x1\nIADD.s32 r2, r1, r1\nNOP.return", 2, ["r1 = 0x1×16", "r2 = 0x2×16"]],
  usc: ["0 : mbyp ft0, sr51\n    mov r1, ft0\n1 : unpck.u32 ft0, r1.e0\n    mov r2, ft0\n2 : fexp r3, r2\n3 : nop.end", 3, ["r1 = 0x0 0x1 0x2 0x3", "r3 = 0x3f800000 0x40000000 0x40800000 0x41000000"]],
  vpu: ["LoadPosition r1.x___\nAndFlags\nAddInt16.zero r2.x___, r1.xxxx, r1.xxxx\nBranch.x 5\nAddInt16 r3.x___, r1.xxxx, r1.xxxx\nSync\nExit", 4, ["r1 = 0x0 0x1 0x2 0x3", "r2 = 0x0 0x2 0x4 0x6"]],
};
const execution = async (set, decoder) => {
  const [text, steps, wanted] = runs[set] ?? [];
  if (!text) return 0;
  await open(decoder);
  await type(source, text);
  await until("the machine", `document.querySelector(".registers")`);
  const registers = () => run(`[...document.querySelectorAll(".registers span")].map((it) => it.textContent)`);
  const states = [await registers()];
  for (let step = 0; step < steps; step++) {
    await press("Step");
    states.push(await registers());
    const found = await run(`document.querySelectorAll(".registers .changed").length`);
    check(found > 0 || JSON.stringify(states.at(-1)) === JSON.stringify(states.at(-2)) , `${set}: step ${step} highlights nothing`);
  }
  for (const value of wanted) check(states.at(-1).some((text) => text.startsWith(value)), `${set}: no ${value} in ${states.at(-1)}`);
  if (set === "vpu") check((await run(`document.querySelector(".workbench").textContent`)).includes("lanes 1–3 masked"), "vpu: nobody is masked");
  for (let step = steps - 1; step >= 0; step--) {
    await press("Back");
    check(JSON.stringify(await registers()) === JSON.stringify(states[step]), `${set}: back at ${step} is not what it was`);
  }
  await press("Run");
  check(/the program has ended/.test(await run(`document.querySelector(".workbench").textContent`)), `${set}: the program does not end`);
  return steps;
};

// Real keys, as a keyboard sends them.
const key = async (name) => {
  const text = { Enter: "\r", " ": " ", "/": "/" }[name], code = { Tab: 9, Enter: 13, Escape: 27, " ": 32, ArrowUp: 38, ArrowDown: 40, "/": 191 }[name];
  const event = { key: name, code: name === " " ? "Space" : name === "/" ? "Slash" : name, windowsVirtualKeyCode: code };
  await send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...event, ...(text && { text }) });
  await send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
};
const focused = (truth) => run(`((it) => ${truth})(document.activeElement)`);
// Tabs until something holds of what has the focus, which can be seen all the way.
const tab = async (what, truth) => {
  for (let press = 0; press < 400; press++) {
    await key("Tab");
    if (await focused(truth)) return;
    check(await focused(`it === document.body || getComputedStyle(it).outlineStyle !== "none"`), `${what}: a focus that nobody sees`);
  }
  check(false, `${what}: the tab key does not lead there`);
};
// The whole manual without a pointer.
const keyboard = async (set, folder, decoder, [[code]]) => {
  const input = `document.querySelector("#search input")`;
  await open(join(folder, "index.html"));
  await key("Tab");
  check(await focused(`it.matches(".skip") && it.getBoundingClientRect().top >= 0`), `${set}: the first stop does not skip the navigation`);
  await key("Enter");
  check(await run(`location.hash === "#main"`), `${set}: nothing is skipped`);
  await key("/");
  check(await focused(`it === ${input} && !it.value`), `${set}: / does not lead to the search`);
  await send("Input.insertText", { text: "a" });
  await until("hits", `document.querySelectorAll("#hits li").length > 1`);
  const chosen = () => run(`[...document.querySelectorAll("#hits li")].findIndex((it) => it.ariaSelected === "true")`);
  const stops = [await chosen()];
  for (const name of ["ArrowDown", "ArrowUp", "ArrowUp", "ArrowDown"]) { await key(name); stops.push(await chosen()); }
  const last = await run(`document.querySelectorAll("#hits li").length - 1`);
  check(JSON.stringify(stops) === JSON.stringify([0, 1, 0, last, 0]), `${set}: arrows lead to ${stops}`);
  await key("Escape");
  check(await run(`document.getElementById("hits").hidden`), `${set}: Escape leaves the hits open`);
  await tab(`${set}: an instruction`, `it.matches("main a")`);

  await open(decoder);
  await tab(`${set}: the decoder`, `it.id === "source"`);
  await send("Input.insertText", { text: [code, code].join("\n") });
  await until("rows", `document.querySelectorAll("tr[data-at]").length >= 2`);
  await tab(`${set}: the second row`, `it.matches("tr[data-at]:last-child")`);
  await key("Enter");
  check(await focused(`it.ariaSelected === "true"`), `${set}: Enter does not select a row`);
  await tab(`${set}: a bit`, `it.matches(".bits button")`);
  const [before, bit] = [await run(`location.hash`), await focused("it.title")];
  for (const wanted of [false, true]) {
    await key(" ");
    await until("the bit again", `document.activeElement.title?.split(" ")[1] === ${JSON.stringify(bit.split(" ")[1])}`);
    check((await run(`location.hash`) === before) === wanted, `${set}: the space bar does not flip ${bit}`);
  }
  await tab(`${set}: a field`, `it.matches(".values input")`);
};

const pagesOf = (folder) => {
  const pages = readdirSync(folder).filter((file) => file.endsWith(".html"));
  const instructions = readdirSync(join(folder, "i"));
  return [...pages, ...[0, .3, .6, .9].map((part) => "i/" + instructions[Math.floor(part * instructions.length)])];
};
// Accessible in light and dark; nothing is wider than a phone; complete without scripts.
const pages = async (set, folder, [[code]]) => {
  for (const page of pagesOf(folder)) {
    for (const [width, dark] of [[1200, false], [1200, true], [390, false]]) {
      await screen(width, dark);
      await open(join(folder, page));
      if (page === "decoder.html") {
        await run(`location.hash = ${JSON.stringify("#" + code)}`);
        await until("rows", `document.querySelectorAll("tr[data-at]").length`);
      }
      await accessible(`${set}/${page}${dark ? ", dark" : ""}, ${width} wide`);
      const wide = await run("document.documentElement.scrollWidth");
      check(wide <= width, `${set}/${page}: ${wide} pixels wide on a screen of ${width}`);
    }
    await send("Emulation.setScriptExecutionDisabled", { value: true });
    await open(join(folder, page));
    const still = await run(`document.querySelector("h1")?.textContent.length > 0 && document.getElementById("main").innerText.length`);
    check(still > 60, `${set}/${page}: nothing to read without scripts`);
    await send("Emulation.setScriptExecutionDisabled", { value: false });
  }
  await screen(1200, false);
};

// On paper: neither navigation nor controls, nothing cut at its edge, and no picture on two sheets.
const paper = async (set, folder, [[code]]) => {
  // A4 at 96 dots an inch with margins of one centimetre.
  const width = 718;
  for (const page of pagesOf(folder)) {
    await screen(width, false);
    await open(join(folder, page));
    if (page === "decoder.html") {
      await run(`location.hash = ${JSON.stringify("#" + code)}`);
      await until("rows", `document.querySelectorAll("tr[data-at]").length`);
    }
    await send("Emulation.setEmulatedMedia", { media: "print" });
    const found = await run(`(() => {
      const style = (it) => getComputedStyle(it), shown = (it) => it.getClientRects().length > 0;
      const name = (it) => it.tagName.toLowerCase() + (it.id ? "#" + it.id : "") + (it.classList.length ? "." + it.classList[0] : "");
      const all = [...document.body.querySelectorAll("*")];
      return {
        controls: all.filter((it) => it.matches("nav, nav *, #search *, .skip, .bar *, #decode *") && shown(it)).map(name),
        cut: all.filter((it) => shown(it) && (/auto|scroll|hidden/.test(style(it).overflowX) && !it.matches(".vh, .bits td, .bits td *, textarea, input")
          ? it.scrollWidth > it.clientWidth + 1 : it.getBoundingClientRect().right > ${width} + 1)).map(name),
        torn: all.filter((it) => it.matches(".encoding, .part, main pre, main table") && style(it).breakInside !== "avoid").map(name),
      };
    })()`);
    for (const [what, elements] of Object.entries(found)) check(elements.length === 0, `${set}/${page} on paper: ${what}: ${[...new Set(elements)].slice(0, 5)}`);
    const { data } = await send("Page.printToPDF", { paperWidth: 8.27, paperHeight: 11.69, marginLeft: .39, marginRight: .39, printBackground: true });
    check(Buffer.from(data, "base64").subarray(0, 5).toString() === "%PDF-", `${set}/${page}: no PDF`);
    await send("Emulation.setEmulatedMedia", { media: "" });
  }
  await screen(1200, false);
};

try {
  let asked = 0;
  for (const set of readdirSync(manuals)) {
    const folder = join(manuals, set), decoder = join(folder, "decoder.html");
    const all = examplesOf(folder);
    const counts = [await examples(set, decoder, all), await corpus(set, decoder), await queries(set, folder)];
    asked += counts[2];
    await permalinks(set, decoder, all);
    const steps = await execution(set, decoder);
    await keyboard(set, folder, decoder, all);
    await pages(set, folder, all);
    await paper(set, folder, all);
    console.log(`${set}: ${counts[0]} examples and ${counts[1]} of a corpus decoded, ${counts[2]} queries, ${steps} steps, ${trouble.length} mistakes so far`);
  }
  check(asked >= 60, `${asked} queries`);
} finally {
  await stop();
}
for (const text of [...new Set(trouble)].slice(0, 40)) console.error(text);
process.exit(trouble.length ? 1 : 0);
