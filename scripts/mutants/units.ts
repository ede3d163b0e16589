// The correct programs that mutants are made of: files of the ecosystem that were read and found right, the good twins of
// the labelled programs, and the texts of the rule fixtures once they are fixed.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { SourceFile } from '../../core/checkSource.ts';
import { readFixtures } from '../../test/harness/fixtures.ts';
import { pythonFiles } from '../ecosystem/python-files.mjs';

export interface Unit {
  /** For the report, and for the list of exempt statements. */
  readonly name: string;
  /** Checked together; statements are taken out of each. */
  readonly files: readonly SourceFile[];
}

/** `folders`: package → where its files lie; called only for packages that are in the list. */
export function ecosystemUnits(root: string, folders: ReadonlyMap<string, () => string>): Unit[] {
  return linesOf(path.join(root, 'test', 'ecosystem', 'judged-right.txt')).map((line) => {
    const [name = '', file = ''] = line.split(/\s+/);
    const folder = folders.get(name);
    if (!folder) throw new Error(`test/ecosystem/judged-right.txt: '${name}' is not in packages.json`);
    return { name: `${name} ${file}`, files: [{ file, text: readFileSync(path.join(folder(), file), 'utf8') }] };
  });
}

export function twinUnits(root: string): Unit[] {
  const units: Unit[] = [];
  const labelled = path.join(root, 'test', 'labelled');
  for (const entry of readdirSync(labelled, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = entry.replaceAll(path.sep, '/');
    if (file.endsWith('.good.py'))
      units.push({
        name: `labelled ${file}`,
        files: [{ file, text: readFileSync(path.join(labelled, file), 'utf8') }],
      });
  }
  const rules = path.join(root, 'core', 'rules');
  for (const fixture of readdirSync(rules)
    .filter((name) => name.endsWith('.fixtures.py'))
    .sort())
    for (const { name, files, fixed, good } of readFixtures(readFileSync(path.join(rules, fixture), 'utf8'))) {
      if (!fixed.size && !good.length) continue;
      units.push({
        name: `fixture ${fixture.replace('.fixtures.py', '')}: ${name}`,
        files: files.map(({ file, text }) => ({
          file,
          text: fixed.get(file) ?? (file === 'case.py' ? good.at(-1) : undefined) ?? text,
        })),
      });
    }
  return units;
}

/** Files of a package as its check names them. */
export function packageFiles(folder: string): SourceFile[] {
  return pythonFiles(folder).map((file) => ({
    file: path.relative(folder, file).replaceAll(path.sep, '/'),
    text: readFileSync(file, 'utf8'),
  }));
}

/** Lines without comments and empty ones. */
export function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map((line) => line.replace(/(^|\s)#.*/, '').trim())
    .filter(Boolean);
}
