/** The options of `raceline check`. What they say about findings is a layer of settings above that of the project. */
import path from 'node:path';
import { codesOf } from '../core/settings/codes.ts';
import { pathPatterns } from '../core/settings/pathPatterns.ts';
import type { Settings } from '../core/settings/settings.ts';
import { torchVersionOf } from '../core/settings/torchVersion.ts';
import { choice, parseArguments, UsageError } from './arguments.ts';

export const formats = ['text', 'json', 'sarif', 'github'] as const;
export type Format = (typeof formats)[number];

export interface CheckOptions {
  /** Undefined: standard input. */
  readonly paths: readonly string[] | undefined;
  /** Which file the text of standard input is, for messages and settings. */
  readonly stdinFile: string;
  readonly format: Format;
  readonly outputFile: string | undefined;
  readonly mode: 'check' | 'fix' | 'diff';
  /** Fixes of findings that hold on some paths only are applied as well. */
  readonly unsafeFixes: boolean;
  readonly exitZero: boolean;
  readonly forceExclude: boolean;
  /** An absolute path, or `none`. */
  readonly config: string | undefined;
  readonly over: { readonly settings: Omit<Settings, 'baseline'>; readonly baseline?: string };
  readonly writeBaseline: string | undefined;
}

const valued = [
  '--format',
  '--output-file',
  '-o',
  '--stdin-filename',
  '--config',
  '--torch-version',
  '--baseline',
  '--write-baseline',
];
const flags = ['--fix', '--unsafe-fixes', '--diff', '--exit-zero', '--isolated', '--force-exclude'];
const lists = ['--select', '--ignore', '--exclude'];

export function checkOptions(args: readonly string[]): CheckOptions {
  const given = parseArguments(args, valued, flags, lists);
  const fromStdin = given.rest.includes('-');
  if (fromStdin && given.rest.length > 1) throw new UsageError('- (standard input) cannot be checked with other paths');
  if (given.values.has('--stdin-filename') && !fromStdin)
    throw new UsageError("--stdin-filename needs '-' as the path: raceline check --stdin-filename a.py -");
  if (given.flags.has('--isolated') && given.values.has('--config'))
    throw new UsageError('--config names a file of settings, and --isolated reads none: give one of them');
  const absolute = (name: string) => {
    const value = given.values.get(name);
    return value === undefined ? undefined : path.resolve(value);
  };
  const words = (name: string) =>
    given.values
      .get(name)
      ?.split(',')
      .map((word) => word.trim())
      .filter(Boolean);
  const codes = (name: string) => {
    const list = words(name);
    if (!list) return undefined;
    const found = codesOf(list);
    if (found.faults.length) throw new UsageError(`${name}: ${found.faults[0]}`);
    return found.codes;
  };
  const version = given.values.get('--torch-version');
  const torchVersion = version === undefined ? undefined : torchVersionOf(version);
  if (version !== undefined && !torchVersion)
    throw new UsageError(`--torch-version must be a version such as 2.4, not '${version}'`);
  const exclude = words('--exclude');
  return {
    paths: fromStdin
      ? undefined
      : given.rest.length || given.after?.length
        ? [...given.rest, ...(given.after ?? [])]
        : ['.'],
    stdinFile: path.resolve(given.values.get('--stdin-filename') ?? '-'),
    format: choice(given, '--format', formats, 'text'),
    outputFile: given.values.get('--output-file') ?? given.values.get('-o'),
    mode: given.flags.has('--diff') ? 'diff' : given.flags.has('--fix') ? 'fix' : 'check',
    unsafeFixes: given.flags.has('--unsafe-fixes'),
    exitZero: given.flags.has('--exit-zero'),
    forceExclude: given.flags.has('--force-exclude'),
    config: given.flags.has('--isolated') ? 'none' : absolute('--config'),
    over: {
      settings: {
        select: codes('--select'),
        ignore: codes('--ignore'),
        torchVersion,
        exclude: exclude && pathPatterns(exclude, process.cwd()),
      },
      baseline: absolute('--baseline'),
    },
    writeBaseline: absolute('--write-baseline'),
  };
}
