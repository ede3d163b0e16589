/**
 * Tests on the version of PyTorch. Where the program has to work with older ones too, a test that those answer otherwise than
 * the newest is a branch like any other; else the newest one's answer holds.
 */
import type { Node } from '../../python/ast.ts';
import { hasName, isAbsent, newestTorch, plainVersion, versionTest } from '../../torch/versions.ts';
import { isObj, TupleV, type Unknown, type Value, VersionV } from '../values.ts';
import type { Machine } from './machine.ts';

/** `torch.__version__`, and what else of a path below torch is a version; undefined for anything else. */
export function versionAt(m: Machine, path: string): Value | undefined {
  if (isAbsent(path)) return null;
  if (!/^torch\.(?:version\.|torch_version\.)?__version__$/.test(path)) return undefined;
  return new VersionV(newestTorch, m.oldestTorch ?? newestTorch);
}

/** `version.parse(text)`. */
export function parsedVersion(value: Value): Value | undefined {
  if (value instanceof VersionV) return value;
  const text = typeof value === 'string' ? plainVersion(value) : undefined;
  return text === undefined ? undefined : new VersionV(text);
}

/** The answer of a comparison one side of which is a version; undefined where the other says nothing. */
export function compareVersionValues(
  m: Machine,
  operator: string,
  left: Value,
  right: Value,
  node: Node,
): boolean | undefined {
  const [a, b] = [versionOf(left), versionOf(right)];
  if (!a || !b) return undefined;
  const now = versionTest(a.newest, operator, b.newest);
  const before = versionTest(a.oldest, operator, b.oldest);
  if (now === undefined || now === before) return now;
  return m.decide(`version:${a.newest}:${a.oldest}${operator}${b.newest}`, now, node);
}

function versionOf(value: Value): VersionV | undefined {
  if (value instanceof VersionV) return value;
  if (value instanceof TupleV && value.items.every((item) => typeof item === 'number'))
    return new VersionV(value.items.join('.'));
  const parsed = parsedVersion(value);
  return parsed instanceof VersionV ? parsed : undefined;
}

/** `hasattr(torch, "accelerator")`. */
export function hasTorchName(m: Machine, path: string, node: Node): boolean {
  const now = hasName(path, newestTorch);
  const before = hasName(path, m.oldestTorch ?? newestTorch);
  return now === before ? now : m.decide(`has:${path}`, now, node);
}

/** Attributes of a parsed version; undefined for methods, which are those of its text. */
export function versionAttribute(m: Machine, self: VersionV, name: string): Value | undefined {
  const place = ['major', 'minor', 'micro'].indexOf(name);
  const part = (version: string): number => Number(version.split('.')[place] ?? 0);
  if (place >= 0) return part(self.newest) === part(self.oldest) ? part(self.newest) : unknownPart(m, self, name);
  if (name === 'base_version' || name === 'public') return versionText(m, self);
  if (name === 'release') return new TupleV(self.newest.split('.').map(Number));
  return undefined;
}

/** Its text, where only one version is meant. */
export function versionText(m: Machine, self: VersionV): Value {
  return self.newest === self.oldest ? self.newest : unknownPart(m, self, 'text');
}

function unknownPart(m: Machine, self: VersionV, name: string): Unknown {
  const value = m.deriveUnknown(`version:${self.newest}:${self.oldest}:${name}`, name);
  value.plain = true;
  return value;
}

/** Sequences of numbers compare by their first difference. */
export function compareSequences(
  operator: string,
  left: readonly Value[],
  right: readonly Value[],
): boolean | undefined {
  if ([...left, ...right].some((item) => isObj(item) || typeof item !== 'number')) return undefined;
  const at = left.findIndex((item, i) => i >= right.length || item !== right[i]);
  const order = at < 0 ? left.length - right.length : at >= right.length ? 1 : Number(left[at]) - Number(right[at]);
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
  return undefined;
}
