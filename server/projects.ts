/**
 * Which settings hold for a file on this disk: those of the nearest `pyproject.toml` upward from it that has a
 * `[tool.raceline]`, between what an editor fills in below and what a command line decides above. Remembers what it read
 * until it is told that something changed. Knows nothing of what the settings do.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Problem } from '../core/rules/finding.ts';
import { type Baseline, parseBaseline } from '../core/settings/baseline.ts';
import { readPyproject } from '../core/settings/pyproject.ts';
import type { Section } from '../core/settings/section.ts';
import { layered, type Settings } from '../core/settings/settings.ts';

export const projectFile = 'pyproject.toml';

/** Settings with their baseline still as the name of a file. */
type Layer = Pick<Section, 'settings' | 'baseline'>;

export interface ProjectsOptions {
  /** What an editor says; it holds where the project says nothing. Its paths are relative to `folder`. */
  readonly under?: (file: string) => Layer & { readonly folder?: string };
  /** What a command line says; it wins. The baseline is an absolute path. */
  readonly over?: Layer;
  /** This file alone, for every file that is checked. `none`: no file at all. */
  readonly only?: string | 'none';
  /** No baseline of a project is read. */
  readonly withoutBaselines?: boolean;
}

/** What the files from a folder upward say. */
interface Found {
  readonly layer: Layer | undefined;
  /** Of the file that the layer is from. */
  readonly folder: string | undefined;
  readonly torchVersion: string | undefined;
}

const nothing: Found = { layer: undefined, folder: undefined, torchVersion: undefined };

export class Projects {
  readonly #options: ProjectsOptions;
  readonly #byFile = new Map<string, { readonly settings: Settings; isExcluded?: boolean }>();
  readonly #found = new Map<string, Found>();
  /** Undefined: there is none that can be read. */
  readonly #baselines = new Map<string, Baseline | undefined>();
  readonly #problems = new Map<string, readonly Problem[]>();

  constructor(options: ProjectsOptions = {}) {
    this.#options = options;
  }

  /** Of files that are on disk; a key that is no path has what is said above and below only. */
  settingsOf(file: string): Settings {
    return this.#entry(file).settings;
  }

  /** Whether the settings leave the file out, or a folder that it lies in. */
  isExcluded(file: string): boolean {
    const entry = this.#entry(file);
    entry.isExcluded ??= entry.settings.exclude?.covers(file) === true;
    return entry.isExcluded;
  }

  #entry(file: string) {
    let entry = this.#byFile.get(file);
    if (!entry) {
      entry = { settings: this.#merge(file) };
      this.#byFile.set(file, entry);
    }
    return entry;
  }

  /** What is wrong with the files that were read so far. */
  get problems(): Problem[] {
    return [...this.#problems.values()].flat();
  }

  /** Baseline files that were read or looked for. */
  get baselineFiles(): ReadonlySet<string> {
    return new Set(this.#baselines.keys());
  }

  /** A project file or a baseline changed, or what an editor says: everything is read again when it is asked for. */
  forget(): void {
    this.#byFile.clear();
    this.#found.clear();
    this.#baselines.clear();
    this.#problems.clear();
  }

  #merge(file: string): Settings {
    const { only, over } = this.#options;
    const under = this.#options.under?.(file);
    const folder = path.isAbsolute(file) ? path.dirname(file) : '';
    const found = only === 'none' || !folder ? nothing : this.#find(folder);
    const project: Settings = {
      ...found.layer?.settings,
      torchVersion: found.layer?.settings.torchVersion ?? found.torchVersion,
      baseline: this.#baselineOf(found.layer, found.folder),
    };
    const below: Settings = { ...under?.settings, baseline: this.#baselineOf(under, under?.folder) };
    const above: Settings = { ...over?.settings, baseline: this.#baselineOf(over, undefined) };
    return layered(layered(below, project), above);
  }

  #find(folder: string): Found {
    const { only } = this.#options;
    const key = only ?? folder;
    let found = this.#found.get(key);
    if (!found) {
      const parent = path.dirname(folder);
      const above = only || parent === folder ? nothing : this.#find(parent);
      found = this.#read(only ?? path.join(folder, projectFile), above);
      this.#found.set(key, found);
    }
    return found;
  }

  #read(file: string, above: Found): Found {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      const isAbsent = (code === 'ENOENT' || code === 'ENOTDIR') && file !== this.#options.only;
      if (!isAbsent) this.#problems.set(file, [{ file, message: `cannot be read: ${message}` }]);
      return above;
    }
    const folder = path.dirname(file);
    const { section, torchVersion, broken, faults } = readPyproject(text, folder);
    if (faults.length)
      this.#problems.set(
        file,
        faults.map(({ line, message }) => ({ file, line, message })),
      );
    else if (file === this.#options.only && !section)
      this.#problems.set(file, [{ file, message: 'has no [tool.raceline]; the defaults hold' }]);
    // What a broken file would have said is not made up for by the settings of a folder further up.
    const layer = broken ? { settings: {} } : section;
    return layer
      ? { layer, folder, torchVersion: torchVersion ?? above.torchVersion }
      : { ...above, torchVersion: torchVersion ?? above.torchVersion };
  }

  #baselineOf(layer: Layer | undefined, folder: string | undefined): Baseline | undefined {
    if (!layer?.baseline || this.#options.withoutBaselines) return undefined;
    if (folder === undefined && !path.isAbsolute(layer.baseline)) return undefined;
    const file = path.resolve(folder ?? '', layer.baseline);
    if (this.#baselines.has(file)) return this.#baselines.get(file);
    const read = readBaseline(file);
    if (typeof read === 'string') this.#problems.set(file, [{ file, message: read }]);
    const baseline = typeof read === 'string' ? undefined : read;
    this.#baselines.set(file, baseline);
    return baseline;
  }
}

function readBaseline(file: string): Baseline | string {
  try {
    return parseBaseline(readFileSync(file, 'utf8'), path.dirname(file));
  } catch (error) {
    return `the baseline cannot be read: ${(error as Error).message}; write it with raceline check --write-baseline FILE`;
  }
}
