/**
 * Reads settings that somebody wrote, key by key: what is wrong is told, and what is right holds. The same keys stand in
 * `[tool.raceline]` (`per-file-ignores`) and in an editor's settings (`perFileIgnores`); this knows neither file.
 */
import type { Severity } from '../rules/finding.ts';
import { codesOf } from './codes.ts';
import { nearest } from './nearest.ts';
import { type PathPatterns, pathPatterns } from './pathPatterns.ts';
import type { Settings } from './settings.ts';
import { torchVersionOf } from './torchVersion.ts';

export interface SectionFault {
  /** Way to the key or the value at fault, as it is written. */
  readonly at: readonly string[];
  readonly message: string;
}

/** Settings as they are written: a baseline is the name of its file yet. */
export interface Section {
  readonly settings: Omit<Settings, 'baseline'>;
  readonly baseline?: string;
  readonly faults: readonly SectionFault[];
}

/** Keys as `[tool.raceline]` has them. */
export const sectionKeys = [
  'select',
  'ignore',
  'per-file-ignores',
  'severity',
  'torch-version',
  'exclude',
  'extend-exclude',
  'baseline',
] as const;

export interface SectionOptions {
  /** The folder that paths are relative to. */
  readonly base?: string;
  /** `camel`: `perFileIgnores`, among keys of other meaning, and null for what is not set. */
  readonly keys: 'kebab' | 'camel';
}

const severities: readonly Severity[] = ['error', 'warning', 'hint'];

export function readSection(section: unknown, { base, keys }: SectionOptions): Section {
  const faults: SectionFault[] = [];
  if (!isTable(section)) {
    faults.push({ at: [], message: 'the settings must be a table of keys and values' });
    return { settings: {}, faults };
  }
  const written = (key: string) => (keys === 'kebab' ? key : key.replace(/-(.)/g, (_, c: string) => c.toUpperCase()));
  const given = (key: string) =>
    Object.hasOwn(section, written(key)) ? (section[written(key)] ?? undefined) : undefined;
  const fault = (at: readonly string[], message: string) => faults.push({ at, message });

  if (keys === 'kebab')
    for (const key of Object.keys(section))
      if (!(sectionKeys as readonly string[]).includes(key)) fault([key], unknownKey(key));

  const strings = (key: string, value: unknown, example: string): readonly string[] | undefined => {
    if (value === undefined) return undefined;
    if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
    fault([written(key)], `${written(key)} must be a list of strings, as in ${written(key)} = ${example}`);
    return undefined;
  };
  const codes = (key: string): ReadonlySet<string> | undefined => {
    const words = strings(key, given(key), '["missing-wait"]');
    // An editor's setting that is not set is an empty list.
    if (!words || (keys === 'camel' && !words.length)) return undefined;
    const found = codesOf(words);
    for (const message of found.faults) fault([written(key)], message);
    // A list with nothing but mistyped codes must not turn everything off.
    return words.length && !found.codes.size ? undefined : found.codes;
  };
  const patterns = (key: string, list: readonly string[]): PathPatterns | undefined => {
    const good = list.filter((pattern) => {
      try {
        pathPatterns([pattern], base);
        return pattern !== '';
      } catch {
        fault(
          [written(key)],
          `'${pattern}' is not a path pattern; write one as "tests", "third_party/*" or "**/gen_*.py"`,
        );
        return false;
      }
    });
    return good.length ? pathPatterns(good, base) : undefined;
  };

  const excluded = ['exclude', 'extend-exclude'].flatMap((key) => strings(key, given(key), '["third_party"]') ?? []);
  const perFile = given('per-file-ignores');
  const severity = given('severity');
  const version = given('torch-version');
  const baseline = given('baseline');

  const perFileIgnores = [];
  if (isTable(perFile))
    for (const [pattern, value] of Object.entries(perFile)) {
      const at = [written('per-file-ignores'), pattern];
      if (!Array.isArray(value) || !value.every((one) => typeof one === 'string')) {
        fault(at, `the codes of '${pattern}' must be a list, as in "${pattern}" = ["missing-wait"]`);
        continue;
      }
      const found = codesOf(value);
      for (const message of found.faults) fault(at, message);
      const files = patterns('per-file-ignores', [pattern]);
      if (files) perFileIgnores.push({ files, codes: found.codes });
    }
  else if (perFile !== undefined)
    fault(
      [written('per-file-ignores')],
      `${written('per-file-ignores')} must be a table, as in "tests/*" = ["missing-wait"]`,
    );

  const severityOf = new Map<string, Severity>();
  if (isTable(severity))
    for (const [word, value] of Object.entries(severity)) {
      const found = codesOf([word]);
      for (const message of found.faults) fault(['severity', word], message);
      if (severities.includes(value as Severity))
        for (const code of found.codes) severityOf.set(code, value as Severity);
      else
        fault(
          ['severity', word],
          `the severity of ${word} must be "error", "warning" or "hint", not ${JSON.stringify(value)}; to turn it off, add it to ignore`,
        );
    }
  else if (severity !== undefined) fault(['severity'], 'severity must be a table, as in missing-wait = "warning"');

  const torchVersion = typeof version === 'string' ? torchVersionOf(version) : undefined;
  // An editor's setting that is not set is an empty string.
  if (version !== undefined && version !== '' && !torchVersion)
    fault(
      [written('torch-version')],
      `${written('torch-version')} must be a version in quotes, as in "2.4", not ${JSON.stringify(version)}`,
    );
  if (baseline !== undefined && typeof baseline !== 'string')
    fault(['baseline'], 'baseline must be the path of a file, as in baseline = "raceline-baseline.json"');

  return {
    settings: {
      select: codes('select'),
      ignore: codes('ignore'),
      perFileIgnores: perFileIgnores.length ? perFileIgnores : undefined,
      severity: severityOf.size ? severityOf : undefined,
      torchVersion,
      exclude: excluded.length ? patterns('exclude', excluded) : undefined,
    },
    baseline: typeof baseline === 'string' && baseline ? baseline : undefined,
    faults,
  };
}

function unknownKey(key: string): string {
  const near = nearest(key.replaceAll('_', '-'), sectionKeys);
  return `there is no setting '${key}'${near ? `; did you mean '${near}'?` : '.'} The settings are ${sectionKeys.join(', ')}`;
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
