// Pictures of five pages of the manuals: light, dark, and on a phone.
// Usage: pictures.mjs MANUALS FOLDER [DOCS]. MANUALS has a manual in each folder; into DOCS go the two that README shows.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { start } from "./chromium.mjs";

const [manuals, folder, docs] = process.argv.slice(2).map((path) => resolve(path));
const { send, run, until, open, screen, stop } = await start();

// A program with a branch, some steps into its execution.
const program = "loop:\nIADD_IMM.i32 r1, r1, #0x1\nFMA.f32 r0, ^r0, u1, u0\nISUB.s32 r2, r1, lane_id\nBRANCHZ.eq r2, loop\nNOP.end";
const type = async (text) => {
  await run(`(() => { const source = document.getElementById("source"); source.value = ${JSON.stringify(text)}; source.dispatchEvent(new Event("input")); })()`);
  await until("rows", `document.querySelectorAll("tr[data-at]").length`);
};
const step = async (count) => {
  await until("the machine", `document.querySelector(".bar button")`);
  for (let k = 0; k < count; k++) await run(`[...document.querySelectorAll(".bar button")].find((it) => it.textContent === "Step").click()`);
};
const shown = {
  index: ["valhall/index.html"],
  instruction: ["valhall/i/fma-f32.html"],
  decoder: ["valhall/decoder.html", async () => { await type(program); await step(7); }],
  group: ["usc/decoder.html", async () => { await type("fmad ft0, sh5, i3, sh9 | mov r0, ft0"); }],
  opcodes: ["valhall/opcodes.html"],
};

const picture = async (width, dark, height, place) => {
  await run("document.activeElement?.blur(); scrollTo(0, 0)");
  const clip = { x: 0, y: 0, width, height, scale: 1 };
  const { data } = await send("Page.captureScreenshot", { format: "png", clip, optimizeForSpeed: false });
  writeFileSync(place, Buffer.from(data, "base64"));
};
try {
  mkdirSync(folder, { recursive: true });
  for (const [name, [page, act]] of Object.entries(shown)) {
    for (const [kind, width, dark] of [["light", 1200, false], ["dark", 1200, true], ["phone", 390, false]]) {
      await screen(width, dark, width < 600 ? 844 : 900);
      await open(join(manuals, page));
      await act?.();
      const height = Math.min(await run("document.documentElement.scrollHeight"), width < 600 ? 1700 : 1500);
      await screen(width, dark, height);
      await picture(width, dark, height, join(folder, `${name}-${kind}.png`));
    }
  }
  for (const [name, dark, height] of docs ? [["instruction", false, 760], ["decoder", true, 810]] : []) {
    await screen(1000, dark, height);
    const [page, act] = shown[name];
    await open(join(manuals, page));
    await act?.();
    await picture(1000, dark, height, join(docs, `manual-${name}.png`));
  }
} finally {
  await stop();
}
