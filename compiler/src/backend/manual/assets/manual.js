// Search and decoder of the manual. The engine is WebAssembly and comes with its tables in engine.js, when it is first asked.
(() => {
  "use strict";
  const base = document.documentElement.dataset.base;

  // Elements. `on…` properties are listeners, everything else is an attribute.
  const el = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== undefined && value !== "") node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };

  // The engine.
  const unpack = async (text) => {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  let engine;
  const lost = "engine.js does not load: it must be in the folder of the manual, and the browser must run WebAssembly";
  const start = () => (engine ??= load().catch((why) => { engine = undefined; throw why; }));
  const load = async () => {
    await new Promise((resolve, reject) => {
      document.head.append(el("script", { src: base + "engine.js", onload: resolve, onerror: reject }));
    });
    const [code, data] = await Promise.all([unpack(isaforgeEngine.code), unpack(isaforgeEngine.data)]);
    const { exports } = (await WebAssembly.instantiate(code)).instance;
    // Room for the bytes may move the memory, so its address comes first.
    const put = (bytes) => { const at = exports.input(bytes.length); new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes); };
    put(data);
    if (!exports.load()) throw new Error("the tables cannot be read");
    return (command, about) => {
      put(new TextEncoder().encode(command + "\n" + about));
      const length = exports.answer();
      return JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.output(), length)));
    };
  };

  // The search.
  const place = document.getElementById("search");
  if (place) {
    const list = el("ul", { id: "hits", role: "listbox", "aria-label": "Results", hidden: true });
    const input = el("input", {
      type: "search", placeholder: "Search, or press /", role: "combobox", autocomplete: "off", spellcheck: "false",
      "aria-label": "Search the manual", "aria-controls": "hits", "aria-expanded": "false", "aria-autocomplete": "list",
    });
    place.append(input, list);
    let chosen = -1;
    const choose = (index) => {
      const items = [...list.children];
      chosen = items.length ? (index + items.length) % items.length : -1;
      items.forEach((item, at) => item.setAttribute("aria-selected", String(at === chosen)));
      items[chosen]?.scrollIntoView({ block: "nearest" });
      if (chosen >= 0) input.setAttribute("aria-activedescendant", items[chosen].id);
      else input.removeAttribute("aria-activedescendant");
    };
    const close = () => { list.hidden = true; list.replaceChildren(); chosen = -1; input.setAttribute("aria-expanded", "false"); };
    const show = async () => {
      const query = input.value.trim();
      if (!query) return close();
      let hits = [], nothing = "Nothing found";
      try { hits = (await start())("search", query); } catch { nothing = lost; }
      if (query !== input.value.trim()) return;
      list.replaceChildren(...hits.map((hit, at) => el("li", { role: "option", id: "hit-" + at, "aria-selected": "false" },
        el("a", { href: base + hit.page, tabindex: "-1" }, el("code", {}, hit.name), " ", el("small", {}, hit.kind === "decode" ? "Decode " + hit.title : hit.title || hit.kind)))));
      if (!hits.length) list.append(el("li", { role: "option", id: "hit-0", "aria-disabled": "true" }, nothing));
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      choose(0);
    };
    input.addEventListener("input", show);
    input.addEventListener("focus", () => { start().catch(() => {}); if (input.value) show(); });
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "ArrowUp") choose(chosen - 1);
      else if (event.key === "Enter") list.children[chosen]?.querySelector("a")?.click();
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
    });
    document.addEventListener("click", (event) => { if (!place.contains(event.target)) close(); });
    document.addEventListener("keydown", (event) => {
      if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) { event.preventDefault(); input.focus(); }
    });
  }

  // The diagram of one record with bits that can be flipped.
  const diagram = (part, flip) => {
    const box = el("div", { class: "bits", tabindex: "0", role: "region", "aria-label": "Bits " + part.title });
    const owner = (bit) => part.fields.find((field) => field.role === "wrong" && field.runs.some(([high, low]) => low <= bit && bit <= high))
      ?? part.fields.find((field) => field.runs.some(([high, low]) => low <= bit && bit <= high));
    for (let high = part.bits - 1; high >= 0; high -= 32) {
      // Rows end at multiples of 32 bits.
      const low = high - (high % 32);
      const runs = [];
      for (let bit = high; bit >= low; bit--) {
        const field = owner(bit), last = runs.at(-1);
        if (last && last.field === field) last.low = bit; else runs.push({ field, high: bit, low: bit });
      }
      const numbers = el("tr"), digits = el("tr"), names = el("tr");
      for (const run of runs) {
        const span = run.high - run.low + 1, role = run.field?.role ?? "ignored";
        const name = role === "fixed" && span < 3 ? "" : run.field?.name ?? "";
        numbers.append(el("td", { colspan: span }, el("span", {}, String(run.high)), ...(span > 1 ? [el("span", {}, String(run.low))] : [])));
        const cell = el("code");
        for (let bit = run.high; bit >= run.low; bit--) {
          const digit = part.digits[part.bits - 1 - bit];
          cell.append(el("button", { type: "button", title: `bit ${bit} of ${name || role}: flip`, "aria-label": `bit ${bit}: ${digit}`, "data-stop": `bit ${part.start + bit}`,
            onclick: () => flip(part.start + bit, digit === "0" ? 1 : 0) }, digit));
        }
        digits.append(el("td", { class: role, colspan: span }, cell));
        names.append(el("td", { class: role, colspan: span, title: `bits ${run.high}..${run.low}: ${name || role}` }, (name.length > span * 3 ? name.split(".").at(-1) : name) || (role === "opcode" ? "opcode" : "·")));
      }
      box.append(el("table", { style: `--bits:${high - low + 1}` }, el("thead", {}, numbers), el("tbody", {}, digits, names)));
      if (low === 0) break;
      high = low + 31;
    }
    return box;
  };

  const fields = (part, set) => {
    const rows = part.fields.filter((field) => field.name && field.runs.length).map((field) => {
      const runs = field.runs.map(([high, low]) => [high + part.start, low + part.start]).flat().join(" ");
      const refusal = el("span", { role: "status" });
      const value = el("input", { value: field.value, size: "9", "aria-label": "Value of " + field.name, spellcheck: "false", "data-stop": `${field.name} ${part.start}`,
        onchange: () => {
          const why = set(runs, value.value);
          if (!why) return;
          value.value = field.value;
          refusal.className = "error";
          refusal.textContent = why;
        } });
      return el("tr", {}, el("td", { }, field.runs.map(([high, low]) => (high === low ? high : `${high}..${low}`)).join(", ")),
        el("td", {}, el("code", { class: field.role }, field.name)), el("td", {}, value, refusal), el("td", {}, el("code", {}, field.text)), el("td", {}, field.meaning));
    });
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Fields " + part.title }, el("table", { class: "values" },
      el("thead", {}, el("tr", {}, ...["Bits", "Field", "Value", "Text", "Meaning"].map((name) => el("th", {}, name)))),
      el("tbody", {}, ...rows)));
  };

  // What is known of one instruction. `change` takes its new code or text, and returns errors.
  const details = (ask, found, change) => {
    const set = (runs, value) => {
      const { refused, code } = ask("set", [found.code, runs, value].join("\n"));
      return refused ?? change(code, "")?.map((error) => `${error.message}; ${error.help}`).join("\n");
    };
    const box = el("section", { "aria-label": "Instruction" });
    box.append(el("h2", {}, el("code", {}, found.code)));
    if (found.error) box.append(el("p", { class: "error", role: "status" }, found.error));
    const text = el("input", { value: found.text, "aria-label": "Assembly", spellcheck: "false", class: "line", "data-stop": "line" });
    const trouble = el("div", { role: "status" });
    text.addEventListener("change", () => {
      const wrong = change("", text.value);
      trouble.replaceChildren(...(wrong ? [errors(text.value, wrong)] : []));
    });
    if (found.text) box.append(text);
    box.append(trouble);
    const flip = (bit, value) => {
      const why = set(`${bit} ${bit}`, value);
      if (why) trouble.replaceChildren(el("p", { class: "error" }, why));
    };
    if (found.picture) {
      const drawn = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Data path" });
      drawn.innerHTML = found.picture;
      box.append(drawn);
    }
    for (const part of found.parts) {
      if (part.title) box.append(el("h3", {}, part.title));
      if (part.doc) box.append(el("p", {}, part.doc));
      box.append(diagram(part, flip), fields(part, set));
    }
    const facts = el("dl", { class: "facts" });
    if (found.reads.length) facts.append(el("dt", {}, "Reads"), el("dd", {}, found.reads.join(", ")));
    if (found.writes.length) facts.append(el("dt", {}, "Writes"), el("dd", {}, found.writes.join(", ")));
    if (found.name) {
      const link = el("a", {}, el("code", {}, found.name));
      const hit = ask("search", found.name).find((hit) => hit.kind === "instruction" && hit.name === found.name);
      if (hit) { link.href = base + hit.page; facts.append(el("dt", {}, "Manual"), el("dd", {}, link)); }
    }
    box.append(facts);
    const operation = found.here || found.does;
    if (operation) box.append(el("h3", {}, "Operation"), el("pre", { class: "operation", tabindex: "0" }, el("code", {}, operation)));
    return box;
  };

  const errors = (source, list) => {
    const lines = source.split("\n");
    const text = list.slice(0, 20).map((error) =>
      `${error.line}:${error.column}: ${error.message}\n  ${lines[error.line - 1] ?? ""}\n  ${" ".repeat(error.column - 1)}${"^".repeat(error.length)}` +
      (error.help ? `\n  ${error.help}` : "")).join("\n\n");
    return el("pre", { class: "error", tabindex: "0" }, text);
  };

  // The workbench: source above, program and instruction below.
  const workbench = (root, { hash = false, initial = "" } = {}) => {
    const source = el("textarea", { id: "source", spellcheck: "false", autocapitalize: "off" });
    const status = el("p", { role: "status", class: "summary" });
    const listing = el("div"), detail = el("div"), machine = el("div");
    root.classList.add("workbench");
    root.append(el("label", { for: "source" }, "Machine code or assembly"), source, status, listing, machine, detail);
    // The byte order is decided when something is pasted, and kept while it is changed.
    let rows = [], selected = 0, here = -1, order = "", own = false;

    const draw = (ask) => {
      const targets = new Map(rows.filter((row) => row.target !== undefined).map((row) => [row.target, ""]));
      const starts = new Set(rows.map((row) => row.at));
      [...targets.keys()].sort((a, b) => a - b).forEach((at, index) => targets.set(at, "l" + index));
      const body = el("tbody");
      rows.forEach((row, index) => {
        if (targets.has(row.at) && row.code) body.append(el("tr", { class: "label" }, el("td", { colspan: "4" }, targets.get(row.at) + ":")));
        let arrow = "";
        if (row.target !== undefined) {
          arrow = (row.target > row.at ? "↓ " : "↑ ") + (starts.has(row.target) ? targets.get(row.target) : row.to) +
            (row.target < 0 ? ", before the program" : "");
        }
        const pick = () => { selected = index; select(ask); };
        body.append(el("tr", { "data-at": row.at, tabindex: "0", "aria-selected": String(index === selected), class: row.at === here ? "here" : "",
          onclick: pick, onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(); } } },
          el("td", {}, row.at.toString(16).padStart(4, "0")), el("td", {}, row.code.replace(/(.{16})(?=.)/g, "$1 ")),
          el("td", { class: row.error ? "wrong" : "" }, row.error ?? row.text), el("td", { class: "arrow" }, arrow)));
      });
      const head = el("thead", {}, el("tr", {}, ...["Address", "Code", "Assembly", "Target"].map((name) => el("th", {}, name))));
      const table = el("table", { class: "program" }, head, body);
      const box = el("div", { class: "scroll", style: "position: relative", tabindex: "0", role: "region", "aria-label": "Program" }, table);
      listing.replaceChildren(box);
      branches(box, table);
    };

    // Branches as lines beside the listing. Those that overlap stand side by side, the shortest next to the text.
    const branches = (box, table) => {
      const lines = new Map([...table.querySelectorAll("tr[data-at]")].map((line) => [Number(line.dataset.at), line]));
      const middle = (line) => line.offsetTop + line.offsetHeight / 2;
      const spans = rows.filter((row) => row.target !== undefined && lines.has(row.target)).slice(0, 200).map((row) => {
        const [from, to] = [middle(lines.get(row.at)), middle(lines.get(row.target))];
        return { from, to, low: Math.min(from, to), high: Math.max(from, to), column: 0 };
      }).sort((a, b) => (a.high - a.low) - (b.high - b.low));
      if (!spans.length) return;
      spans.forEach((span, index) => {
        const near = spans.slice(0, index).filter((other) => other.low <= span.high && span.low <= other.high).map((other) => other.column);
        while (near.includes(span.column)) span.column++;
      });
      const width = 12 + 7 * (1 + Math.max(...spans.map((span) => span.column)));
      table.style.marginLeft = width + "px";
      const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      const set = (node, attributes) => { Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value)); return node; };
      set(picture, { class: "branches", width, height: table.offsetTop + table.offsetHeight, "aria-hidden": "true" });
      for (const { from, to, column } of spans) {
        const edge = width - 2, x = edge - 8 - 7 * column, end = from === to ? to + 5 : to;
        const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
        picture.append(set(line, { class: to <= from ? "back" : "", d: `M${edge} ${from}H${x}V${end}H${edge}m-5 -3l5 3l-5 3` }));
      }
      box.append(picture);
    };

    const select = (ask) => {
      listing.querySelectorAll("tr[data-at]").forEach((row, index) => row.setAttribute("aria-selected", String(index === selected)));
      const row = rows[selected];
      detail.replaceChildren();
      if (!row?.code) return;
      const change = (code, text) => {
        const found = ask("edit " + order, [selected, code, text, source.value].join("\n"));
        if (found.errors) return found.errors;
        // What had the focus is drawn anew.
        const stop = document.activeElement?.dataset.stop;
        replace(found);
        keep();
        show(selected).then(() => [...detail.querySelectorAll("[data-stop]")].find((it) => it.dataset.stop === stop)?.focus({ preventScroll: true }));
      };
      detail.append(details(ask, ask("explain", row.code), change));
    };

    // Changes a part of the source so that the browser can undo it.
    const replace = ({ from, to, text }) => {
      const top = source.scrollTop;
      own = true;
      source.focus({ preventScroll: true });
      source.setSelectionRange(from, to);
      document.execCommand("insertText", false, text);
      if (source.value.slice(from, from + text.length) !== text) source.setRangeText(text, from, to, "end");
      own = false;
      source.scrollTop = top;
    };
    root.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || /INPUT|TEXTAREA/.test(event.target.tagName)) return;
      event.preventDefault();
      source.focus({ preventScroll: true });
      document.execCommand(event.shiftKey ? "redo" : "undo");
    });

    const keep = () => { if (hash) history.replaceState(null, "", source.value.trim() ? "#" + encodeURIComponent(source.value.trim()) : location.pathname); };

    // Neighbours that are equal: what they are, the first and the last of them.
    const together = (all) => all.reduce((found, it, index) => {
      if (found.at(-1)?.[0] === it) found.at(-1)[2] = index; else found.push([it, index, index]);
      return found;
    }, []);

    const runner = (ask) => {
      machine.replaceChildren();
      here = -1;
      const first = ask("start " + order, source.value);
      if (first.error) return;
      const output = el("div", { role: "status" }), registers = el("div", { class: "registers" });
      const tell = (state) => {
        here = state.ended ? -1 : state.pc;
        for (const row of listing.querySelectorAll("tr[data-at]")) row.classList.toggle("here", Number(row.dataset.at) === here);
        const next = `next at 0x${state.pc.toString(16)}`;
        output.replaceChildren(el("p", { class: "summary" }, `${state.steps} instructions executed; ` + (state.ended || (state.limit ? `${state.limit}, ${next}` : next))));
        const idle = together(state.idle).filter(([word]) => word).map(([word, from, to]) => (from === to ? `lane ${from}` : `lanes ${from}–${to}`) + " " + word);
        if (idle.length && !state.ended) output.append(el("p", { class: "summary" }, idle.join(", ")));
        if (state.written) output.append(el("pre", { class: "operation", tabindex: "0" }, state.written));
        const texts = state.registers.map((it) => `${it.name} = ${together(it.values).map(([value, from, to]) => "0x" + value + (to - from < 3 ? (" 0x" + value).repeat(to - from) : "×" + (to - from + 1))).join(" ")}`);
        registers.style.setProperty("--wide", Math.min(60, Math.max(20, ...texts.map((text) => text.length))));
        registers.replaceChildren(...texts.map((text, at) => el("span", { class: state.registers[at].changed ? "changed" : "" }, text)));
      };
      const go = (command, count) => el("button", { type: "button", onclick: () => tell(ask(command, String(count))) });
      const back = go("back", 1), step = go("step", 1), run = go("step", 100000), reset = go("back", 100000);
      back.append("Back"); step.append("Step"); run.append("Run"); reset.append("Reset");
      machine.append(el("h2", {}, "Execution"), el("div", { class: "bar" }, back, step, run, reset), output, registers);
      tell(first);
    };

    const show = async (keepSelection = 0) => {
      const text = source.value;
      let ask;
      try { ask = await start(); } catch { status.textContent = lost; return; }
      rows = []; selected = keepSelection; here = -1;
      listing.replaceChildren(); detail.replaceChildren(); machine.replaceChildren(); status.textContent = "";
      if (!text.trim()) return;
      const found = ask("program " + order, text);
      if (found.errors) { listing.append(errors(text, found.errors)); return; }
      rows = found.rows; order = found.swapped ? "swapped" : "plain";
      const wrong = rows.filter((row) => row.error).length;
      status.textContent = `${found.count} instruction${found.count === 1 ? "" : "s"}` + (rows.length < found.count ? `, only the first ${rows.length} of which are listed` : "") + (found.kind === "text" ? ", assembled" : "") +
        (found.swapped ? ", read in the opposite byte order" : "") + (wrong ? `, ${wrong} invalid` : "");
      draw(ask); runner(ask); select(ask);
    };
    let wait;
    source.addEventListener("input", (event) => {
      if (own) return;
      const undone = /^history/.test(event.inputType);
      if (!undone) order = "";
      clearTimeout(wait);
      wait = setTimeout(() => { keep(); show(undone ? selected : 0); }, 120);
    });
    // An address that somebody has cut may be no text.
    const restore = () => {
      const text = location.hash.slice(1);
      order = "";
      try { source.value = decodeURIComponent(text); } catch { source.value = text; }
      show();
    };
    if (hash) { window.addEventListener("hashchange", restore); if (location.hash) restore(); }
    if (initial && !source.value) { source.value = initial; show(); }
  };

  const program = document.getElementById("program");
  if (program) workbench(program, { hash: true });
  else {
    const sample = document.querySelector("[data-code]");
    const root = el("div");
    const box = el("details", { id: "decode" }, el("summary", {}, el("h2", { style: "display:inline-block;border:0;margin:1rem 0 .3rem" }, "Decoder")), root);
    box.addEventListener("toggle", () => { if (box.open && !root.hasChildNodes()) workbench(root, { initial: sample?.textContent ?? "" }); });
    document.getElementById("main").append(box);
    for (const cell of document.querySelectorAll("[data-code]")) {
      const code = cell.textContent;
      cell.replaceChildren(el("a", { href: base + "decoder.html#" + code, title: "Open in the decoder" }, code));
    }
  }
})();
