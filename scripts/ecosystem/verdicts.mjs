// test/ecosystem/findings.json: every finding in the ecosystem with the verdict of somebody who read that code.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { root } from '../setup.mjs';

const list = path.join(root, 'test', 'ecosystem', 'findings.json');
export const verdicts = ['right', 'wrong', 'arguable', 'unread'];

/** [{package, file, line, code, verdict, reason}] */
export function judged() {
  const all = JSON.parse(readFileSync(list, 'utf8'));
  for (const one of all)
    if (!verdicts.includes(one.verdict) || (one.verdict !== 'unread' && !one.reason))
      throw new Error(
        `${keyOf(one)} in test/ecosystem/findings.json needs a verdict (${verdicts.join(', ')}) and a reason`,
      );
  return all;
}

/** Each finding of a run with what the list says of it, and what the list has and the run does not. */
export function compare(findings, known) {
  const left = new Map();
  for (const one of known) push(left, keyOf(one), one);
  const paired = findings.map((finding) => ({ finding, known: left.get(keyOf(finding))?.shift() }));
  return { paired, gone: [...left.values()].flat() };
}

/** Puts the new findings in as unread ones and takes the gone ones out. */
export function update(paired, gone, known) {
  const lost = new Set(gone);
  const fresh = paired
    .filter((pair) => !pair.known)
    .map(({ finding }) => ({
      package: finding.package,
      file: finding.file,
      line: finding.line,
      code: finding.code,
      verdict: 'unread',
      reason: '',
    }));
  const all = [...known.filter((one) => !lost.has(one)), ...fresh].sort(byPlace);
  writeFileSync(list, `${JSON.stringify(all, null, 2)}\n`);
}

export function byPlace(a, b) {
  return (
    compareText(a.package, b.package) || compareText(a.file, b.file) || a.line - b.line || compareText(a.code, b.code)
  );
}

function keyOf(one) {
  return `${one.package} ${one.file}:${one.line} ${one.code}`;
}

function push(map, key, value) {
  const all = map.get(key);
  if (all) all.push(value);
  else map.set(key, [value]);
}

function compareText(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
