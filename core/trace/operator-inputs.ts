/**
 * What operators of a profile were called with: the types and shapes of their inputs, and the values of those that are no
 * tensors. They are half of such a file; each text is kept once, for operators are called with the same shapes over and over.
 *
 *     "Concrete Inputs": ["", "1"], "Input type": ["float", "Scalar"], "Input Dims": [[8, 256], []]
 */
import { type InputsReader, mostInputs, type OperatorInput } from './inputs-reader.ts';
import { type KinetoSink, KinetoScanner, type ScannedEvent } from './kineto-scan.ts';
import { fitText, StringTable } from './strings.ts';

/** Different texts that are kept. */
const mostTexts = 200_000;
/** Beside the inputs, and another number for each operator. */
const numbers = /"(?:External id|Ev Idx|Record function id|Sequence number|Fwd thread id)"\s*:\s*-?\d+\s*,?/g;

export class OperatorInputs implements KinetoSink, InputsReader {
  readonly #strings = new StringTable();
  /** By the row of the file: the number of a text, -1: none. */
  #rows = new Int32Array(1024).fill(-1);
  readonly #texts: string[] = [];
  readonly #ids = new Map<string, number>();

  readonly #scanner = new KinetoScanner(this.#strings, this);

  push(bytes: Uint8Array): void {
    this.#scanner.push(bytes);
  }

  finish(): void {
    this.#scanner.finish();
  }

  of(row: number): OperatorInput[] {
    const text = this.#texts[this.#rows[row] ?? -1];
    return text === undefined ? [] : inputsOf(text);
  }

  // What the scanner calls.

  event(event: ScannedEvent): void {
    if (event.phase !== complete || event.category < 0) return;
    const category = this.#strings.list[event.category];
    if (category !== 'cpu_op' && category !== 'Operator') return;
    const text = event.argumentsText().replace(numbers, '');
    if (!text.includes('"Input')) return;
    let id = this.#ids.get(text);
    if (id === undefined) {
      if (this.#texts.length === mostTexts) return;
      id = this.#texts.push(text) - 1;
      this.#ids.set(text, id);
    }
    this.#put(event.row, id);
  }

  metadata(): void {}

  problem(): void {}

  #put(row: number, id: number): void {
    if (row >= this.#rows.length) {
      const larger = new Int32Array(Math.max(row + 1, this.#rows.length * 2)).fill(-1);
      larger.set(this.#rows);
      this.#rows = larger;
    }
    this.#rows[row] = id;
  }
}

const complete = 'X'.charCodeAt(0);

function inputsOf(text: string): OperatorInput[] {
  let found: Record<string, unknown>;
  try {
    // Without the numbers a comma may be left before the bracket.
    found = JSON.parse(text.replace(/,\s*\}$/, '}')) as Record<string, unknown>;
  } catch {
    return [];
  }
  const types = listOf(found['Input type']);
  const shapes = listOf(found['Input Dims']);
  const values = listOf(found['Concrete Inputs']);
  const count = Math.min(mostInputs, Math.max(types.length, shapes.length, values.length));
  return Array.from({ length: count }, (_, i) => ({
    type: textOf(types[i]).replace(/^c10::/, ''),
    shape: shapeOf(shapes[i]),
    value: textOf(values[i]),
  }));
}

/** `8 × 256`, and of a list of tensors `8 × 256, 3`. */
function shapeOf(shape: unknown): string {
  const sizes = listOf(shape);
  if (sizes.some(Array.isArray)) return fitText(sizes.slice(0, mostInputs).map(shapeOf).filter(Boolean).join(', '));
  return sizes.every((size) => typeof size === 'number') ? sizes.join(' × ') : '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? fitText(`${value}`) : '';
}
