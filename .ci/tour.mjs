// The pictures of the command that README shows, into docs/: what `explain` prints, a graph, and the debugger.
// Usage: tour.mjs path/to/isaforge [--check]
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [command, check] = process.argv.slice(2);
const output = (program, ...given) =>
  execFileSync(program, given, { encoding: "utf8", env: { ...process.env, CLICOLOR_FORCE: "1", COLUMNS: "100" } });

// The colours, the size of a character and the height of a line are those of the debugger's picture.
const [width, height] = [8.4, 18];
const colours = { 30: "#16191d", 31: "#ff8787", 32: "#8ce99a", 33: "#ffe066", 34: "#74c0fc", 35: "#e599f7", 36: "#66d9e8", 37: "#e9ecef" };
const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

// Text with the escape sequences of colours as a picture.
const picture = (text, title) => {
  const lines = text.trimEnd().split("\n");
  const plain = lines.map((line) => line.replace(/\x1b\[[\d;]*m/g, ""));
  const wide = (Math.max(...plain.map((line) => [...line].length)) + 2) * width;
  const high = (lines.length + 1) * height;
  let body = "";
  lines.forEach((line, row) => {
    let [column, style] = [1, ""];
    for (const [, codes, run] of line.matchAll(/(?:\x1b\[([\d;]*)m)?([^\x1b]*)/g)) {
      if (codes !== undefined) {
        const numbers = codes.split(";").map(Number);
        const fill = numbers.map((number) => colours[number]).find(Boolean) ?? (numbers.includes(2) ? "#868e96" : undefined);
        style = (fill ? ` fill="${fill}"` : "") + (numbers.includes(1) ? ` font-weight="bold"` : "");
      }
      const length = [...run].length;
      if (run.trim()) {
        const at = (column * width).toFixed(1);
        body += `<text x="${at}" y="${row * height + 22.5}" textLength="${(length * width).toFixed(1)}" xml:space="preserve"${style}>${escaped(run)}</text>\n`;
      }
      column += length;
    }
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" ` +
    `font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14" fill="#e9ecef">\n<title>${escaped(title)}</title>\n` +
    `<rect width="100%" height="100%" rx="6" fill="#16191d"/>\n${body}</svg>\n`;
};

const word = "00b2c00000808140";
const program = join(tmpdir(), `isaforge-tour-${process.pid}.s`);
writeFileSync(program, readFileSync(new URL("tour.s", import.meta.url)));
const pictures = {
  explain: picture(`$ isaforge explain valhall ${word}\n${output(command, "explain", "valhall", word)}`, `isaforge explain valhall ${word}`),
  graph: output(command, "graph", "valhall", program).replaceAll(program, "tour.s"),
  debugger: execFileSync("cargo", ["run", "--quiet", "--locked", "-p", "isaforge-debugger", "--example", "picture"], { encoding: "utf8" }),
};
for (const [name, svg] of Object.entries(pictures)) {
  const file = new URL(`../docs/${name}.svg`, import.meta.url);
  if (check && readFileSync(file, "utf8") !== svg) {
    console.error(`docs/${name}.svg is not what the command draws: node .ci/tour.mjs path/to/isaforge`);
    process.exit(1);
  }
  if (!check) writeFileSync(file, svg);
}
