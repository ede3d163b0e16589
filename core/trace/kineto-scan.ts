/**
 * Finds the events of a Chrome JSON trace in pieces of bytes, one at a time, and hands each to a sink as a few numbers:
 * no object is made for an event, no string for a name that was seen before, and the file is never whole in memory.
 *
 * Times are read digit by digit: traces of early 2024 hold microseconds since 1970 with three decimals, which a double
 * cannot hold. Files of real recorders are broken at times (unescaped quotes, control characters), so an event that does
 * not read as JSON is told and left out, and the scan goes on at the next thing that looks like an event.
 *
 * Knows JSON and the keys of an event; nothing of what categories and arguments mean.
 */
import type { ArgumentFields, ArgumentStep } from './argument-fields.ts';
import { BytePart } from './byte-part.ts';
import { ByteInterner, decodeJsonString } from './interner.ts';
import { KinetoHeads } from './kineto-heads.ts';
import type { StringTable } from './strings.ts';

/** What the scanner knows of the event at hand. Text values are ids of the string table, -1 where they are missing. */
export interface ScannedEvent {
  readonly offset: number;
  readonly row: number;
  /** The character of `ph`, 0 if missing. */
  readonly phase: number;
  readonly category: number;
  readonly name: number;
  readonly pid: number;
  readonly tid: number;
  /** 1: `pid`, `tid` are ids of strings (pseudo rows), not numbers. */
  readonly pidIsText: boolean;
  readonly tidIsText: boolean;
  /** Whole microseconds and the nanoseconds beyond them. */
  readonly microseconds: number;
  readonly nanoseconds: number;
  readonly hasTime: boolean;
  /** In nanoseconds, -1 if missing. */
  readonly duration: number;
  /** Reads the arguments that `fields` names. */
  readArguments(fields: ArgumentFields): void;
  /** The arguments as they stand in the file, '' where there are none. */
  argumentsText(): string;
}

export interface KinetoSink {
  event(event: ScannedEvent): void;
  /** A key of the outer object other than the events; `text` is its value as it stands in the file, shortened. */
  metadata(key: string, text: string): void;
  problem(kind: string, message: string, offset: number, row: number): void;
}

const incomplete = -1;
const broken = -2;
/** The bytes are not laid out as Kineto's writer does it. */
const otherLayout = -3;

/** An event or a value of the outer object that is longer than this is taken for broken. */
const longestEvent = 64 << 20;
const longestMetadata = 1 << 30;

/** Arguments that are wanted stand among the first ones. */
const mostSteps = 32;

const quote = 34;
const comma = 44;
const colon = 58;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

type State = 'start' | 'outer' | 'events' | 'end';

export class KinetoScanner implements ScannedEvent {
  readonly #sink: KinetoSink;
  readonly #interner: ByteInterner;
  readonly #heads: KinetoHeads;

  // The window: `#bytes` begin at byte `#base` of the file; `#at` is how far they are read.
  #bytes: Uint8Array = new Uint8Array(0);
  #words = toView(this.#bytes);
  #limit = 0;
  #base = 0;
  #at = 0;
  /** What of the pieces so far is not read yet: the beginning of something that is not whole. */
  #rest: Uint8Array[] = [];
  #restLength = 0;
  #wanted = 0;
  /** How many bytes were pushed. */
  #length = 0;
  #state: State = 'start';
  #bare = false;
  #last = false;
  #resyncing = false;

  offset = 0;
  row = -1;
  phase = 0;
  category = -1;
  name = -1;
  // NaN where others have 0: numbers that may be large are laid out for that from the start, and not when the first one
  // comes, which would throw away all that the engine has compiled by then.
  pid = Number.NaN;
  tid = Number.NaN;
  pidIsText = false;
  tidIsText = false;
  microseconds = Number.NaN;
  nanoseconds = 0;
  hasTime = false;
  duration = Number.NaN;
  #argumentsFrom = -1;
  #argumentsTo = -1;

  // Results of #string and #number.
  #escaped = false;
  #whole = Number.NaN;
  #fraction = 0;
  #negative = false;

  // The first eight digits of the last time (all, where it had fewer): their bytes as a double, and their number.
  #leading = Number.NaN;
  #leadingNumber = 0;
  #leadingLength = 8;
  #digitsEnd = 0;

  #fast = true;
  #fastUsed = false;
  #fastFailures = 0;
  #sawEvents = false;

  constructor(strings: StringTable, sink: KinetoSink) {
    this.#interner = new ByteInterner(strings);
    this.#heads = new KinetoHeads(this.#interner);
    this.#sink = sink;
  }

  /** Whether there was an array of events at all. */
  get sawEvents(): boolean {
    return this.#sawEvents;
  }

  get length(): number {
    return this.#length;
  }

  /** Whether the outer object or array was closed. */
  get closed(): boolean {
    return this.#state === 'end';
  }

  /** `given` is not kept past the call. */
  push(given: Uint8Array): void {
    // A Node Buffer is a class of its own, which is slower beside plain arrays, and its `slice` does not copy.
    const piece = new Uint8Array(given.buffer, given.byteOffset, given.length);
    const base = this.#length;
    this.#length += piece.length;
    if (this.#state === 'end') return;
    if (this.#restLength === 0) {
      this.#scanWindow(piece, base, 0);
      this.#keepRest();
      return;
    }
    if (this.#restLength + piece.length < this.#wanted) {
      this.#keep(piece.slice());
      return;
    }
    // What is not whole yet goes on in this piece: read over the seam first, then on in the piece itself.
    const seam = this.#restLength;
    const start = base - seam;
    const reach = Math.min(piece.length, Math.max(4096, seam));
    this.#keep(piece.subarray(0, reach));
    this.#scanWindow(this.#joinRest(), start, 0);
    if (this.#at >= seam) this.#scanWindow(piece, base, this.#at - seam);
    else if (reach < piece.length) {
      const at = this.#at;
      this.#keep(piece.subarray(reach));
      this.#scanWindow(this.#joinRest(), start, at);
    }
    this.#keepRest();
  }

  /** Call at the end of the input; a last event that is not whole is told. */
  finish(): void {
    this.#last = true;
    const rest = this.#joinRest();
    this.#scanWindow(rest, this.#length - rest.length, 0);
  }

  #scanWindow(bytes: Uint8Array, base: number, at: number): void {
    this.#bytes = bytes;
    this.#words = toView(bytes);
    this.#limit = bytes.length;
    this.#base = base;
    this.#at = at;
    this.#scan();
  }

  #keepRest(): void {
    const rest = this.#bytes.slice(this.#at, this.#limit);
    this.#bytes = rest;
    this.#base += this.#at;
    this.#at = 0;
    this.#limit = rest.length;
    this.#rest = rest.length > 0 ? [rest] : [];
    this.#restLength = rest.length;
    // What is long and not whole is not tried again before there is twice as much of it.
    this.#wanted = rest.length > 1 << 16 ? rest.length * 2 : 0;
  }

  #keep(part: Uint8Array): void {
    this.#rest.push(part);
    this.#restLength += part.length;
  }

  #joinRest(): Uint8Array {
    if (this.#rest.length === 1) return this.#rest[0]!;
    const joined = new Uint8Array(this.#restLength);
    let at = 0;
    for (const part of this.#rest) {
      joined.set(part, at);
      at += part.length;
    }
    return joined;
  }

  #scan(): void {
    for (;;) {
      const before = this.#at;
      const state = this.#state;
      const more =
        state === 'events'
          ? this.#events()
          : state === 'outer'
            ? this.#outer()
            : state === 'start'
              ? this.#start()
              : false;
      if (!more) return;
      if (this.#at === before && this.#state === state) return;
    }
  }

  #start(): boolean {
    if (this.#base === 0 && this.#at === 0 && this.#bytes[0] === 0xef && this.#limit >= 3) this.#at = 3;
    const i = this.#space(this.#at);
    if (i >= this.#limit) return false;
    this.#at = i + 1;
    if (this.#bytes[i] === openBrace) this.#state = 'outer';
    else {
      this.#state = 'events';
      this.#bare = true;
      this.#sawEvents = true;
    }
    return true;
  }

  /** One key of the outer object with its value. */
  #outer(): boolean {
    let i = this.#space(this.#at);
    while (i < this.#limit && this.#bytes[i] === comma) i = this.#space(i + 1);
    if (i >= this.#limit) return false;
    if (this.#bytes[i] === closeBrace) {
      this.#at = i + 1;
      this.#state = 'end';
      return true;
    }
    const from = i + 1;
    const to = this.#bytes[i] === quote ? this.#string(from) : broken;
    if (to === incomplete) return this.#outerCut(i);
    let value = to === broken ? to : this.#space(to + 1);
    if (to !== broken && value >= this.#limit) return this.#outerCut(i);
    if (to === broken || this.#bytes[value] !== colon) {
      this.#sink.problem(
        'broken',
        `What stands at byte ${this.#base + i} is not JSON; reading stops there.`,
        this.#base + i,
        -1,
      );
      this.#state = 'end';
      return true;
    }
    value = this.#space(value + 1);
    if (value >= this.#limit) return this.#outerCut(i);
    const key = decodeJsonString(this.#bytes, from, to, this.#escaped);
    if (key === 'traceEvents' && this.#bytes[value] === openBracket) {
      this.#at = value + 1;
      this.#state = 'events';
      this.#sawEvents = true;
      return true;
    }
    // Told before its value is there: a value of hundreds of megabytes is not waited for when the key says enough.
    this.#sink.metadata(key, '');
    const end = this.#skip(value);
    if (end === incomplete) return this.#outerCut(i);
    if (end === broken) {
      this.#sink.problem(
        'broken',
        `The value of “${key.slice(0, 40)}” at byte ${this.#base + value} is not JSON; reading stops there.`,
        this.#base + value,
        -1,
      );
      this.#state = 'end';
      return true;
    }
    this.#sink.metadata(key, decodeJsonString(this.#bytes, value, Math.min(end, value + 200), false));
    this.#at = end;
    return true;
  }

  #outerCut(from: number): boolean {
    this.#at = from;
    if (this.#last || this.#limit - from > longestMetadata) {
      this.#cut(from);
      this.#state = 'end';
    }
    return false;
  }

  #cut(from: number): void {
    this.#sink.problem(
      'cut',
      `The file ends at byte ${this.#base + this.#limit}, inside what begins at byte ${this.#base + from}: it was cut while it was written. Everything up to there is shown.`,
      this.#base + this.#limit,
      this.row,
    );
  }

  /** All whole events of the window. */
  #events(): boolean {
    const bytes = this.#bytes;
    const limit = this.#limit;
    if (this.#resyncing && !this.#resync()) return false;
    let i = this.#at;
    for (;;) {
      if (i + 4 < limit && this.#words.getInt32(i, true) === betweenEvents) i += 4;
      let c = bytes[i]!;
      while (i < limit && (c === 10 || c === 32 || c === comma || c === 13 || c === 9)) c = bytes[++i]!;
      if (i >= limit) {
        this.#at = i;
        if (this.#last) this.#cut(i);
        return false;
      }
      if (c === closeBracket) {
        this.#at = i + 1;
        this.#state = this.#bare ? 'end' : 'outer';
        return true;
      }
      let end = c === openBrace ? (this.#fast ? this.#kinetoEvent(i) : otherLayout) : broken;
      if (end === otherLayout) end = this.#event(i);
      if (end < 0 && this.#fastUsed) {
        // The quick way over arguments counts on the layout of Kineto's writer; another writer gets a second look, and
        // after some of these the quick way is not tried any more.
        this.#fast = false;
        end = this.#event(i);
        // At the end of a window the quick way gives up a little early, which says nothing of the layout.
        if (end >= 0 && end + 16 < limit) this.#fastFailures++;
        this.#fast = this.#fastFailures < 8;
      }
      if (end === incomplete && !this.#last && limit - i < longestEvent) {
        this.#at = i;
        return false;
      }
      if (end < 0) {
        this.#at = i;
        if (end === incomplete && this.#last) this.#cut(i);
        else
          this.#sink.problem(
            'broken event',
            `The event at byte ${this.#base + i} is not JSON (a quote that is not escaped?); it is left out.`,
            this.#base + i,
            this.row + 1,
          );
        this.#at = i + 1;
        this.row++;
        this.#resyncing = true;
        if (!this.#resync()) return false;
        i = this.#at;
        continue;
      }
      this.row++;
      this.offset = this.#base + i;
      this.#sink.event(this);
      i = end;
    }
  }

  /** Goes to the next `{"ph"`, `{"name"`, … after a comma; false where the window holds none. */
  #resync(): boolean {
    const bytes = this.#bytes;
    let i = this.#at;
    for (;;) {
      i = bytes.indexOf(openBrace, i);
      if (i < 0 || i >= this.#limit) {
        this.#at = this.#limit;
        return false;
      }
      const inside = this.#space(i + 1);
      if (inside + 6 > this.#limit && !this.#last) {
        this.#at = i;
        return false;
      }
      let before = i - 1;
      while (
        before > 0 &&
        (bytes[before] === 32 || bytes[before] === 10 || bytes[before] === 13 || bytes[before] === 9)
      )
        before--;
      if (bytes[inside] === quote && (before < 0 || bytes[before] === comma)) {
        const end = bytes.indexOf(quote, inside + 1);
        const length = end - inside - 1;
        if (end > 0 && end < this.#limit && length >= 2 && length <= 4) {
          const key = decodeJsonString(bytes, inside + 1, end, false);
          if (key === 'ph' || key === 'name' || key === 'cat' || key === 'pid' || key === 'ts') {
            this.#at = i;
            this.#resyncing = false;
            return true;
          }
        }
      }
      i++;
    }
  }

  /**
   * The quick way over an event, for the layout of Kineto's own writer; `otherLayout` where it is anything else, which
   * says nothing of whether it is right.
   *
   *     {
   *       "ph": "X", "cat": "cpu_op", "name": "aten::mul", "pid": 1, "tid": 1,
   *       "ts": 5113717237449.288, "dur": 174.852,
   *       "args": {
   *         "External id": 1025, "Ev Idx": 0
   *       }
   *     }
   */
  #kinetoEvent(start: number): number {
    const limit = this.#limit;
    this.#fastUsed = false;
    if (start + 64 > limit) return otherLayout;
    const bytes = this.#bytes;
    const words = this.#words;
    const phase = bytes[start + 13]!;
    if ((phase === 115 || phase === 102) && bytes[start + 14] === quote && bytes[start + 18] === 105) {
      if (!layout.opening.isAt(words, start)) return otherLayout;
      // The profiler's own flow arrows, which begin with their id, are of no use: what they join is joined by correlation.
      this.phase = phase;
      this.category = -1;
      return this.#closingLine(start + 16, 2);
    }
    const head = this.#heads.find(bytes, words, start, limit);
    if (head === undefined) return otherLayout;
    const instant = phase === 105;
    let i = start + head.part.length;

    // Of thirteen digits or more the first eight stay the same for a while.
    if (words.getFloat64(i, true) !== this.#leading && !this.#readLeading(i)) return otherLayout;
    const low = this.#digits(i + this.#leadingLength);
    const microseconds = this.#leadingNumber * powers[this.#digitsEnd - i - this.#leadingLength]! + low;
    i = this.#digitsEnd;
    let c = bytes[i]!;
    // Three decimals in the newer files, none in the older.
    let nanoseconds = 0;
    if (c === 46) {
      nanoseconds = (bytes[i + 1]! - 48) * 100 + (bytes[i + 2]! - 48) * 10 + (bytes[i + 3]! - 48);
      i += 4;
      if (!(nanoseconds >= 0 && nanoseconds <= 999)) return otherLayout;
    }
    if (i + 48 > limit) return otherLayout;
    let duration = -1;
    if (!instant) {
      if (!layout.duration.isAt(words, i)) return otherLayout;
      i += 9;
      duration = this.#digits(i) * 1000;
      if (i === this.#digitsEnd) return otherLayout;
      i = this.#digitsEnd;
      c = bytes[i]!;
      if (c === 46) {
        const fraction = (bytes[i + 1]! - 48) * 100 + (bytes[i + 2]! - 48) * 10 + (bytes[i + 3]! - 48);
        i += 4;
        if (!(fraction >= 0 && fraction <= 999)) return otherLayout;
        duration += fraction;
      }
      if (i + 24 > limit) return otherLayout;
    }

    this.#argumentsFrom = -1;
    if (layout.arguments.isAt(words, i)) {
      this.#argumentsFrom = i + 14;
      // Without arguments the bracket is closed on the same line.
      if (bytes[i + 15] === closeBrace) i += 16;
      else if (bytes[i + 15] !== 10) return otherLayout;
      else i = this.#closingLine(i + 14, 4);
      if (i < 0) return i;
      this.#argumentsTo = i;
    }
    if (i + 4 > limit) return incomplete;
    if (words.getInt32(i, true) !== closingLine) return otherLayout;

    this.phase = phase;
    this.category = head.category;
    this.name = head.name;
    this.pid = head.pid;
    this.tid = head.tid;
    this.pidIsText = false;
    this.tidIsText = false;
    this.hasTime = true;
    this.microseconds = microseconds;
    this.nanoseconds = nanoseconds;
    this.duration = duration;
    return i + 4;
  }

  /** Takes the digits at `from` for the leading ones; false where there are none. */
  #readLeading(from: number): boolean {
    this.#leadingNumber = this.#digits(from);
    this.#leadingLength = this.#digitsEnd - from;
    // Fewer than eight end in something else, which the next time need not have.
    this.#leading = this.#leadingLength === 8 ? this.#words.getFloat64(from, true) : Number.NaN;
    return this.#leadingLength > 0;
  }

  /** The number of up to eight digits; `#digitsEnd` is behind them. */
  #digits(from: number): number {
    const bytes = this.#bytes;
    let i = from;
    let number = 0;
    for (let c = bytes[i]!; c >= 48 && c <= 57 && i < from + 8; c = bytes[++i]!) number = number * 10 + (c - 48);
    this.#digitsEnd = i;
    return number;
  }

  #event(start: number): number {
    const bytes = this.#bytes;
    const limit = this.#limit;
    this.phase = 0;
    this.category = -1;
    this.name = -1;
    this.pid = -1;
    this.tid = -1;
    this.pidIsText = false;
    this.tidIsText = false;
    this.hasTime = false;
    this.duration = -1;
    this.#argumentsFrom = -1;
    let i = start + 1;
    for (;;) {
      let c = bytes[i]!;
      while (i < limit && (c === 32 || c === comma || c === 10 || c === 13 || c === 9)) c = bytes[++i]!;
      if (i >= limit) return incomplete;
      if (c === closeBrace) return i + 1;
      if (c !== quote) return broken;
      if (i + 8 >= limit) return incomplete;
      // Keys that matter have two to four characters, and the first two tell them apart.
      let key = 0;
      let at = i + 1;
      const first = bytes[at]!;
      const second = bytes[at + 1]!;
      if (second === quote || first === quote) {
        at += first === quote ? 0 : 1;
      } else if (bytes[at + 2] === quote && second !== backslash) {
        if (first === 112 && second === 104) key = keyPhase;
        else if (first === 116 && second === 115) key = keyTime;
        at += 2;
      } else if (bytes[at + 3] === quote && bytes[at + 2] !== quote && bytes[at + 2] !== backslash) {
        if (first === 99 && second === 97) key = keyCategory;
        else if (first === 112 && second === 105) key = keyPid;
        else if (first === 116 && second === 105) key = keyTid;
        else if (first === 100 && second === 117) key = keyDuration;
        at += 3;
      } else if (bytes[at + 4] === quote && bytes[at + 3] !== quote && bytes[at + 3] !== backslash) {
        if (first === 110 && second === 97) key = keyName;
        else if (first === 97 && second === 114) key = keyArguments;
        at += 4;
      } else {
        at = this.#string(at);
        if (at < 0) return at;
      }
      // At the key's closing quote.
      at++;
      while (at < limit && isSpace(bytes[at]!)) at++;
      if (at >= limit) return incomplete;
      if (bytes[at] !== colon) return broken;
      at++;
      c = bytes[at]!;
      while (at < limit && isSpace(c)) c = bytes[++at]!;
      if (at >= limit) return incomplete;

      if (c === quote) {
        const end = this.#string(at + 1);
        if (end < 0) return end;
        switch (key) {
          case keyPhase:
            this.phase = bytes[at + 1]!;
            break;
          case keyCategory:
            this.category = this.#interner.intern(bytes, at + 1, end, this.#escaped);
            break;
          case keyName:
            this.name = this.#interner.intern(bytes, at + 1, end, this.#escaped);
            break;
          case keyPid:
            this.pid = this.#interner.intern(bytes, at + 1, end, this.#escaped);
            this.pidIsText = true;
            break;
          case keyTid:
            this.tid = this.#interner.intern(bytes, at + 1, end, this.#escaped);
            this.tidIsText = true;
            break;
        }
        i = end + 1;
      } else if (c === openBrace || c === openBracket) {
        const end = this.#skip(at);
        if (end < 0) return end;
        if (key === keyArguments) {
          this.#argumentsFrom = at;
          this.#argumentsTo = end;
        }
        i = end;
      } else if (key !== 0) {
        const end = this.#number(at);
        if (end < 0) return end;
        switch (key) {
          case keyTime:
            this.microseconds = this.#negative ? -this.#whole : this.#whole;
            this.nanoseconds = this.#negative ? -this.#fraction : this.#fraction;
            this.hasTime = true;
            break;
          case keyDuration:
            this.duration = this.#negative ? 0 : this.#whole * 1000 + this.#fraction;
            break;
          case keyPid:
            this.pid = this.#negative ? -this.#whole : this.#whole;
            break;
          case keyTid:
            this.tid = this.#negative ? -this.#whole : this.#whole;
            break;
        }
        i = end;
      } else {
        const end = this.#skip(at);
        if (end < 0) return end;
        i = end;
      }
    }
  }

  argumentsText(): string {
    return this.#argumentsFrom < 0 ? '' : decodeJsonString(this.#bytes, this.#argumentsFrom, this.#argumentsTo, false);
  }

  readArguments(fields: ArgumentFields): void {
    if (this.#argumentsFrom >= 0 && this.#readAsBefore(fields)) return;
    fields.values.fill(Number.NaN);
    fields.texts.fill(-1);
    fields.layout = [];
    if (this.#argumentsFrom < 0) return;
    const bytes = this.#bytes;
    const to = this.#argumentsTo - 1;
    const steps: ArgumentStep[] = [];
    let onlyNumbers = true;
    let i = this.#argumentsFrom + 1;
    let lead = i;
    let wanted = fields.values.length;
    while (i < to && wanted > 0) {
      const c = bytes[i]!;
      if (isSpace(c) || c === comma) {
        i++;
        continue;
      }
      if (c !== quote) return;
      const from = i + 1;
      const end = this.#string(from);
      if (end < 0 || end >= to) return;
      const slot = fields.slot(bytes, from, end);
      i = this.#space(end + 1);
      if (bytes[i] !== colon) return;
      i = this.#space(i + 1);
      const first = bytes[i]!;
      const value = i;
      const isNumber = first === 45 || (first >= 48 && first <= 57);
      onlyNumbers &&= isNumber && steps.length < mostSteps;
      if (slot < 0 || first === openBrace || first === openBracket) {
        i = this.#skip(i);
        if (i < 0) return;
      } else if (first === quote) {
        const last = this.#string(i + 1);
        if (last < 0) return;
        fields.texts[slot] = this.#interner.intern(bytes, i + 1, last, this.#escaped);
        wanted--;
        i = last + 1;
      } else {
        i = this.#number(i);
        if (i < 0) return;
        if (isNumber) fields.values[slot] = this.#negative ? -this.#whole : this.#whole;
        wanted--;
      }
      const known = onlyNumbers ? BytePart.of(bytes.slice(lead, value)) : undefined;
      if (known) steps.push({ lead: known, slot });
      else onlyNumbers = false;
      lead = i;
    }
    if (wanted === 0 && onlyNumbers) fields.layout = steps;
  }

  /**
   * Reads the arguments where they are whole numbers under the same keys in the same order as those of the last event,
   * which is the rule: the keys' bytes are compared in place. False where they are not.
   */
  #readAsBefore(fields: ArgumentFields): boolean {
    const { layout: steps, values } = fields;
    const bytes = this.#bytes;
    const words = this.#words;
    const to = this.#argumentsTo - 1;
    let i = this.#argumentsFrom + 1;
    let c = 0;
    for (let n = 0; n < steps.length; n++) {
      const { lead, slot } = steps[n]!;
      if (i + lead.length >= to || !lead.isAt(words, i)) return false;
      i += lead.length;
      c = bytes[i]!;
      const negative = c === 45;
      if (negative) c = bytes[++i]!;
      const digits = i;
      let whole = 0;
      while (c >= 48 && c <= 57) {
        whole = whole * 10 + (c - 48);
        c = bytes[++i]!;
      }
      if (i === digits) return false;
      if (slot >= 0) values[slot] = negative ? -whole : whole;
    }
    // What follows a number that is not whole is neither of these.
    return steps.length > 0 && i <= to && (c === comma || c === closeBrace || isSpace(c));
  }

  #space(i: number): number {
    const bytes = this.#bytes;
    while (i < this.#limit && isSpace(bytes[i]!)) i++;
    return i;
  }

  /** From the first character to the closing quote. */
  #string(i: number): number {
    const bytes = this.#bytes;
    const limit = this.#limit;
    this.#escaped = false;
    while (i < limit) {
      const c = bytes[i]!;
      if (c === quote) return i;
      if (c === backslash) {
        this.#escaped = true;
        i++;
      }
      i++;
    }
    return incomplete;
  }

  /** A number into whole part and thousandths; `null`, `NaN` and the like are 0. */
  #number(i: number): number {
    const bytes = this.#bytes;
    const limit = this.#limit;
    const from = i;
    this.#negative = false;
    if (bytes[i] === 45) {
      this.#negative = true;
      i++;
    }
    let whole = 0;
    let c = bytes[i]!;
    while (i < limit && c >= 48 && c <= 57) {
      whole = whole * 10 + (c - 48);
      c = bytes[++i]!;
    }
    let fraction = 0;
    if (i < limit && c === 46) {
      let scale = 100;
      c = bytes[++i]!;
      while (i < limit && c >= 48 && c <= 57) {
        if (scale >= 0.1) fraction += (c - 48) * scale;
        scale /= 10;
        c = bytes[++i]!;
      }
      // Three decimals come out exact; further ones round to the nearest.
      fraction = Math.round(fraction);
    }
    if (i >= limit) return incomplete;
    if (c !== comma && c !== closeBrace && c !== closeBracket && !isSpace(c)) {
      // An exponent, or not a number.
      while (i < limit && c !== comma && c !== closeBrace && c !== closeBracket && !isSpace(c)) {
        if (c === quote || c === colon || c === openBrace) return broken;
        c = bytes[++i]!;
      }
      if (i >= limit) return incomplete;
      const value = Number(decodeJsonString(bytes, from, i, false));
      const known = Number.isFinite(value) ? Math.abs(value) : 0;
      whole = Math.floor(known);
      fraction = Math.round((known - whole) * 1000);
    }
    this.#whole = whole;
    this.#fraction = fraction;
    return i;
  }

  /** Past any value. */
  #skip(i: number): number {
    const bytes = this.#bytes;
    const limit = this.#limit;
    let c = bytes[i]!;
    if (c === quote) {
      const end = this.#string(i + 1);
      return end < 0 ? end : end + 1;
    }
    if (c !== openBrace && c !== openBracket) {
      while (i < limit && c !== comma && c !== closeBrace && c !== closeBracket && !isSpace(c)) {
        if (c === quote || c === colon || c === openBrace) return broken;
        c = bytes[++i]!;
      }
      return i >= limit ? incomplete : i;
    }
    let depth = 0;
    while (i < limit) {
      c = bytes[i]!;
      if (c === quote) {
        i++;
        while (i < limit && bytes[i] !== quote) i += bytes[i] === backslash ? 2 : 1;
        if (i >= limit) return incomplete;
      } else if (c === openBrace || c === openBracket) depth++;
      else if (c === closeBrace || c === closeBracket) {
        depth--;
        if (depth === 0) return i + 1;
      }
      i++;
    }
    return incomplete;
  }

  /**
   * Past the first line that begins with so many spaces and a closing brace. A line break cannot stand inside a JSON
   * string, so in Kineto's layout that line closes what is open. Control characters, of which a line break is one,
   * are looked for sixteen bytes at a time.
   */
  #closingLine(i: number, indent: 2 | 4): number {
    const bytes = this.#bytes;
    const words = this.#words;
    const safe = this.#limit - 8;
    this.#fastUsed = true;
    for (;;) {
      while (i < safe - 16 && !hasControl(words, i)) i += 16;
      while (i < safe && bytes[i]! >= 32) i++;
      if (i >= safe) return incomplete;
      if (
        bytes[i] === 10 &&
        bytes[i + indent + 1] === closeBrace &&
        bytes[i + 1] === 32 &&
        bytes[i + 2] === 32 &&
        (indent === 2 || (bytes[i + 3] === 32 && bytes[i + 4] === 32))
      )
        return i + indent + 2;
      i++;
    }
  }
}

const layout = {
  opening: BytePart.ofText('{\n    "ph": "'),
  duration: BytePart.ofText(', "dur": '),
  arguments: BytePart.ofText(',\n    "args": {'),
} as const;
/** 10 to the power of the index. */
const powers = Float64Array.from({ length: 9 }, (_, i) => 10 ** i);
const betweenEvents = word(',\n  ');
const closingLine = word('\n  }');

/** Four characters as they are read. */
function word(text: string): number {
  return toView(Uint8Array.from(text, (c) => c.charCodeAt(0))).getInt32(0, true);
}

function toView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether one of sixteen bytes is below 32. */
function hasControl(words: DataView, at: number): boolean {
  const a = words.getInt32(at, true);
  const b = words.getInt32(at + 4, true);
  const c = words.getInt32(at + 8, true);
  const d = words.getInt32(at + 12, true);
  const below = ((a - 0x20202020) & ~a) | ((b - 0x20202020) & ~b) | ((c - 0x20202020) & ~c) | ((d - 0x20202020) & ~d);
  return (below & 0x80808080) !== 0;
}

const keyPhase = 1;
const keyTime = 2;
const keyCategory = 3;
const keyPid = 4;
const keyTid = 5;
const keyDuration = 6;
const keyName = 7;
const keyArguments = 8;

function isSpace(c: number): boolean {
  return c === 32 || c === 10 || c === 13 || c === 9;
}
