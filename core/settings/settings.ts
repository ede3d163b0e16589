/**
 * What a project or a user decides about findings: which codes are reported, where, how severe they are, and which files
 * are checked at all. Knows the meaning of the decisions; not where they are written, nor which file they hold for.
 */
import type { Finding, Severity } from '../rules/finding.ts';
import type { Baseline } from './baseline.ts';
import type { PathPatterns } from './pathPatterns.ts';

/** Every decision may be left open: a layer below it, or the default, then holds. */
export interface Settings {
  /** Codes that are reported. Left open: all of them. */
  readonly select?: ReadonlySet<string>;
  /** Codes that are not reported; they win over `select`. */
  readonly ignore?: ReadonlySet<string>;
  readonly perFileIgnores?: readonly PerFileIgnore[];
  readonly severity?: ReadonlyMap<string, Severity>;
  /** The oldest PyTorch that the program has to work with, as `2.4`. */
  readonly torchVersion?: string;
  /** Files and folders that are not read. Whoever gathers the files obeys it: one that is named itself is checked. */
  readonly exclude?: PathPatterns;
  readonly baseline?: Baseline;
}

export interface PerFileIgnore {
  readonly files: PathPatterns;
  readonly codes: ReadonlySet<string>;
}

/** The settings that hold for a file, by its key in findings. */
export type SettingsOf = (file: string) => Settings;

/** One layer over another: what `over` leaves open is as in `under`. */
export function layered(under: Settings, over: Settings): Settings {
  const decided = Object.entries(over).filter(([, value]) => value !== undefined);
  return { ...under, ...Object.fromEntries(decided) };
}

/** The findings that are reported, with the severity that they are reported as. Baselines are not applied here. */
export function applySettings(findings: readonly Finding[], settingsOf: SettingsOf): Finding[] {
  return findings.flatMap((finding) => {
    const settings = settingsOf(finding.file);
    if (!isReported(finding, settings)) return [];
    const severity = settings.severity?.get(finding.code);
    return [severity && severity !== finding.severity ? { ...finding, severity } : finding];
  });
}

function isReported({ code, file }: Finding, { select, ignore, perFileIgnores }: Settings): boolean {
  if (ignore?.has(code) || (select && !select.has(code))) return false;
  return !perFileIgnores?.some((one) => one.codes.has(code) && one.files.covers(file));
}
