"use strict";
(() => {
  const story = JSON.parse(document.getElementById("story").textContent);
  const panel = document.getElementById("panel");
  const every = document.getElementById("every");
  const find = document.getElementById("find");
  const who = document.getElementById("who");
  const last = story.steps.length;
  let chosen = null;

  const make = (tag, name, ...inside) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...inside);
    return made;
  };

  // The state after a step, as texts by the number of the part.
  const stateAfter = (number) => {
    const texts = story.first.slice();
    for (let step = 1; step <= number; step += 1) {
      for (const [part, text] of Object.entries(story.changes[step - 1])) texts[part] = text;
    }
    return texts;
  };

  const leaf = (name, part, before, after, changed) => {
    const line = make("li", changed ? "changed" : "", make("code", "", name), " ");
    if (changed) line.append(make("del", "", before[part]), " → ", make("ins", "", after[part]));
    else line.append(make("span", "", after[part]));
    if (story.read.includes(part)) {
      line.classList.add("matters");
      line.title = "The property reads it.";
    }
    return line;
  };

  const treeOf = (number) => {
    const before = stateAfter(Math.max(0, number - 1)), after = stateAfter(number);
    const changes = number ? story.changes[number - 1] : {};
    const root = new Map();
    story.paths.forEach((path, part) => {
      let node = root;
      for (const token of path.slice(0, -1)) {
        if (!node.has(token)) node.set(token, new Map());
        node = node.get(token);
      }
      node.set(path[path.length - 1], part);
    });
    const draw = (node) => {
      const list = make("ul", "tree");
      let count = 0;
      for (const [token, inner] of node) {
        const name = token.startsWith("[") ? token : token.replace(/^\./, "");
        if (inner instanceof Map) {
          const [drawn, inside] = draw(inner);
          const summary = make("summary", "", name, inside ? make("span", "count", ` ${inside} changed`) : "");
          const branch = make("details", "", summary, drawn);
          branch.open = inside > 0;
          list.append(make("li", "", branch));
          count += inside;
        } else {
          const changed = String(inner) in changes;
          list.append(leaf(name, inner, before, after, changed));
          count += changed ? 1 : 0;
        }
      }
      return [list, count];
    };
    return draw(root)[0];
  };

  const visibleRows = () => [...document.querySelectorAll(".diagram a[data-step]")].filter((row) => row.offsetParent);

  const choose = (number, scroll) => {
    if (!(number >= 0 && number <= last)) return;
    chosen = number;
    document.body.classList.add("chosen");
    if (every && !visibleRows().some((row) => Number(row.dataset.step) === number)) every.checked = true;
    for (const row of document.querySelectorAll(".diagram a[data-step]")) {
      const here = Number(row.dataset.step) === number;
      if (here) row.setAttribute("aria-current", "step");
      else row.removeAttribute("aria-current");
    }
    for (const arrow of document.querySelectorAll(".message")) {
      arrow.classList.toggle("near", [arrow.dataset.from, arrow.dataset.to].includes(String(number)));
    }
    const step = number ? story.steps[number - 1] : null;
    const title = make("h3", "", step ? `${number}  ${step.actor}` : "Initial state");
    const close = make("button", "close", "×");
    close.setAttribute("aria-label", "Close");
    close.onclick = leave;
    const inside = [close, title];
    if (step) {
      inside.push(make("p", "", step.text));
      if (step.source) inside.push(make("p", "source", step.source));
      const copy = make("button", "copy", `Copy ${step.key}`);
      copy.onclick = () => copyKey(copy, step.key);
      inside.push(copy);
    }
    const legend = story.read.length ? "Marked: what the property reads." : "";
    panel.replaceChildren(...inside, make("p", "source", `The state after it. ${legend}`), treeOf(number));
    panel.hidden = false;
    const shown = visibleRows().find((row) => Number(row.dataset.step) === number);
    if (scroll && shown) shown.scrollIntoView({ block: "center" });
    history.replaceState(null, "", `#step=${number}`);
  };

  const copyKey = async (button, key) => {
    try {
      await navigator.clipboard.writeText(key);
      button.textContent = "Copied";
    } catch {
      button.textContent = key;  // the browser forbids it: the text can be selected
    }
  };

  const leave = () => {
    chosen = null;
    panel.hidden = true;
    document.body.classList.remove("chosen");
    for (const row of document.querySelectorAll("[aria-current]")) row.removeAttribute("aria-current");
    history.replaceState(null, "", location.pathname + location.search);
  };

  const move = (by) => {
    const numbers = visibleRows().map((row) => Number(row.dataset.step));
    if (!numbers.length) return;
    const at = numbers.indexOf(chosen);
    const next = chosen === null ? (by > 0 ? 0 : numbers.length - 1)
      : at >= 0 ? at + by : numbers.findIndex((number) => number > chosen);
    if (next >= 0 && next < numbers.length) choose(numbers[next], true);
  };

  const matches = (number) => {
    const step = story.steps[number - 1], word = find.value.trim().toLowerCase();
    const paths = Object.keys(story.changes[number - 1]).map((part) => story.paths[part].join(""));
    const said = [step.text, step.actor, step.key, step.source, ...paths, ...Object.values(story.changes[number - 1])];
    return (!who.value || step.actor === who.value) && (!word || said.join("\n").toLowerCase().includes(word));
  };

  const filter = () => {
    const active = find.value.trim() !== "" || who.value !== "";
    let count = 0;
    if (every && active) every.checked = true;
    for (const row of document.querySelectorAll(".diagram a[data-step]")) {
      const number = Number(row.dataset.step);
      const out = active && (number === 0 || !matches(number));
      row.classList.toggle("out", out);
      if (active && !out && row.offsetParent) count += 1;
    }
    document.getElementById("matches").textContent = active ? `${count} of ${last} steps` : "";
  };

  const fromAddress = () => {
    const named = /^#step[=-](\d+)$/.exec(location.hash);
    if (named) choose(Number(named[1]), true);
  };

  document.body.classList.add("scripted");
  document.getElementById("controls").hidden = false;
  for (const actor of [...new Set(story.steps.map((step) => step.actor))]) who.append(make("option", "", actor));
  find.oninput = filter;
  who.onchange = filter;
  find.onkeydown = (event) => {
    if (event.key === "Enter") {
      const found = [...Array(last).keys()].map((n) => n + 1).filter((n) => matches(n));
      const next = found.find((n) => n > (chosen ?? 0)) ?? found[0];
      if (next) choose(next, true);
      event.preventDefault();
    } else if (event.key === "Escape") {
      find.value = "";
      filter();
      find.blur();
    }
  };
  document.querySelector(".sequence").addEventListener("click", (event) => {
    const row = event.target.closest("a[data-step]");
    if (row && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      choose(Number(row.dataset.step), false);
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const act = {
      ArrowRight: () => move(1), ArrowDown: () => move(1), j: () => move(1),
      ArrowLeft: () => move(-1), ArrowUp: () => move(-1), k: () => move(-1),
      Home: () => choose(0, true), End: () => choose(last, true),
      f: () => { if (every) { every.checked = !every.checked; } },
      "/": () => find.focus(), Escape: leave,
    }[event.key];
    if (!act || (chosen === null && /^(Arrow(Up|Down)|Home|End)$/.test(event.key))) return;  // the page scrolls
    event.preventDefault();
    act();
  });
  addEventListener("hashchange", fromAddress);
  fromAddress();
})();
