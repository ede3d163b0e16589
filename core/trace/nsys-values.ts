/** Values of an Nsight Systems export: numbers, and the process and thread that one 64-bit number holds. */
import type { SqlValue } from './sqlite.ts';

/** -1 for what is no number. */
export function numberOf(value: SqlValue | undefined): number {
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : -1;
}

export function textOf(value: SqlValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

const low = 0xffffffn;

/** Hardware, machine and process in the upper bits, the thread in the lowest 24: past what a double holds. */
export function threadOf(value: SqlValue | undefined): readonly [pid: number, tid: number] {
  if (typeof value !== 'number' && typeof value !== 'bigint') return [-1, -1];
  const global = BigInt(value);
  return [Number((global >> 24n) & low), Number(global & low)];
}

export const processOf = (value: SqlValue | undefined): number => threadOf(value)[0];
