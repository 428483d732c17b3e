"use strict";
(() => {
  const graph = JSON.parse(document.getElementById("graph").textContent);
  const at = (id) => document.getElementById(id);
  const make = (tag, name, ...inside) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...inside);
    return made;
  };
  let view = 0, target = graph.nearest;

  const svgNodes = () => [...at(`view-${view}`).querySelectorAll(".node")];
  const pathTo = (number) => {
    const found = [];
    for (let state = number; state !== null; state = graph.states[state].parent) found.unshift(state);
    return found;
  };

  const paint = () => {
    const colour = at("colour").value, of = graph.views[view].of;
    const members = new Map();
    of.forEach((node, state) => members.set(node, [...(members.get(node) || []), state]));
    svgNodes().forEach((node, number) => {
      const states = (members.get(number) || []).map((state) => graph.states[state]);
      let tone = "";
      if (colour === "") tone = states.some((state) => state.truths.includes("v")) ? "bad" : "";
      else {
        const truths = states.map((state) => state.truths[Number(colour)]);
        tone = truths.includes("v") ? "false" : truths.length && truths.every((truth) => truth === "t") ? "true" : "";
      }
      for (const one of ["bad", "true", "false"]) node.classList.toggle(one, one === tone);
    });
    at("key").textContent = colour === "" ? "Red: a property is violated." : "Red: the property is violated; green: it is true; neither: its premise is false, or states differ.";
  };

  const light = () => {
    const of = graph.views[view].of, path = target === null ? [] : pathTo(target).map((state) => of[state]);
    const pairs = new Set(path.slice(1).map((node, step) => `${path[step]} ${node}`));
    svgNodes().forEach((node, number) => node.classList.toggle("on", path.includes(number)));
    for (const arrow of at(`view-${view}`).querySelectorAll(".arrow")) {
      arrow.classList.toggle("on", pairs.has(`${arrow.dataset.source} ${arrow.dataset.target}`));
    }
  };

  const choose = (number) => {
    const members = graph.views[view].of.flatMap((node, state) => (node === number ? [state] : []));
    if (!members.length) return;
    target = members[0];
    const state = graph.states[target], panel = at("chosen");
    const bad = graph.properties.filter((_, n) => state.truths[n] === "v");
    const steps = pathTo(target).slice(1).map((one) => make("li", "", graph.states[one].by));
    const fields = make("tbody", "", ...graph.fields.map((field, n) => make("tr", "", make("td", "", make("code", "", field)), make("td", "", state.values[n]))));
    const title = members.length > 1 ? `${members.length.toLocaleString("en")} states; the first of them: state ${target}` : `State ${target}`;
    panel.replaceChildren(make("h2", "", title), make("p", bad.length ? "bad" : "", bad.length ? `Violates ${bad.join(", ")}` : "Violates nothing"),
      make("p", "", steps.length ? `Shortest path: ${steps.length} step${steps.length === 1 ? "" : "s"}` : "An initial state"), make("ol", "", ...steps),
      make("div", "wide", make("table", "data", make("thead", "", make("tr", "", make("th", "", "field"), make("th", "", "value"))), fields)));
    panel.hidden = false;
    light();
  };

  at("choices").hidden = false;
  at("view").onchange = () => {
    at(`view-${view}`).hidden = true;
    view = Number(at("view").value);
    at(`view-${view}`).hidden = false;
    paint();
    light();
  };
  at("colour").onchange = paint;
  for (const drawing of document.querySelectorAll(".view")) {
    const act = (event) => {
      const node = event.target.closest(".node");
      if (!node) return;
      event.preventDefault();
      choose(Number(node.dataset.node));
    };
    drawing.addEventListener("click", act);
    drawing.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") act(event); });
  }
  paint();
  light();
})();
