/** Colours as numbers: reading CSS, mixing, and WCAG contrast. Knows no theme. */

export type Rgb = readonly [number, number, number];

/** `#rgb`, `#rrggbb(aa)`, `rgb(…)`, `rgba(…)`; what is see-through is laid over `under`. Undefined: not a colour. */
export function parseColor(text: string, under: Rgb = [0, 0, 0]): Rgb | undefined {
  const value = text.trim().toLowerCase();
  const hex = /^#([0-9a-f]{3,8})$/.exec(value)?.[1];
  if (hex !== undefined) {
    const long = hex.length <= 4 ? [...hex].map((digit) => digit + digit).join('') : hex;
    if (long.length !== 6 && long.length !== 8) return undefined;
    const part = (i: number): number => Number.parseInt(long.slice(i, i + 2), 16);
    return mix([part(0), part(2), part(4)], under, long.length === 8 ? part(6) / 255 : 1);
  }
  const parts = /^rgba?\(([^)]*)\)$/
    .exec(value)?.[1]
    ?.split(/[\s,/]+/)
    .filter(Boolean);
  if (!parts || parts.length < 3) return undefined;
  const numbers = parts.map((part) => (part.endsWith('%') ? Number.parseFloat(part) / 100 : Number.parseFloat(part)));
  if (numbers.some(Number.isNaN)) return undefined;
  return mix([numbers[0]!, numbers[1]!, numbers[2]!], under, numbers[3] ?? 1);
}

/** `share` of `a`, the rest of `b`. */
export function mix(a: Rgb, b: Rgb, share: number): Rgb {
  const part = (i: 0 | 1 | 2): number => Math.round(a[i] * share + b[i] * (1 - share));
  return [part(0), part(1), part(2)];
}

export function css([r, g, b]: Rgb, alpha = 1): string {
  return alpha === 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`;
}

function luminance([r, g, b]: Rgb): number {
  const linear = (value: number): number => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

/** WCAG contrast ratio, 1 to 21. */
export function contrast(a: Rgb, b: Rgb): number {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** The colour, moved towards the foreground until it stands out from the background by `ratio`. */
export function standingOut(color: Rgb, background: Rgb, foreground: Rgb, ratio: number): Rgb {
  for (let share = 1; share > 0; share -= 0.04) {
    const moved = mix(color, foreground, share);
    if (contrast(moved, background) >= ratio) return moved;
  }
  return foreground;
}

/** The colour mixed into the background, at most `most`, less until text on it keeps `ratio`. */
export function tint(color: Rgb, background: Rgb, text: Rgb, most: number, ratio = 5): Rgb {
  for (let share = most; share > 0.06; share -= 0.01) {
    const filled = mix(color, background, share);
    if (contrast(text, filled) >= ratio) return filled;
  }
  return mix(color, background, 0.06);
}
