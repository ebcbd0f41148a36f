// Reading and zooming the pictures, by pointer and by keyboard. They are drawn already: without this script
// they stand still, and the numbers are in the tables below them.
"use strict";

(() => {
  const SIZE = 1000; // the plot's own coordinates, across and down
  const SVG = "http://www.w3.org/2000/svg";
  const SCALES = {
    linear: { to: (x) => x, from: (u) => u },
    log: { to: Math.log, from: Math.exp },
    log1p: { to: Math.log1p, from: Math.expm1 },
  };

  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  function evenTicks(low, high, most = 6) {
    const rough = (high - low) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= rough);
    const ticks = [];
    for (let n = Math.ceil(low / step - 1e-9); n * step <= high + 1e-9 * step; n++) ticks.push(n * step);
    return ticks;
  }

  function logTicks(low, high) {
    const decades = Math.log10(high / low);
    const within = (multiples) => {
      const ticks = [];
      for (let e = Math.floor(Math.log10(low)); 10 ** e <= high; e++) {
        for (const m of multiples) if (m * 10 ** e >= low && m * 10 ** e <= high) ticks.push(m * 10 ** e);
      }
      return ticks;
    };
    if (decades > 2.5) return within([1]);
    const ticks = within([1, 2, 5]);
    return ticks.length > 2 ? ticks : evenTicks(low, high);
  }

  function ticksOf(scale, low, high) {
    if (scale === "linear") return evenTicks(low, high);
    if (scale === "log") return logTicks(low, high);
    const ticks = high > 1 ? logTicks(Math.max(low, 1), high) : [];
    return low <= 0 ? [0, ...ticks] : ticks;
  }

  function child(parent, name, attributes, text) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  }

  const percent = (share) => `${(100 * share).toFixed(1)} %`;

  class Chart {
    constructor(figure) {
      this.data = JSON.parse(figure.querySelector("script").textContent);
      this.scale = SCALES[this.data.scale];
      const last = this.data.x.length - 1;
      this.first = this.scale.to(this.data.x[0]);
      this.span = this.scale.to(this.data.x[last]) - this.first;
      this.units = this.data.x.map((x) => (this.scale.to(x) - this.first) / this.span);
      for (const part of ["area", "plot", "grid", "cursor", "place", "tools"]) {
        this[part] = figure.querySelector(`.${part}`);
      }
      this.axes = { x: figure.querySelector(".x-axis"), y: figure.querySelector(".y-axis") };
      this.boxes = [...figure.querySelectorAll(".legend input")];
      this.outputs = [...figure.querySelectorAll(".legend output")];
      this.view = { left: 0, right: 1, low: this.data.low, high: this.data.high };
      this.at = null;
      this.listen();
    }

    listen() {
      this.tools.hidden = false;
      const [nearer, farther, whole] = this.tools.querySelectorAll("button");
      nearer.addEventListener("click", () => this.zoom(0.5));
      farther.addEventListener("click", () => this.zoom(2));
      whole.addEventListener("click", () => this.show(0, 1));
      this.boxes.forEach((box, s) => {
        box.hidden = false;
        box.disabled = false;
        box.addEventListener("change", () => {
          for (const drawn of this.plot.querySelectorAll(`[data-series="${s}"]`)) {
            drawn.classList.toggle("off", !box.checked);
          }
          this.show(this.view.left, this.view.right);
        });
      });
      const area = this.area;
      area.tabIndex = 0;
      area.setAttribute("role", "slider");
      area.setAttribute("aria-valuemin", 1);
      area.setAttribute("aria-valuemax", this.data.x.length);
      area.setAttribute("aria-valuenow", 1);
      area.setAttribute("aria-valuetext", this.data.keys);
      area.addEventListener("focus", () => this.at ?? this.moveTo(this.indexAt(this.view.left)));
      area.addEventListener("keydown", (event) => this.key(event));
      area.addEventListener("pointermove", (event) => this.pointer(event));
      area.addEventListener("pointerdown", (event) => {
        this.from = this.unitAt(event);
        area.setPointerCapture(event.pointerId);
      });
      area.addEventListener("pointerup", (event) => this.drop(event));
      area.addEventListener("pointercancel", () => this.letGo());
    }

    // --- where things are

    unitAt(event) {
      const box = this.area.getBoundingClientRect();
      const part = clamp((event.clientX - box.left) / box.width, 0, 1);
      return this.view.left + part * (this.view.right - this.view.left);
    }

    indexAt(unit) {
      let best = 0;
      this.units.forEach((u, i) => {
        if (Math.abs(u - unit) < Math.abs(this.units[best] - unit)) best = i;
      });
      return best;
    }

    across(unit) {
      return `${(100 * (unit - this.view.left)) / (this.view.right - this.view.left)}%`;
    }

    down(share) {
      return `${(100 * (this.view.high - share)) / (this.view.high - this.view.low)}%`;
    }

    shown() {
      return this.data.series.map((series, s) => ({ ...series, s })).filter(({ s }) => this.boxes[s].checked);
    }

    // --- what a user does

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const last = this.units.length - 1;
      const step = event.shiftKey ? 10 : 1;
      const actions = {
        ArrowRight: () => this.moveTo(this.at + step),
        ArrowUp: () => this.moveTo(this.at + step),
        ArrowLeft: () => this.moveTo(this.at - step),
        ArrowDown: () => this.moveTo(this.at - step),
        PageUp: () => this.moveTo(this.at + 20),
        PageDown: () => this.moveTo(this.at - 20),
        Home: () => this.moveTo(0),
        End: () => this.moveTo(last),
        "+": () => this.zoom(0.5),
        "=": () => this.zoom(0.5),
        "-": () => this.zoom(2),
        0: () => this.show(0, 1),
        Escape: () => this.show(0, 1),
      };
      if (!(event.key in actions)) return;
      event.preventDefault();
      actions[event.key]();
    }

    pointer(event) {
      const unit = this.unitAt(event);
      this.moveTo(this.indexAt(unit));
      if (this.from === undefined) return;
      const [left, right] = [Math.min(this.from, unit), Math.max(this.from, unit)];
      const width = parseFloat(this.across(right)) - parseFloat(this.across(left));
      child(this.cursor, "rect", { x: this.across(left), width: `${width}%`, y: 0, height: "100%" });
    }

    drop(event) {
      const [from, to] = [this.from, this.unitAt(event)];
      this.letGo();
      const dragged = Math.abs(to - from) / (this.view.right - this.view.left);
      if (dragged > 0.03) this.show(Math.min(from, to), Math.max(from, to));
    }

    letGo() {
      this.from = undefined;
      this.drawCursor();
    }

    zoom(factor) {
      const { left, right } = this.view;
      const middle = this.at === null ? (left + right) / 2 : clamp(this.units[this.at], left, right);
      const width = Math.min((right - left) * factor, 1);
      const start = clamp(middle - width * ((middle - left) / (right - left)), 0, 1 - width);
      this.show(start, start + width);
    }

    // --- what is drawn

    show(left, right) {
      const inside = this.units.filter((u) => u >= left && u <= right).length;
      if (inside < 3) return; // nothing more to see
      let { low, high } = this.data;
      if (left > 0 || right < 1) {
        const visible = this.shown().flatMap((s) => s.y.filter((_, i) => this.units[i] >= left && this.units[i] <= right));
        if (visible.length) {
          const margin = Math.max(0.06 * (Math.max(...visible) - Math.min(...visible)), 0.01);
          low = Math.max(Math.min(...visible) - margin, low);
          high = Math.min(Math.max(...visible) + margin, high);
        }
      }
      this.view = { left, right, low, high };
      const box = [left, 1 - high, right - left, high - low].map((part) => +(SIZE * part).toFixed(3));
      this.plot.setAttribute("viewBox", box.join(" "));
      this.drawAxes();
      if (this.at !== null) {
        const edge = clamp(this.units[this.at], left, right);
        this.at = this.indexAt(edge);
      }
      this.drawCursor();
    }

    drawAxes() {
      const { left, right, low, high } = this.view;
      for (const part of [this.grid, this.axes.x, this.axes.y]) part.replaceChildren();
      const ends = [left, right].map((unit) => this.scale.from(this.first + unit * this.span));
      for (const x of ticksOf(this.data.scale, ...ends)) {
        const at = this.across((this.scale.to(x) - this.first) / this.span);
        child(this.axes.x, "text", { x: at, y: "1.1em" }, this.data.percent ? `${+(100 * x).toPrecision(3)} %` : (+x.toPrecision(6)).toLocaleString("en"));
        child(this.grid, "line", { x1: at, x2: at, y1: 0, y2: "100%" });
      }
      for (const y of evenTicks(low, high)) {
        child(this.axes.y, "text", { x: "92%", y: this.down(y) }, `${+(100 * y).toPrecision(3)} %`);
        child(this.grid, "line", { x1: 0, x2: "100%", y1: this.down(y), y2: this.down(y) });
      }
    }

    moveTo(index) {
      this.at = clamp(index ?? 0, 0, this.units.length - 1);
      const { left, right } = this.view;
      const unit = this.units[this.at];
      if (unit < left || unit > right) {
        const start = clamp(unit < left ? unit : unit - (right - left), 0, 1 - (right - left));
        this.show(start, start + (right - left)); // draws the cursor, too
      } else {
        this.drawCursor();
      }
    }

    drawCursor() {
      this.cursor.replaceChildren();
      if (this.at === null) return;
      const x = this.across(this.units[this.at]);
      child(this.cursor, "line", { x1: x, x2: x, y1: 0, y2: "100%" });
      const said = [];
      this.outputs.forEach((output) => (output.textContent = ""));
      for (const { name, y, s, colour } of this.shown()) {
        const share = y[this.at];
        if (share >= this.view.low && share <= this.view.high) {
          child(this.cursor, "circle", { cx: x, cy: this.down(share), r: 4.5, class: `dot m${colour}` });
        }
        this.outputs[s].textContent = percent(share);
        said.push(`${name} ${percent(share)}`);
      }
      const value = this.data.x[this.at];
      const place = this.data.place.replace("{}", this.data.percent ? percent(value) : value.toLocaleString("en"));
      this.place.textContent = place;
      this.area.setAttribute("aria-valuenow", this.at + 1);
      this.area.setAttribute("aria-valuetext", `${place}: ${said.join(", ")}`);
    }
  }

  for (const figure of document.querySelectorAll("figure.chart")) new Chart(figure);
})();
