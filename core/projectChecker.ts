/**
 * The source checker under the settings of projects. The command line and the language server both check through this, so
 * that the same program under the same settings gets the same findings from both.
 *
 * Files of projects that target different versions of PyTorch are each checked as of their own, with all the others around
 * them. Which settings hold for a file is asked of the caller, at every check.
 */
import type { CheckOptions, CheckResult, SourceChecker, SourceFile } from './checkSource.ts';
import type { Finding, Fix, Problem } from './rules/finding.ts';
import { linesIn, splitByBaseline } from './settings/baseline.ts';
import { applySettings, type SettingsOf } from './settings/settings.ts';

/** `isExcluded`: files that are left out, though the caller has them. */
export function createProjectChecker(
  create: () => SourceChecker,
  settingsOf: SettingsOf,
  isExcluded: (file: string) => boolean = () => false,
): SourceChecker {
  return new ProjectChecker(create, settingsOf, isExcluded);
}

class ProjectChecker implements SourceChecker {
  readonly #create: () => SourceChecker;
  readonly #settingsOf: SettingsOf;
  readonly #isExcluded: (file: string) => boolean;
  /** By the targeted version; each remembers what it executed. */
  #checkers = new Map<string | undefined, SourceChecker>();

  constructor(create: () => SourceChecker, settingsOf: SettingsOf, isExcluded: (file: string) => boolean) {
    this.#create = create;
    this.#settingsOf = settingsOf;
    this.#isExcluded = isExcluded;
  }

  check(given: readonly SourceFile[], options: CheckOptions): CheckResult {
    const files = given.filter(({ file }) => !this.#isExcluded(file));
    const { findings: all, problems } = this.#checkAll(files);
    const reported = applySettings(all, this.#settingsOf);
    const { fresh, known } = splitByBaseline(reported, (file) => this.#settingsOf(file).baseline, linesIn(files));
    const findings = options.fixes
      ? fresh.map((finding) => ({ ...finding, fixes: this.fixesFor(finding, true) }))
      : fresh;
    return { findings, problems, known: known.length };
  }

  fixesFor(finding: Finding, inBatch = false): readonly Fix[] {
    return this.#checkers.get(this.#settingsOf(finding.file).torchVersion)?.fixesFor(finding, inBatch) ?? [];
  }

  #checkAll(files: readonly SourceFile[]): CheckResult {
    const versionOf = (file: string) => this.#settingsOf(file).torchVersion;
    const versions = [...new Set(files.map(({ file }) => versionOf(file)))];
    // What nobody targets any more is forgotten; without a file there is nothing to target.
    if (!versions.length) versions.push(undefined);
    const checkers = new Map(versions.map((version) => [version, this.#checkers.get(version) ?? this.#create()]));
    this.#checkers = checkers;
    const results = versions.map((torchVersion) =>
      checkers.get(torchVersion)!.check(files, { fixes: false, torchVersion }),
    );
    if (results.length === 1) return results[0]!;
    const own = <T extends { readonly file: string }>(list: (result: CheckResult) => readonly T[]): T[] =>
      results.flatMap((result, i) => list(result).filter(({ file }) => versionOf(file) === versions[i]));
    return {
      // Within a file the order stands.
      findings: own<Finding>(({ findings }) => findings).sort((a, b) =>
        a.file < b.file ? -1 : a.file > b.file ? 1 : 0,
      ),
      problems: own<Problem>(({ problems }) => problems),
    };
  }
}
