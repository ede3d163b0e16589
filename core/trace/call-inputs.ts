/**
 * What operators of a `.raceline` run were called with. The executor says it at the first call of an operator from a place;
 * a later call from there has the same inputs if it touches as many bytes of as many blocks, else nothing is said of it.
 * Read only when somebody asks.
 */
import { strFromU8 } from 'fflate';
import { type InputsReader, mostInputs, type OperatorInput } from './inputs-reader.ts';
import { LineSplitter } from './lines.ts';
import { fitText } from './strings.ts';

interface FirstCall {
  /** What stands under the key `in`. */
  readonly given: readonly unknown[];
  readonly touched: string;
}

/** Places of which the inputs are kept. */
const mostPlaces = 200_000;
/** Names of types are longer than no type. */
const longestValue = 200;

export class CallInputs implements InputsReader {
  readonly #lines = new LineSplitter();
  readonly #first = new Map<string, FirstCall>();
  /** By the row of the file. */
  readonly #calls = new Map<number, FirstCall>();
  #row = -1;

  push(bytes: Uint8Array): void {
    this.#lines.push(bytes, (line) => this.#line(line));
  }

  finish(): void {
    const { line } = this.#lines.rest();
    if (line.length > 0) this.#line(line);
  }

  of(row: number): OperatorInput[] {
    return (this.#calls.get(row)?.given ?? []).slice(0, mostInputs).map(inputOf);
  }

  #line(line: Uint8Array): void {
    this.#row++;
    const text = strFromU8(line);
    if (!text.includes('"op"') || (this.#first.size === 0 && !text.includes('"in"'))) return;
    let op: Record<string, unknown>;
    try {
      op = JSON.parse(text) as Record<string, unknown>;
    } catch {
      return;
    }
    if (op?.k === 'op') this.#call(op);
  }

  #call(op: Record<string, unknown>): void {
    const place = `${String(op.name)} ${String(op.s)}`;
    const touched = touchedBy(op.acc);
    let first = this.#first.get(place);
    if (Array.isArray(op.in) && this.#first.size < mostPlaces) {
      first = { given: op.in, touched };
      this.#first.set(place, first);
    }
    if (first?.touched === touched) this.#calls.set(this.#row, first);
  }
}

/** How many bytes of each block, in the order of the accesses. */
function touchedBy(accesses: unknown): string {
  if (!Array.isArray(accesses)) return '';
  return accesses
    .map((access: unknown) =>
      Array.isArray(access) ? `${Number(access[2]) - Number(access[1])}${String(access[3])}` : '',
    )
    .join(' ');
}

/** `["float32", [8, 256]]` is a tensor, a list of these is one of tensors, and a text is a value. */
function inputOf(value: unknown): OperatorInput {
  if (typeof value === 'string') return { type: '', shape: '', value: fitText(value.slice(0, longestValue)) };
  const tensor = tensorOf(value);
  if (tensor) return { ...tensor, value: '' };
  const tensors = Array.isArray(value) ? value.slice(0, mostInputs).flatMap((item) => tensorOf(item) ?? []) : [];
  return tensors.length === 0
    ? { type: '', shape: '', value: '' }
    : {
        type: `${tensors[0]!.type} list`,
        shape: tensors.map(({ shape }) => shape || 'no dimensions').join(', '),
        value: '',
      };
}

function tensorOf(value: unknown): { readonly type: string; readonly shape: string } | undefined {
  if (!Array.isArray(value) || typeof value[0] !== 'string' || !Array.isArray(value[1])) return undefined;
  const sizes: unknown[] = value[1].slice(0, mostInputs);
  const isShape = sizes.every((size) => typeof size === 'number');
  return { type: fitText(value[0].slice(0, longestValue)), shape: isShape ? sizes.join(' × ') : '' };
}
