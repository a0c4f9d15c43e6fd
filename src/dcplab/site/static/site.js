
// Moves the films: pictures whose states were drawn when the site was built. `dcplabScene`, above, is the front end of the live
// pictures in JupyterLab; here its model's SVG comes from the film, and a chosen cell leads to the frame of its loc.
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

function svgOf(film, frame) {
  let svg = "";
  for (let i = 0; i < frame.runs.length; i += 2) svg += film.pieces.slice(frame.runs[i], frame.runs[i] + frame.runs[i + 1]).join("");
  return svg;
}

function made(parent, kind, text, more = {}) {
  const element = Object.assign(document.createElement(kind), more);
  if (text) element.textContent = text;
  parent.append(element);
  return element;
}

function control(parent, name, values, at, moved) {
  const label = made(parent, "label", `${name} `);
  const numbers = values.every((value) => /^\d+$/.test(value));
  let field, output;
  if (numbers) {
    field = made(label, "input", "", { type: "range", min: 0, max: values.length - 1, value: at });
    output = made(label, "output", values[at]);
  } else {
    field = made(label, "select");
    values.forEach((value, i) => made(field, "option", value, { value: i, selected: i === at }));
  }
  field.addEventListener("input", () => {
    if (output) field.setAttribute("aria-valuetext", (output.textContent = values[field.value]));
    moved(Number(field.value));
  });
}

async function play(figure) {
  const film = await unpacked(figure.querySelector("script").textContent);
  const [controls, sentence, picture] = ["controls", "sentence", "picture"].map((part) => figure.querySelector(`.film-${part}`));
  const caption = figure.querySelector("figcaption");
  let reel = film.reel, step = film.step;
  const places = [];  // the value of each axis, from the number of the reel: the last axis changes fastest
  for (let i = film.axes.length - 1, rest = reel; i >= 0; i--) {
    places[i] = rest % film.axes[i].values.length;
    rest = Math.floor(rest / film.axes[i].values.length);
  }

  let redraw = () => {};
  const model = {
    get: () => svgOf(film, film.reels[reel][step]),
    on: (_, draw) => (redraw = draw),
    off: () => {},
    send: ({ chosen }) => {
      const found = film.reels[reel].findIndex((frame) => frame.loc === chosen);
      if (found >= 0) go(found);
    },
  };

  film.axes.forEach((axis, i) => control(controls, axis.name, axis.values, places[i], (value) => {
    places[i] = value;
    const { step: name } = film.reels[reel][step];
    reel = film.axes.reduce((sum, { values }, k) => sum * values.length + places[k], 0);
    const same = film.reels[reel].findIndex((frame) => frame.step === name);
    go(same >= 0 ? same : Math.min(step, film.reels[reel].length - 1));
  }));
  const label = made(controls, "label", `${film.steps} `);
  const slider = made(label, "input", "", { type: "range", min: 0 });
  const output = made(label, "output");
  for (const [text, by] of [["previous", -1], ["next", 1]]) {
    made(controls, "button", text, { type: "button" }).addEventListener("click", () => go(step + by));
  }
  slider.addEventListener("input", () => go(Number(slider.value)));

  function go(to) {
    const frames = film.reels[reel];
    step = Math.max(0, Math.min(to, frames.length - 1));
    const frame = frames[step];
    Object.assign(slider, { max: frames.length - 1, value: step });
    slider.setAttribute("aria-valuetext", (output.textContent = frame.step));
    sentence.textContent = frame.says;
    caption.textContent = frame.below;
    redraw();
  }

  dcplabScene.render({ model, el: picture });
  go(step);
}

if (window.DecompressionStream) document.querySelectorAll("figure.film").forEach(play);
