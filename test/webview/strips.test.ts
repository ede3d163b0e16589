/** Narrow rectangles as pixels: where they come to lie, what is cut, and that what does not fit is drawn first. */
import { expect, test } from 'vitest';
import { makeStrips, pixelOf } from '../../webview/draw/strips.ts';
import { mockPen } from './mockContext.ts';

/** Strips of twelve pixels a line, with each of their images as text: one letter a pixel. */
function drawn(ratio = 1): {
  strips: ReturnType<typeof makeStrips>;
  pen: ReturnType<typeof mockPen>;
  lines(): string[];
} {
  const images: Uint8ClampedArray[] = [];
  const width = 12;
  const strips = makeStrips(width, (w, h) => {
    const pixels = new Uint8ClampedArray(w * h * 4);
    images.push(pixels);
    return { image: { data: pixels } as ImageData, canvas: {} as CanvasImageSource, ctx: { putImageData() {} } };
  });
  const letter = (at: number): string => (images[1]![at + 3] === 0 ? '.' : images[1]![at]! > 0 ? 'r' : 'g');
  const lines = (): string[] =>
    Array.from({ length: 5 }, (_, y) => Array.from({ length: width }, (_, x) => letter((y * width + x) * 4)).join(''));
  return { strips, pen: { ...mockPen(), ratio }, lines };
}

const red = pixelOf([255, 0, 0]);
const green = pixelOf([0, 255, 0]);

test('a rectangle in a rectangle, another one that is cut', () => {
  const { strips, pen, lines } = drawn();
  expect(strips.open(pen, 100, 40, 5)).toBe(true);
  strips.fill(102, 40, 5, 4, red);
  strips.fill(103, 41, 3, 2, green);
  strips.fill(110, 43, 50, 50, green);
  strips.flush(pen);
  expect(lines()).toEqual(['..rrrrr.....', '..rgggr.....', '..rgggr.....', '..rrrrr...gg', '..........gg']);
  expect(pen.log.filter((call) => call.startsWith('drawImage'))).toEqual(['drawImage(canvas 0 0 12 5 100 40 12 5)']);
});

test('two device pixels a CSS pixel', () => {
  const { strips, pen, lines } = drawn(2);
  strips.open(pen, 0, 0, 2);
  strips.fill(1, 0.5, 2, 1, red);
  expect(lines()).toEqual(['............', '..rrrr......', '..rrrr......', '............', '............']);
});

test('room that nobody uses is not drawn, and what was drawn is gone from the next frame', () => {
  const { strips, pen, lines } = drawn();
  strips.open(pen, 0, 0, 3);
  strips.fill(0, 0, 12, 3, red);
  strips.flush(pen);
  strips.open(pen, 0, 0, 3);
  strips.flush(pen);
  expect(pen.log.filter((call) => call.startsWith('drawImage'))).toHaveLength(1);
  strips.open(pen, 0, 0, 3);
  strips.fill(4, 1, 1, 1, green);
  expect(lines().slice(0, 3)).toEqual(['............', '....g.......', '............']);
});

test('lanes that do not fit into one image are drawn before it is used again; a higher one has no room', () => {
  const { strips, pen } = drawn();
  for (let lane = 0; lane < 3; lane++) {
    strips.open(pen, 0, lane * 500, 500);
    strips.fill(0, lane * 500, 1, 1, red);
  }
  expect(pen.log.filter((call) => call.startsWith('drawImage'))).toHaveLength(2);
  strips.flush(pen);
  expect(pen.log.filter((call) => call.startsWith('drawImage'))).toHaveLength(3);
  expect(strips.open(pen, 0, 0, 1025)).toBe(false);
  strips.fill(0, 0, 5, 5, red);
  strips.flush(pen);
  expect(pen.log.filter((call) => call.startsWith('drawImage'))).toHaveLength(3);
});
