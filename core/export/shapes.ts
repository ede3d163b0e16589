/**
 * What a still picture is made of: rectangles, lines and texts in pixels, in the order in which they lie on each other.
 * SVG and PNG are written from the same list, so that both show the same.
 */

/** `#rrggbb`. */
export type Color = `#${string}`;

export interface RectShape {
  readonly kind: 'rect';
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly fill: Color;
  /** 0 to 1; left out: 1. */
  readonly opacity?: number;
  /** What a reader who points at it sees; SVG only. */
  readonly title?: string;
}

/** One pixel wide. */
export interface LineShape {
  readonly kind: 'line';
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
  readonly color: Color;
  readonly dashed?: boolean;
  /** A head at the second end. */
  readonly arrow?: boolean;
}

export interface TextShape {
  readonly kind: 'text';
  readonly x: number;
  /** The base line. */
  readonly y: number;
  readonly text: string;
  readonly color: Color;
  readonly bold?: boolean;
}

export type Shape = RectShape | LineShape | TextShape;

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly background: Color;
  /** Said by screen readers. */
  readonly title: string;
  readonly shapes: readonly Shape[];
}

/** One letter, in pixels: all texts are of one size and of fixed width, so that room can be worked out without a font. */
export const letterWidth = 7;
export const letterHeight = 12;

/** The text, cut with … where it has more letters than there is room for; '' where that would say nothing. */
export function fitted(text: string, room: number): string {
  const letters = Math.floor(room / letterWidth);
  const all = [...text];
  if (all.length <= letters) return text;
  return letters < 4 ? '' : `${all.slice(0, letters - 1).join('')}…`;
}

/** Lines of at most `room` pixels, broken between words; what is longer than a line is cut. */
export function wrapped(text: string, room: number): string[] {
  const letters = Math.max(8, Math.floor(room / letterWidth));
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line && line.length + 1 + word.length > letters) {
      lines.push(line);
      line = '';
    }
    line = line ? `${line} ${word}` : word;
    if (line.length > letters) line = `${line.slice(0, letters - 1)}…`;
  }
  if (line) lines.push(line);
  return lines;
}

/** The three corners of the head of an arrow, its tip first. */
export function arrowHead({ x1, y1, x2, y2 }: LineShape): readonly (readonly [x: number, y: number])[] {
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [along, across] = [(x2 - x1) / length, (y2 - y1) / length];
  const corner = (side: number) => [x2 - 6 * along - side * across, y2 - 6 * across + side * along] as const;
  return [[x2, y2], corner(2.5), corner(-2.5)];
}
