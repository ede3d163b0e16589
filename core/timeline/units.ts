/**
 * Times and sizes as text: narrow no-break spaces in thousands, the unit that fits. Knows nothing of where it is shown.
 */

const thin = '\u202f';

/** `1 234.5` with narrow no-break spaces between thousands. */
export function grouped(value: number, digits = 0): string {
  const [whole = '', part] = Math.abs(value).toFixed(digits).split('.');
  const text = whole.replace(/\B(?=(\d{3})+$)/g, thin);
  const negative = value < 0 && Number(whole + (part ?? '')) !== 0;
  return `${negative ? '−' : ''}${text}${part === undefined ? '' : `.${part}`}`;
}

export interface TimeUnit {
  readonly name: 'ns' | 'µs' | 'ms' | 's';
  readonly nanoseconds: number;
}

const units: readonly TimeUnit[] = [
  { name: 'ns', nanoseconds: 1 },
  { name: 'µs', nanoseconds: 1e3 },
  { name: 'ms', nanoseconds: 1e6 },
  { name: 's', nanoseconds: 1e9 },
];

/** The unit in which a time has one to four digits before the point, and not more than 5 000 of it. */
export function unitFor(nanoseconds: number): TimeUnit {
  const size = Math.abs(nanoseconds);
  if (size < 1e3) return units[0]!;
  if (size < 5e6) return units[1]!;
  if (size < 5e9) return units[2]!;
  return units[3]!;
}

/** `863 µs`, `6.2 ms`: three digits are enough to read, all of them below ten thousand are kept. */
export function timeText(nanoseconds: number, unit = unitFor(nanoseconds)): string {
  return `${timeNumber(nanoseconds, unit)} ${unit.name}`;
}

/** The number alone, for a column that names its unit once. */
export function timeNumber(nanoseconds: number, unit: TimeUnit): string {
  const value = nanoseconds / unit.nanoseconds;
  const size = Math.abs(value);
  const digits = unit.name === 'ns' || size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : 2;
  return grouped(value, digits)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}

/** `32 MiB`, `512 B`. */
export function sizeText(bytes: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = Math.max(0, bytes);
  let name = 0;
  while (size >= 1024 && name < names.length - 1) {
    size /= 1024;
    name++;
  }
  const digits = size >= 100 || Number.isInteger(size) ? 0 : 1;
  return `${grouped(size, digits)} ${names[name]}`;
}

/** `1 slice`, `12 slices`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value > 0 && value < 1 ? '<1' : Math.round(value)} %`;
}

/** A name as it can be shown in a row: those of a trace may be megabytes long. */
export const shortened = (name: string, most = 200): string =>
  name.length > most ? `${name.slice(0, most - 1)}…` : name;
