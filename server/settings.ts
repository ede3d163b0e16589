/**
 * The settings that the server obeys, per resource. A client that answers `workspace/configuration` is asked; any other
 * gives them in `initializationOptions.settings` or in `workspace/didChangeConfiguration`.
 */
import type { Connection } from 'vscode-languageserver';
import { readSection, type Section } from '../core/settings/section.ts';

export interface Settings {
  readonly enable: boolean;
  readonly run: 'onType' | 'onSave';
  readonly scope: 'openFiles' | 'workspace';
  readonly ignoreComment: boolean;
  /** Which codes, how severe, where: it holds where the project's own settings say nothing. */
  readonly rules: Section;
}

export const defaults: Settings = {
  enable: true,
  run: 'onType',
  scope: 'openFiles',
  ignoreComment: true,
  rules: { settings: {}, faults: [] },
};

/** Reads the `raceline` section. A value of the wrong kind counts as not set: a typo must not turn findings off. */
export function readSettings(section: unknown, fallback: Settings = defaults): Settings {
  const at = (...keys: string[]) =>
    keys.reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined,
      section,
    );
  const enable = at('enable');
  const run = at('diagnostics', 'run');
  const scope = at('diagnostics', 'scope');
  const ignoreComment = at('codeAction', 'ignoreComment');
  return {
    enable: typeof enable === 'boolean' ? enable : fallback.enable,
    run: run === 'onType' || run === 'onSave' ? run : fallback.run,
    scope: scope === 'openFiles' || scope === 'workspace' ? scope : fallback.scope,
    ignoreComment: typeof ignoreComment === 'boolean' ? ignoreComment : fallback.ignoreComment,
    rules: typeof section === 'object' && section !== null ? readSection(section, { keys: 'camel' }) : fallback.rules,
  };
}

export class SettingsSource {
  readonly #connection: Connection;
  readonly #asks: boolean;
  /** What the client gave at the start; a setting that is taken back falls to it. */
  readonly #initial: Settings;
  #base: Settings;
  readonly #perResource = new Map<string, Settings>();
  readonly #pending = new Map<string, Promise<void>>();
  /** Told faults: each is logged once. */
  readonly #told = new Set<string>();
  /** Called when other settings hold than before. */
  onChanged: () => void = () => {};

  constructor(connection: Connection, asks: boolean, initial: unknown) {
    this.#connection = connection;
    this.#asks = asks;
    this.#initial = readSettings(initial);
    this.#base = this.#initial;
  }

  /** What is known now; the settings of a resource that was not asked for yet are those of the workspace. */
  get(uri: string): Settings {
    return this.#perResource.get(uri) ?? this.#base;
  }

  get workspace(): Settings {
    return this.#base;
  }

  /** Brings the settings of a resource. Resolves at once where the client does not answer. */
  load(uri: string): Promise<void> {
    if (!this.#asks || this.#perResource.has(uri)) return Promise.resolve();
    let pending = this.#pending.get(uri);
    if (!pending) {
      pending = this.#connection.workspace
        .getConfiguration({ scopeUri: uri, section: 'raceline' })
        .then((section) => {
          this.#perResource.set(uri, this.#tell(readSettings(section, this.#base)));
          this.onChanged();
        })
        .catch((error) => {
          // The workspace's settings serve for this resource until they change.
          this.#connection.console.warn(`No settings for ${uri}: ${String(error)}`);
        })
        .finally(() => this.#pending.delete(uri));
      this.#pending.set(uri, pending);
    }
    return pending;
  }

  async loadWorkspace(): Promise<void> {
    if (!this.#asks) return;
    try {
      const section = await this.#connection.workspace.getConfiguration('raceline');
      this.#base = this.#tell(readSettings(section, this.#initial));
      this.onChanged();
    } catch (error) {
      this.#connection.console.warn(`No settings for the workspace: ${String(error)}`);
    }
  }

  /** The client said that settings changed; `pushed` is what it sent along. */
  async changed(pushed: unknown, uris: readonly string[]): Promise<void> {
    this.#perResource.clear();
    if (!this.#asks) {
      const section = (pushed as { raceline?: unknown } | undefined)?.raceline ?? pushed;
      this.#base = this.#tell(readSettings(section, this.#initial));
      this.onChanged();
      return;
    }
    await this.loadWorkspace();
    await Promise.all(uris.map((uri) => this.load(uri)));
  }

  forget(uri: string): void {
    this.#perResource.delete(uri);
  }

  #tell(settings: Settings): Settings {
    for (const { at, message } of settings.rules.faults) {
      const line = `Setting raceline.${at[0] ?? ''}: ${message}`;
      if (!this.#told.has(line)) this.#connection.console.warn(line);
      this.#told.add(line);
    }
    return settings;
  }
}
