/**
 * Who touched which bytes of one block last: the last write of each byte range and the last read of each stream since.
 * A new access is compared with what overlaps it, and takes its place.
 *
 *     write [0, 8) on a         [0, 8): w a
 *     read  [4, 8) on b         [0, 4): w a     [4, 8): w a, r b
 *     write [0, 8) on b         [0, 8): w b
 *
 * That the last write is enough: who comes after it comes after all that was before it, or the pair has been reported.
 * Deliberately unknown here: clocks, and what a conflict means.
 */
import type { StepIndex } from '../program/program.ts';

/** A stream, or a host thread counted after the streams. */
export type Actor = number;

/** Told of each pair of an earlier and the new access that overlap; answers nothing: the new access is kept anyway. */
export interface PairCheck {
  /** `kept`: the write stays the last one for other readers. */
  readAfterWrite(cell: Cell, first: StepIndex, firstActor: Actor): void;
  writeAfterWrite(cell: Cell, first: StepIndex, firstActor: Actor): void;
  writeAfterRead(cell: Cell, first: StepIndex, firstActor: Actor): void;
}

/** Shared by all that have no readers: most ranges never get one, and a run has millions. Never written to. */
const none: number[] = [];

/** One byte range, `end` exclusive. */
export class Cell {
  start: number;
  end: number;
  /** -1: not written in this life. */
  writeStep: StepIndex = -1;
  writeActor: Actor = -1;
  /** Streams that have read since the last write, each with its last read. */
  readActors: Actor[] = none;
  readSteps: StepIndex[] = none;
  /** Actors for which the last write is reported already; they are not accused of it a second time. */
  reported: Actor[] | undefined = undefined;

  constructor(start: number, end: number) {
    this.start = start;
    this.end = end;
  }

  copy(start: number, end: number): Cell {
    const copy = new Cell(start, end);
    copy.writeStep = this.writeStep;
    copy.writeActor = this.writeActor;
    if (this.readActors.length) {
      copy.readActors = this.readActors.slice();
      copy.readSteps = this.readSteps.slice();
    }
    if (this.reported) copy.reported = this.reported.slice();
    return copy;
  }

  wrote(step: StepIndex, actor: Actor): void {
    this.writeStep = step;
    this.writeActor = actor;
    // To set the length of a short array costs more than this.
    while (this.readActors.length) {
      this.readActors.pop();
      this.readSteps.pop();
    }
    this.reported = undefined;
  }

  hasRead(step: StepIndex, actor: Actor): void {
    const at = this.readActors.indexOf(actor);
    if (at < 0) {
      if (this.readActors === none) {
        this.readActors = [actor];
        this.readSteps = [step];
      } else {
        this.readActors.push(actor);
        this.readSteps.push(step);
      }
    } else this.readSteps[at] = step;
  }

  /** The step at which `actor` last read, -1 for never since the last write. */
  readBy(actor: Actor): StepIndex {
    const at = this.readActors.indexOf(actor);
    return at < 0 ? -1 : this.readSteps[at]!;
  }
}

export class AccessMap {
  /** Sorted by start, disjoint. */
  cells: Cell[] = [];
  /** A cell of an earlier life: most blocks need one cell only. */
  #spare: Cell | undefined;

  /** Ready for another life. */
  clear(): void {
    this.#spare = this.cells[0];
    while (this.cells.length) this.cells.pop();
  }

  read(start: number, end: number, step: StepIndex, actor: Actor, check: PairCheck): void {
    const from = this.#cut(start, end);
    for (let i = from; i < this.cells.length; i++) {
      const cell = this.cells[i]!;
      if (cell.start >= end) break;
      if (cell.writeStep >= 0 && cell.writeActor !== actor) check.readAfterWrite(cell, cell.writeStep, cell.writeActor);
      cell.hasRead(step, actor);
    }
  }

  write(start: number, end: number, step: StepIndex, actor: Actor, check: PairCheck): void {
    const from = this.#cut(start, end);
    let i = from;
    for (; i < this.cells.length; i++) {
      const cell = this.cells[i]!;
      if (cell.start >= end) break;
      this.#checkWrite(cell, actor, check);
    }
    // The written cells become one: this is what keeps the map small.
    const first = this.cells[from]!;
    first.end = end;
    first.wrote(step, actor);
    if (i - from > 1) this.cells.splice(from + 1, i - from - 1);
  }

  /** Compares without taking the place of anything: for accesses whose bytes are not known. */
  touch(write: boolean, actor: Actor, check: PairCheck): void {
    for (const cell of this.cells)
      if (write) this.#checkWrite(cell, actor, check);
      else if (cell.writeStep >= 0 && cell.writeActor !== actor)
        check.readAfterWrite(cell, cell.writeStep, cell.writeActor);
  }

  /** Forgets cells that nothing can conflict with any more, and joins neighbours of one history. */
  compact(settled: (cell: Cell) => boolean): void {
    const kept: Cell[] = [];
    for (const cell of this.cells) {
      if (settled(cell)) continue;
      const last = kept[kept.length - 1];
      if (last && last.end === cell.start && sameHistory(last, cell)) last.end = cell.end;
      else kept.push(cell);
    }
    this.cells = kept;
  }

  #checkWrite(cell: Cell, actor: Actor, check: PairCheck): void {
    if (cell.writeStep >= 0 && cell.writeActor !== actor) check.writeAfterWrite(cell, cell.writeStep, cell.writeActor);
    for (let r = 0; r < cell.readActors.length; r++) {
      const reader = cell.readActors[r]!;
      if (reader !== actor) check.writeAfterRead(cell, cell.readSteps[r]!, reader);
    }
  }

  #fresh(start: number, end: number): Cell {
    const cell = this.#spare;
    if (!cell) return new Cell(start, end);
    this.#spare = undefined;
    cell.start = start;
    cell.end = end;
    cell.wrote(-1, -1);
    return cell;
  }

  /** Makes cell borders at `start` and `end` with no gap between; gives the index of the first cell in the range. */
  #cut(start: number, end: number): number {
    const cells = this.cells;
    if (cells.length === 1 && cells[0]!.start === start && cells[0]!.end === end) return 0;
    if (cells.length === 0) {
      cells.push(this.#fresh(start, end));
      return 0;
    }
    let low = 0;
    let high = cells.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (cells[middle]!.end <= start) low = middle + 1;
      else high = middle;
    }
    if (low < cells.length && cells[low]!.start < start) {
      const cell = cells[low]!;
      cells.splice(low + 1, 0, cell.copy(start, cell.end));
      cell.end = start;
      low++;
    }
    let at = start;
    let i = low;
    while (at < end) {
      const cell = cells[i];
      if (!cell || cell.start >= end) {
        cells.splice(i, 0, new Cell(at, end));
        break;
      }
      if (cell.start > at) {
        cells.splice(i, 0, new Cell(at, cell.start));
        at = cell.start;
      } else {
        if (cell.end > end) {
          cells.splice(i + 1, 0, cell.copy(end, cell.end));
          cell.end = end;
        }
        at = cell.end;
      }
      i++;
    }
    return low;
  }
}

function sameHistory(a: Cell, b: Cell): boolean {
  if (a.writeStep !== b.writeStep || a.writeActor !== b.writeActor) return false;
  if (a.readActors.length !== b.readActors.length || a.reported?.length !== b.reported?.length) return false;
  for (let i = 0; i < a.readActors.length; i++) if (b.readBy(a.readActors[i]!) !== a.readSteps[i]) return false;
  return (a.reported ?? []).every((actor) => b.reported!.includes(actor));
}
