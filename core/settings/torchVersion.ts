/**
 * The oldest PyTorch that a project has to work with, read off what it requires: `torch>=2.4` is 2.4. Where an upper bound
 * or nothing is given, it is not known.
 */
import { compareVersions } from '../base/version.ts';

/** `2.4`, `2.4.1`, `2.4.1+cu121`; undefined for anything else. */
export function torchVersionOf(text: string): string | undefined {
  return /^v?(\d+\.\d+(?:\.\d+)*)(?:(?:a|b|rc|\.dev|\.post|\+)[\w.+]*)?$/.exec(text.trim())?.[1];
}

/** Of the requirements of one program, in the words of PEP 508 or of Poetry. All of them have to hold somewhere. */
export function lowestTorch(requirements: readonly string[]): string | undefined {
  const bounds = requirements
    .map((requirement) => /^\s*torch\s*(?:\[[^\]]*\])?\s*(?:$|(?=[<>=~!^*(;@\d]))([^;@]*)/i.exec(requirement))
    .filter((match) => match !== null)
    .map((match) => lowerBound(match[1] ?? ''));
  if (!bounds.length || bounds.some((bound) => bound === undefined)) return undefined;
  return (bounds as string[]).reduce((a, b) => (compareVersions(b, a) < 0 ? b : a));
}

/** Of `>=2.1,<3`, `==2.5.1`, `~=2.3`, `^2.4`, `2.4`; several lower bounds all hold. */
function lowerBound(specifiers: string): string | undefined {
  let lowest: string | undefined;
  for (const part of specifiers.replace(/[()]/g, '').split(',')) {
    const [, operator, version] = /^\s*(>=|==|===|~=|>|\^|~|)\s*(\d[\w.+]*?)(?:\.\*)?\s*$/.exec(part) ?? [];
    const bound = operator === undefined ? undefined : torchVersionOf(/\./.test(version!) ? version! : `${version}.0`);
    if (bound && (!lowest || compareVersions(bound, lowest) > 0)) lowest = bound;
  }
  return lowest;
}
