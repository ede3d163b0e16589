/**
 * Versions of PyTorch: which one is assumed where a program does not say, and what came with which. Programs ask for them with
 * `torch.__version__ >= "2.6"` and `hasattr(torch, "accelerator")`. Knows names and numbers only.
 */
import { compareVersions } from '../base/version.ts';
import { torchVersion } from './generated/operators.ts';

/** The version that the tables are made from. */
export const newestTorch: string = torchVersion;

/** What a program may ask for with `hasattr`, and the first version that has it. */
const since: Readonly<Record<string, string>> = {
  'torch.compile': '2.0',
  'torch.accelerator': '2.6',
};

/** Whether PyTorch of that version has the name. A name without a row was there before any version that matters. */
export function hasName(path: string, version: string): boolean {
  const first = Object.hasOwn(since, path) ? since[path] : undefined;
  return first === undefined || compareVersions(version, first) >= 0;
}

/** Builds of PyTorch for other hardware than this analysis assumes; in a CUDA build these are None. */
export function isAbsent(path: string): boolean {
  return path === 'torch.version.hip' || path === 'torch.version.xpu';
}

/** Python's ways to make something comparable of a version's text. */
export function parsesVersion(path: string): boolean {
  return /(?:^|\.)(?:version\.(?:parse|Version|LooseVersion|StrictVersion)|parse_version|TorchVersion)$/.test(path);
}

/** The leading numbers of `2.4.1+cu121`, `2.5.0a0`; undefined where there are none. */
export function plainVersion(text: string): string | undefined {
  return /^v?(\d+(?:\.\d+)*)/.exec(text.trim())?.[1];
}

/** Whether `a OPERATOR b` holds for Python's comparison operators; undefined for others. */
export function versionTest(a: string, operator: string, b: string): boolean | undefined {
  const order = compareVersions(a, b);
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    case '==':
      return order === 0;
    case '!=':
      return order !== 0;
  }
  return undefined;
}
