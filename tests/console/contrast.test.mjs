// The colours of console/src/style/tokens.css: every pair of text and ground has its contrast, in both
// themes, and the data colours stay apart for those who see some colours alike.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";

const css = readFileSync(new URL("../../console/src/style/tokens.css", import.meta.url), "utf8");

function theme(name) {
  const from = css.indexOf(`[data-theme="${name}"] {`);
  return Object.fromEntries([...css.slice(from, css.indexOf("}", from)).matchAll(/--([\w-]+): (#[0-9a-f]{6})/g)].map((one) => [one[1], one[2]]));
}
const channels = (hex) => [1, 3, 5].map((at) => {
  const part = parseInt(hex.slice(at, at + 2), 16) / 255;
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
});
const luminance = (hex) => channels(hex).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);

// What is left of a colour without one kind of cone, in linear RGB.
const sight = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  "without red": [[0.112, 0.888, 0], [0.112, 0.888, 0], [0.004, -0.004, 1]],
  "without green": [[0.293, 0.707, 0], [0.293, 0.707, 0], [-0.022, 0.022, 1]],
  "without blue": [[1.013, 0.135, -0.148], [-0.012, 0.868, 0.144], [0.076, 0.805, 0.119]],
};
function seen(hex, matrix) {
  const rgb = channels(hex);
  const [r, g, b] = matrix.map((row) => Math.max(0, row.reduce((sum, part, i) => sum + part * rgb[i], 0)));
  const l = Math.cbrt(0.4122 * r + 0.5363 * g + 0.0514 * b);
  const m = Math.cbrt(0.2119 * r + 0.6807 * g + 0.1074 * b);
  const s = Math.cbrt(0.0883 * r + 0.2817 * g + 0.63 * b);
  return [0.2105 * l + 0.7936 * m - 0.0041 * s, 1.978 * l - 2.4286 * m + 0.4506 * s, 0.0259 * l + 0.7828 * m - 0.8087 * s];
}

describe("colours", () => {
  for (const name of ["light", "dark"]) {
    const t = theme(name);
    it(`${name}: text and marks can be read`, () => {
      const pairs = [
        ...["ink", "ink-2", "ink-3", "brass", "good", "warn", "bad", "info"].flatMap((text) => ["bg", "surface", "sunken"].map((ground) => [text, ground, 4.5])),
        ...["code-key", "code-str", "code-num", "code-word", "code-dim"].map((text) => [text, "surface", 4.5]),
        ...["good", "warn", "bad", "info"].flatMap((text) => [[text, `${text}-soft`, 4.5], ["ink", `${text}-soft`, 4.5]]),
        ...["brass", "ink", "ink-2", "ink-3"].map((text) => [text, "brass-soft", 4.5]), ["brass-on", "brass-fill", 4.5],
        ...["k1", "k2", "k3", "k4", "k5", "k6", "rest", "edge", "focus"].map((mark) => [mark, "surface", 3]),
      ];
      for (const [front, ground, least] of pairs) {
        const ratio = contrast(t[front], t[ground]);
        assert.ok(ratio >= least, `${front} on ${ground}: ${ratio.toFixed(2)}, at least ${least}`);
      }
    });
    it(`${name}: data colours can be told apart by all`, () => {
      const keys = ["k1", "k2", "k3", "k4", "k5", "k6", "rest"];
      for (const [kind, matrix] of Object.entries(sight)) {
        for (const [i, one] of keys.entries()) {
          for (const other of keys.slice(0, i)) {
            const a = seen(t[one], matrix);
            const b = seen(t[other], matrix);
            const apart = 100 * Math.hypot(...a.map((part, at) => part - b[at]));
            assert.ok(apart >= 5, `${one} and ${other}, ${kind}: ${apart.toFixed(1)}`);
          }
        }
      }
    });
  }
});
