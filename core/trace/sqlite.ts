/**
 * Reads the tables of an SQLite database from its bytes (https://www.sqlite.org/fileformat2.html): schema, and the rows of
 * a table in the order of their ids. It only walks tables, so there are no queries, indices or writes; in return it is the
 * same in Node and in a browser's worker, and needs no WebAssembly, which the timeline's content policy forbids.
 *
 * Nothing in the file is believed: a page is visited once, a broken one is told with its offset and passed over.
 * Deliberately unknown here: what the tables mean.
 */
import { strFromU8 } from 'fflate';
import { TraceError } from './error.ts';

/** Integers past 2^53 are bigints. */
export type SqlValue = number | bigint | string | Uint8Array | null;

export interface SqlTable {
  readonly name: string;
  /** Lower case, in the order of the record. */
  readonly columns: readonly string[];
  readonly root: number;
  /** Index of the column that stands for the row's id, -1: none. */
  readonly idColumn: number;
}

const headerLength = 100;
const leafTable = 13;
const interiorTable = 5;
/** A tree of the largest database has far fewer levels. */
const deepest = 40;

export class SqliteFile {
  readonly tables = new Map<string, SqlTable>();
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #pageSize: number;
  readonly #usable: number;
  readonly #decode: (bytes: Uint8Array) => string;
  readonly #problem: (message: string, offset: number) => void;

  /** Throws a `TraceError` where the file has no readable schema. */
  constructor(bytes: Uint8Array, problem: (message: string, offset: number) => void) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#problem = problem;
    if (bytes.length < headerLength) throw new TraceError('The SQLite file ends inside its header.', bytes.length);
    const stored = this.#view.getUint16(16);
    this.#pageSize = stored === 1 ? 65536 : stored;
    this.#usable = this.#pageSize - bytes[20]!;
    if (this.#pageSize < 512 || (this.#pageSize & (this.#pageSize - 1)) !== 0 || this.#usable < 480)
      throw new TraceError(`The SQLite header is damaged: a page size of ${this.#pageSize} cannot be.`, 16);
    this.#decode = decoders[this.#view.getUint32(56)] ?? strFromU8;
    this.#readSchema();
  }

  table(name: string): SqlTable | undefined {
    return this.tables.get(name.toLowerCase());
  }

  /** Visits all rows; `values` hold the columns asked for (null where the table has no such column) and are reused. */
  rows(table: SqlTable, columns: readonly string[], visit: (values: readonly SqlValue[]) => void): void {
    const places = columns.map((column) => table.columns.indexOf(column.toLowerCase()));
    const values: SqlValue[] = columns.map(() => null);
    this.#walk(table.root, (id, payload) => {
      const record = this.#record(payload, places);
      for (let i = 0; i < places.length; i++)
        values[i] = places[i] === table.idColumn && places[i]! >= 0 && record[i] === null ? id : record[i]!;
      visit(values);
    });
  }

  #readSchema(): void {
    this.#walk(1, (_, payload) => {
      const [type, name, root, sql] = this.#record(payload, [0, 1, 3, 4]);
      if (type !== 'table' || typeof name !== 'string' || typeof root !== 'number' || typeof sql !== 'string') return;
      const parsed = columnsOf(sql);
      if (parsed) this.tables.set(name.toLowerCase(), { name, root, ...parsed });
    });
    if (this.tables.size === 0)
      throw new TraceError('The SQLite file holds no tables, or its first page is damaged.', 0);
  }

  #walk(root: number, visit: (id: number | bigint, payload: Uint8Array) => void): void {
    const seen = new Set<number>();
    const enter = (page: number, depth: number): void => {
      const offset = (page - 1) * this.#pageSize;
      if (page < 1 || offset + this.#pageSize > this.#bytes.length || seen.has(page) || depth > deepest) {
        this.#problem(
          offset + this.#pageSize > this.#bytes.length
            ? `Page ${page} lies past the end of the SQLite file: it was cut. What came before is shown.`
            : `Page ${page} of the SQLite file is damaged; its rows are left out.`,
          Math.max(0, Math.min(offset, this.#bytes.length)),
        );
        return;
      }
      seen.add(page);
      // The first page begins with the file's own header.
      const start = page === 1 ? offset + headerLength : offset;
      const type = this.#bytes[start]!;
      if (type !== leafTable && type !== interiorTable) {
        this.#problem(`Page ${page} of the SQLite file is no page of a table; its rows are left out.`, offset);
        return;
      }
      const cells = this.#view.getUint16(start + 3);
      const pointers = start + (type === leafTable ? 8 : 12);
      for (let i = 0; i < cells && pointers + 2 * i + 2 <= offset + this.#pageSize; i++) {
        const cell = offset + this.#view.getUint16(pointers + 2 * i);
        try {
          if (type === interiorTable) enter(this.#view.getUint32(cell), depth + 1);
          else this.#cell(cell, visit);
        } catch (error) {
          if (!(error instanceof RangeError)) throw error;
          this.#problem(`A row of page ${page} of the SQLite file is damaged; it is left out.`, cell);
        }
      }
      if (type === interiorTable) enter(this.#view.getUint32(start + 8), depth + 1);
    };
    enter(root, 0);
  }

  #cell(at: number, visit: (id: number | bigint, payload: Uint8Array) => void): void {
    const size = this.#varint(at);
    const id = this.#varint(size.end);
    const length = Number(size.value);
    const from = id.end;
    const inPage = this.#usable - 35;
    if (length <= inPage) {
      this.#inside(from, length);
      visit(id.value, this.#bytes.subarray(from, from + length));
      return;
    }
    // What does not fit lies in a chain of pages of its own.
    const least = Math.floor(((this.#usable - 12) * 32) / 255) - 23;
    const wanted = least + ((length - least) % (this.#usable - 4));
    const local = wanted <= inPage ? wanted : least;
    if (length > this.#bytes.length) throw new RangeError('a row longer than the file');
    this.#inside(from, local + 4);
    const payload = new Uint8Array(length);
    payload.set(this.#bytes.subarray(from, from + local));
    let filled = local;
    let page = this.#view.getUint32(from + local);
    while (filled < length) {
      const offset = (page - 1) * this.#pageSize;
      if (page < 1) throw new RangeError('the chain of a row ends early');
      this.#inside(offset, this.#pageSize);
      const part = Math.min(length - filled, this.#usable - 4);
      payload.set(this.#bytes.subarray(offset + 4, offset + 4 + part), filled);
      filled += part;
      page = this.#view.getUint32(offset);
    }
    visit(id.value, payload);
  }

  #inside(from: number, length: number): void {
    if (from < 0 || from + length > this.#bytes.length) throw new RangeError('past the end of the file');
  }

  #varint(at: number): { readonly value: number | bigint; readonly end: number } {
    return readVarint(this.#bytes, at);
  }

  /** The values at `places` of a record; a record may be shorter than its table (columns that were added later). */
  #record(payload: Uint8Array, places: readonly number[]): SqlValue[] {
    const head = readVarint(payload, 0);
    const result: SqlValue[] = places.map(() => null);
    const end = Number(head.value);
    if (end > payload.length) throw new RangeError('a header longer than its record');
    let body = end;
    let at = head.end;
    for (let column = 0; at < end; column++) {
      const type = readVarint(payload, at);
      at = type.end;
      const kind = Number(type.value);
      const length = lengthOf(kind);
      for (let i = 0; i < places.length; i++)
        if (places[i] === column) {
          if (body + length > payload.length) throw new RangeError('a value past the end of its record');
          result[i] = this.#value(payload, body, kind, length);
        }
      body += length;
    }
    return result;
  }

  #value(payload: Uint8Array, at: number, kind: number, length: number): SqlValue {
    if (kind === 0) return null;
    if (kind === 8) return 0;
    if (kind === 9) return 1;
    const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
    switch (kind) {
      case 1:
        return view.getInt8(at);
      case 2:
        return view.getInt16(at);
      case 3:
        return (view.getInt16(at) << 8) | payload[at + 2]!;
      case 4:
        return view.getInt32(at);
      case 5:
        return view.getInt16(at) * 2 ** 32 + view.getUint32(at + 2);
      case 6: {
        const value = view.getBigInt64(at);
        return value >= -limit && value <= limit ? Number(value) : value;
      }
      case 7:
        return view.getFloat64(at);
      default: {
        const part = payload.subarray(at, at + length);
        return kind % 2 === 1 ? this.#decode(part) : part;
      }
    }
  }
}

/** By the number in the header; 1 is UTF-8. */
const decoders: Readonly<Record<number, (bytes: Uint8Array) => string>> = {
  2: (bytes) => fromUtf16(bytes, true),
  3: (bytes) => fromUtf16(bytes, false),
};

function fromUtf16(bytes: Uint8Array, little: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode(view.getUint16(at, little));
  return text;
}

const limit = BigInt(Number.MAX_SAFE_INTEGER);

function lengthOf(kind: number): number {
  if (kind >= 12) return Math.floor((kind - 12) / 2);
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][kind]!;
}

/** One to nine bytes, seven bits each, the ninth whole. */
function readVarint(bytes: Uint8Array, at: number): { readonly value: number | bigint; readonly end: number } {
  let value = 0;
  for (let i = 0; i < 8; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) throw new RangeError('a number past the end');
    // Past 2^53 a double is not exact any more: the long way.
    if (i === 7) return longVarint(bytes, at);
    value = value * 128 + (byte & 127);
    if (byte < 128) return { value, end: at + i + 1 };
  }
  return longVarint(bytes, at);
}

function longVarint(bytes: Uint8Array, at: number): { readonly value: number | bigint; readonly end: number } {
  let value = 0n;
  for (let i = 0; i < 9; i++) {
    const byte = bytes[at + i];
    if (byte === undefined) throw new RangeError('a number past the end');
    if (i === 8) return { value: BigInt.asIntN(64, (value << 8n) | BigInt(byte)), end: at + 9 };
    value = (value << 7n) | BigInt(byte & 127);
    if (byte < 128) return { value: Number(value), end: at + i + 1 };
  }
  return { value, end: at + 9 };
}

/** Undefined: what kind of table it is cannot be read here (virtual tables, those without row ids). */
function columnsOf(sql: string): { columns: string[]; idColumn: number } | undefined {
  const open = sql.indexOf('(');
  const close = sql.lastIndexOf(')');
  if (!/^\s*create\s+(temp\s+|temporary\s+)?table\b/i.test(sql) || open < 0 || close < open) return undefined;
  if (/\bwithout\s+rowid\b/i.test(sql.slice(close))) return undefined;
  const columns: string[] = [];
  let idColumn = -1;
  let key: string | undefined;
  const integers = new Map<string, number>();
  for (const part of partsOf(sql.slice(open + 1, close))) {
    const name = /^\s*(?:"((?:[^"]|"")*)"|\[([^\]]*)\]|`([^`]*)`|([^\s(,]+))/.exec(part);
    if (!name) continue;
    const text = name[1]?.replaceAll('""', '"') ?? name[2] ?? name[3] ?? name[4]!;
    if (name[4] !== undefined && /^(constraint|primary|unique|check|foreign)$/i.test(text)) {
      key ??= /\bprimary\s+key\s*\(\s*["[`]?([^\s",)\]`]+)["\]`]?\s*\)/i.exec(part)?.[1]?.toLowerCase();
      continue;
    }
    // Only this very type makes the column another name of the row's id.
    const integer = /^\s*integer\b/i.test(part.slice(name[0].length));
    if (integer && /\bprimary\s+key\b/i.test(part)) idColumn = columns.length;
    if (integer) integers.set(text.toLowerCase(), columns.length);
    columns.push(text.toLowerCase());
  }
  return { columns, idColumn: idColumn >= 0 || key === undefined ? idColumn : (integers.get(key) ?? -1) };
}

/** Split at the commas that stand in no bracket, quote or comment. */
function partsOf(text: string): string[] {
  const bare = text.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, ' ');
  const parts: string[] = [];
  let depth = 0;
  let quote = '';
  let from = 0;
  for (let i = 0; i < bare.length; i++) {
    const c = bare[i]!;
    if (quote) {
      if (c === quote) quote = '';
    } else if (c === '"' || c === "'" || c === '`') quote = c;
    else if (c === '(') depth++;
    else if (c === ')') depth--;
    else if (c === ',' && depth === 0) {
      parts.push(bare.slice(from, i));
      from = i + 1;
    }
  }
  parts.push(bare.slice(from));
  return parts;
}
