"use strict";
(() => {
  const at = (id) => document.getElementById(id);
  const HUES = 8, POLL = 300, PAUSE = 120;
  let about = null, view = null, line = [], distance = null, chosen = null, around = false, over = false, round = 0;

  const make = (tag, name, ...inside) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...inside);
    return made;
  };
  const breakable = (text) => text.split(/(?<=[_(])/).flatMap((part, n) => (n ? [document.createElement("wbr"), part] : [part]));
  const button = (name, act, ...inside) => {
    const made = make("button", name, ...inside);
    made.type = "button";
    made.onclick = act;
    return made;
  };
  const plural = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

  const say = (text) => {
    at("message").textContent = text;
    at("message").hidden = !text;
  };

  const call = async (name, content = {}) => {
    let answer;
    try {
      const sent = await fetch(name, {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(content),
      });
      if (!sent.ok) throw new Error(String(sent.status));
      answer = await sent.json();
    } catch {
      over = true;
      say("The command has ended: this page shows the last state. Start kwalk explore again to go on.");
      for (const one of document.querySelectorAll("button, input, select")) one.disabled = true;
      return null;
    }
    if (answer && answer.error) {
      say(answer.error);
      return null;
    }
    return answer;
  };

  // Positions.

  const show = async (position, { push = true } = {}) => {
    const found = await call("view", { position });
    if (!found) return;
    view = found;
    const places = view.path.map((each) => each.position);
    const kept = line.findIndex((each) => each.position === position);
    if (kept < 0 || places.some((place, n) => line[n].position !== place)) line = view.path;
    else line = [...view.path, ...line.slice(view.path.length)];
    if (push && location.hash !== `#${position}`) history.pushState(null, "", `#${position}`);
    distance = null;
    chosen = view.truths.indexOf("violated");
    say("");
    draw();
    if (chosen >= 0) readBy(chosen);
    if (around) drawAround();
    measure(position);
  };

  const take = async (steps, { whole = false } = {}) => {
    const found = await call("take", { position: view.position, steps });
    if (!found) return null;
    if (!whole) await show(found.position);
    return found.position;
  };

  const along = (by) => {
    const here = line.findIndex((each) => each.position === view.position);
    const next = line[here + by];
    if (next) show(next.position);
  };

  // The distance to the nearest violation.

  const measure = async (position, seconds) => {
    const mine = ++round;
    await new Promise((wait) => setTimeout(wait, PAUSE));
    while (mine === round && !over) {
      const known = await call("distance", { position, seconds, goal: goal() });
      if (!known || mine !== round) return;
      distance = known;
      drawDistance();
      if (known.final) {
        drawActions();
        return;
      }
      await new Promise((wait) => setTimeout(wait, POLL));
    }
  };

  const goal = () => (at("goal").value === "" ? undefined : Number(at("goal").value));
  const goalKind = () => (goal() === undefined ? "" : about.properties[goal()].kind);

  const drawDistance = () => {
    const known = distance, states = known && `${plural(known.states, "state")} in ${known.seconds} s`;
    const named = (key) => (about.properties.find((prop) => prop.key === key) || { text: key }).text;
    const which = known && known.properties.map(named).join(", ");
    const reach = goalKind() === "reachable", none = reach ? "reaches it" : "violates anything";
    at("distance").textContent = !known ? "…" : {
      preparing: "the model is being compiled, or the search begins …",
      searching: `≥ ${plural(known.least, "step")} (${states} so far)`,
      found: known.least ? `${plural(known.least, "step")} from here${goal() === undefined ? `: ${which}` : ""} (${states})` : "here",
      none: `none. Of all ${plural(known.states, "state")} that can be reached from here, within the bounds, none ${none}.`,
      bounded: known.least ? `≥ ${plural(known.least, "step")}: none within ${plural(known.least - 1, "step")}, then ${known.note} ended the search (${states})` : `not known; ${known.note} ended the search`,
      failed: `not known. ${known.note}`,
    }[known.status];
    at("distance").className = known && known.status === "found" && !(goalKind() === "reachable") ? "bad" : known && known.status === "none" ? "good" : "";
    at("way").hidden = !(known && known.path.length);
    at("longer").hidden = !(known && known.status === "bounded");
  };

  // Drawing.

  const draw = () => {
    drawNow();
    drawDistance();
    drawActions();
    drawPath();
    drawProperties();
    drawState();
  };

  const drawNow = () => {
    const bad = about.properties.filter((_, n) => view.truths[n] === "violated").map((prop) => prop.text);
    if (view.deadlock) bad.push("deadlock");
    const rest = view.dead ? "; no step is possible" : view.quiescent ? "; quiescent" : "";
    const now = `${view.step ? `After step ${view.step}` : "Initial state"}: ${bad.length ? `violated: ${bad.join(", ")}` : "no property is violated"}${rest}.`;
    at("now").replaceChildren(...breakable(now));
    at("now").className = bad.length ? "bad" : "";
    const here = line.findIndex((each) => each.position === view.position);
    at("back").disabled = here <= 0;
    at("forward").disabled = here + 1 >= line.length;
    at("bookmark").textContent = view.bookmark ? "★ Remove bookmark" : "☆ Bookmark";
    at("bookmark").setAttribute("aria-pressed", String(Boolean(view.bookmark)));
    document.title = `${view.step} · ${about.scenario}`;
  };

  const hueOf = (actor) => {
    if (!hueOf.known.has(actor)) hueOf.known.set(actor, hueOf.known.size % HUES);
    return hueOf.known.get(actor);
  };
  hueOf.known = new Map();

  const drawActions = () => {
    const word = at("find").value.trim().toLowerCase();
    const held = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.instance : null;
    const enabled = view.actions.filter((action) => action.bound === undefined && action.error === undefined);
    const fits = (action) => !word || [action.text, action.actor, action.key, ...action.changes].join("\n").toLowerCase().includes(word);
    const shown = enabled.filter(fits);
    const toward = distance && distance.status === "found" ? distance.path[0] : undefined;
    const groups = new Map();
    for (const action of shown) groups.set(action.actor, [...(groups.get(action.actor) || []), action]);
    const parts = [];
    for (const [actor, actions] of groups) {
      parts.push(make("p", `actor-name lane${hueOf(actor)}`, actor));
      for (const action of actions) parts.push(actionButton(action, action.instance === toward));
    }
    if (!enabled.length) parts.push(make("p", "nothing", view.actions.length ? "No step is possible within the bounds." : "No step is possible: no guard is true."));
    else if (!shown.length) parts.push(make("p", "nothing", "No step fits what you look for."));
    const rest = view.actions.filter((action) => !enabled.includes(action));
    if (rest.length) {
      const why = (action) => action.error === undefined ? `bound reached: ${action.bound}` : action.error;
      parts.push(make("details", "blocked", make("summary", "", `${plural(rest.length, "step")} that cannot be taken`),
        make("ul", "", ...rest.map((action) => make("li", "", `${action.actor}: ${action.text} (${why(action)})`)))));
    }
    at("actions").replaceChildren(...parts);
    at("next-title").textContent = `Next steps: ${word ? `${shown.length} of ` : ""}${enabled.length}`;
    if (held) {
      const again = document.querySelector(`.action[data-instance="${held}"]`);
      if (again) again.focus({ preventScroll: true });
    }
  };

  const actionButton = (action, toward) => {
    const made = button(`action${action.system ? "" : " outside"}`, () => take([action.instance]), make("span", "what", action.text));
    if (toward) made.append(" ", make("span", "toward", `${goalKind() === "reachable" ? "toward it" : "toward the violation"}: ${plural(distance.least, "step")}`));
    const already = about.properties.filter((prop, n) => view.truths[n] === "violated" && prop.kind !== "step").map((prop) => prop.key);
    const more = action.violates.filter((key) => !already.includes(key));
    if (more.length) made.append(make("small", "violates", `violates ${more.join(", ")}`));
    const repaired = already.filter((key) => !action.violates.includes(key) && !action.unchecked.includes(key));
    if (repaired.length) made.append(make("small", "", `no longer violated: ${repaired.join(", ")}`));
    if (action.unchecked.length) made.append(make("small", "", `not checked until at rest: ${action.unchecked.join(", ")}`));
    for (const text of action.changes) made.append(make("small", "", text));
    if (action.more) made.append(make("small", "", `and ${action.more} more`));
    if (action.idle) made.append(make("small", "", "changes nothing"));
    made.dataset.instance = action.instance;
    made.title = action.source || action.key;
    return made;
  };

  const drawPath = () => {
    const here = line.findIndex((each) => each.position === view.position);
    at("path").replaceChildren(...line.map((each, number) => {
      const said = each.text === undefined ? ["initial state"] : [make("b", "", each.actor), ` ${each.text}`];
      const one = button(number > here ? "ahead" : "", () => show(each.position), make("span", "number", number ? String(number) : ""), make("span", "", ...said, each.bookmark ? " ★" : ""));
      if (number === here) one.setAttribute("aria-current", "step");
      return make("li", "", one);
    }));
    const steps = line.length - 1;
    at("route-title").textContent = here === steps ? `Path: ${plural(steps, "step")}` : `Path: step ${here} of ${steps}`;
    const current = at("path").querySelector("[aria-current]");
    if (current) at("path").scrollTop = Math.max(0, current.offsetTop - at("path").offsetTop - at("path").clientHeight / 2);
    at("starts").hidden = about.starts.length < 2;
    at("start").value = String(line[0].position);
  };

  const drawBookmarks = () => {
    at("marked").hidden = !about.bookmarks.length;
    at("bookmarks").replaceChildren(...about.bookmarks.map((each) => make("li", "", button("", () => show(each.position), `★ ${each.name}`))));
  };

  const SIGNS = { true: ["✓", "holds"], false: ["·", "not reached"], violated: ["✗", "violated"], vacuous: ["·", "premise false"], later: ["…", "about behaviours"] };

  const drawProperties = () => {
    const rows = about.properties.map((prop, number) => {
      const truth = view.truths[number];
      const [sign, words] = truth === "true" && prop.kind === "reachable" ? ["★", "reached here"]
        : truth === "vacuous" && prop.kind === "when quiescent" && !view.quiescent ? ["…", "not checked until at rest"]
        : SIGNS[truth] || ["!", truth];
      const row = button(`prop ${truth.split(":")[0]}`, () => readBy(number), make("span", "sign", sign), make("span", "", ...breakable(prop.text)), make("span", "truth", words));
      row.title = [prop.about, prop.symptom].filter(Boolean).join("\n");
      row.setAttribute("aria-pressed", String(number === chosen));
      return [truth, row];
    });
    const bad = rows.filter(([truth]) => truth === "violated" || truth.startsWith("error")).map(([, row]) => row);
    const good = rows.filter(([, row]) => !bad.includes(row)).map(([, row]) => row);
    const counts = new Map();
    for (const row of good) {
      const words = row.querySelector(".truth").textContent;
      counts.set(words, (counts.get(words) || 0) + 1);
    }
    const summary = [...counts].map(([words, count]) => `${count} ${words}`).join(", ");
    const old = at("properties").querySelector("details");
    const rest = good.length > 8 || bad.length ? make("details", "", make("summary", "", summary), ...good) : make("div", "", ...good);
    if (rest.tagName === "DETAILS") rest.open = Boolean(old && old.open) || (chosen >= 0 && view.truths[chosen] !== "violated");
    at("properties").replaceChildren(...bad, ...(good.length ? [rest] : []));
  };

  let read = [];
  const readBy = async (number) => {
    chosen = number;
    const position = view.position;
    const found = await call("reads", { position, property: number });
    if (!found || position !== view.position || chosen !== number) return;
    read = found.parts;
    drawProperties();
    drawState();
  };

  const drawState = () => {
    const word = at("field").value.trim().toLowerCase();
    const marked = chosen >= 0 ? read : [];
    const root = new Map();
    about.paths.forEach((path, part) => {
      const said = [...path, view.values[part]].join("").toLowerCase();
      if (word && !said.includes(word)) return;
      let node = root;
      for (const token of path.slice(0, -1)) {
        if (!node.has(token)) node.set(token, new Map());
        node = node.get(token);
      }
      node.set(path[path.length - 1], part);
    });
    const tree = (node) => {
      const list = make("ul", "tree");
      let changed = 0, matters = 0;
      for (const [token, inner] of node) {
        if (inner instanceof Map) {
          const [drawn, some, others] = tree(inner);
          const counts = some ? [make("span", "count", ` ${some} changed`)] : [];
          const branch = make("details", "", make("summary", "", token, ...counts), drawn);
          branch.open = some > 0 || others > 0 || word !== "" || about.paths.length <= 40;
          list.append(make("li", "", branch));
          changed += some;
          matters += others;
        } else {
          const old = view.old[inner];
          const leaf = make("li", old === undefined ? "" : "changed", make("code", "", token), " ");
          if (old !== undefined) leaf.append(make("del", "", old), " → ", make("ins", "", view.values[inner]));
          else leaf.append(view.values[inner]);
          if (marked.includes(inner)) {
            leaf.classList.add("matters");
            leaf.title = "The chosen property reads it.";
            matters += 1;
          }
          list.append(leaf);
          changed += old === undefined ? 0 : 1;
        }
      }
      return [list, changed, matters];
    };
    const [drawn] = tree(root);
    at("state").replaceChildren(drawn.childElementCount ? drawn : make("p", "nothing", "No field fits."));
  };

  const drawAround = async () => {
    const position = view.position;
    const found = await call("graph", { position, steps: Math.min(6, Math.max(1, Number(at("reach").value) || 2)) });
    if (!found || position !== view.position) return;
    const svg = new DOMParser().parseFromString(found.svg, "image/svg+xml").documentElement;
    at("drawing").replaceChildren(document.importNode(svg, true));
    const more = found.left_out ? `; ${plural(found.left_out, "step")} to further states are not drawn` : "";
    at("extent").textContent = `${plural(found.states, "state")}${more}. Choose one to go there.`;
    at("around").hidden = false;
    around = true;
  };

  const toNode = (event) => {
    const node = event.target.closest("[data-steps]");
    if (!node) return;
    event.preventDefault();
    take(node.dataset.steps.split(" ").filter(Boolean).map(Number));
  };

  // Controls.

  const walk = async () => {
    const steps = Math.min(1000, Math.max(1, Math.floor(Number(at("length").value)) || 20));
    const found = await call("walk", { position: view.position, steps });
    if (!found) return;
    await show(found.position);
    say(`Random walk: ${found.ended}.`);
  };

  const bookmark = async () => {
    const name = view.bookmark ? "" : `step ${view.step}: ${view.path.length > 1 ? view.path[view.path.length - 1].text : "initial state"}`;
    const found = await call("bookmark", { position: view.position, name: name.slice(0, 200) });
    if (!found) return;
    about.bookmarks = found.bookmarks;
    view.bookmark = name || null;
    for (const each of line) if (each.position === view.position) each.bookmark = Boolean(name);
    drawNow();
    drawPath();
    drawBookmarks();
  };

  const save = async () => {
    const found = await call("save", { position: view.position });
    if (found) say(`Saved:\n${Object.values(found.files).join("\n")}\nExecute it again: kwalk replay ${found.files.trace}`);
  };

  const showTheWay = async () => {
    const here = view.position;
    const last = await take(distance.path, { whole: true });
    if (last === null) return;
    const found = await call("view", { position: last });
    if (!found) return;
    line = found.path;
    drawPath();
    drawNow();
    say(`The path continues for ${plural(distance.path.length, "step")}: follow it with the right arrow, or choose a step.`);
    if (view.position !== here) return;
    at("forward").focus();
  };

  const nextAction = (by) => {
    const all = [...document.querySelectorAll(".action")];
    const here = all.indexOf(document.activeElement);
    const next = all[here < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, here + by))];
    if (next) next.focus();
  };

  const keys = {
    j: () => nextAction(1), k: () => nextAction(-1), ArrowLeft: () => along(-1), ArrowRight: () => along(1),
    r: walk, b: bookmark, s: save, "/": () => at("find").focus(),
    g: () => { if (around) at("close-around").click(); else drawAround(); },
  };
  document.addEventListener("keydown", (event) => {
    if (event.target.closest("#drawing") && (event.key === "Enter" || event.key === " ")) return toNode(event);
    if (over || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) {
      if (event.key === "Escape") event.target.blur();
      return undefined;
    }
    const act = keys[event.key];
    if (!act || !view) return undefined;
    event.preventDefault();
    return act();
  });
  at("back").onclick = () => along(-1);
  at("forward").onclick = () => along(1);
  at("walk").onclick = walk;
  at("bookmark").onclick = bookmark;
  at("save").onclick = save;
  at("near").onclick = drawAround;
  at("close-around").onclick = () => { around = false; at("around").hidden = true; };
  at("reach").onchange = drawAround;
  at("way").onclick = showTheWay;
  at("longer").onclick = () => measure(view.position, Math.min(3600, Math.max(60, Math.ceil(distance.seconds * 6))));
  at("end").onclick = async () => {
    round += 1;
    if (await call("end")) {
      over = true;
      say("The command has ended. You can close this page.");
      for (const one of document.querySelectorAll("button, input, select")) one.disabled = true;
    }
  };
  at("find").oninput = drawActions;
  at("field").oninput = drawState;
  at("goal").onchange = () => { distance = null; drawDistance(); drawActions(); measure(view.position); };
  at("start").onchange = () => show(Number(at("start").value));
  at("drawing").addEventListener("click", toNode);
  addEventListener("pagehide", () => { if (!over) fetch("leave", { method: "POST", keepalive: true, headers: { "Content-Type": "application/json" }, body: "{}" }).catch(() => {}); });
  addEventListener("popstate", () => { if (/^#\d+$/.test(location.hash)) show(Number(location.hash.slice(1)), { push: false }); });

  (async () => {
    about = await call("about");
    at("page").hidden = false;
    if (!about) return;
    at("title").textContent = about.scenario;
    at("title").title = about.story;
    at("model").textContent = [`variant ${about.variant}`, about.bounds, ...about.facts].filter(Boolean).join("; ");
    at("start").append(...about.starts.map((each) => {
      const option = make("option", "", each.text);
      option.value = String(each.position);
      return option;
    }));
    for (const [number, prop] of about.properties.entries()) {
      if (!prop.has_distance) continue;
      const option = make("option", "", prop.kind === "reachable" ? `${prop.text} (reachable)` : prop.text);
      option.value = String(number);
      at("goal").append(option);
    }
    if (about.traced && about.traced.goal !== null) at("goal").value = String(about.traced.goal);
    if (about.left_out) at("starts").append(` and ${plural(about.left_out, "other initial state")}, not offered`);
    drawBookmarks();
    const named = /^#(\d+)$/.exec(location.hash);
    const first = about.traced ? about.traced.end : about.first;
    await show(named ? Number(named[1]) : first, { push: false });
    if (!view) await show(first, { push: false });
  })();
})();
