#!/usr/bin/env node
// Judges recordings of labelled programs and prints a table, with CSAN beside it.
//   node scripts/recordings-table.mjs [--list] RECORDINGS PROGRAMS      RECORDINGS: what executor/record_programs.py left, PROGRAMS: its sources
//   node scripts/recordings-table.mjs --against OTHERS RECORDINGS       where the hazards of other recordings of the same programs differ
// A fault is labelled at the end of its line (`# expect: CODE`, `# may: CODE`), or by an EXPECT with `bug` and `where`. A trace holds it if
// a hazard of its kind stands on such a line, or names one. A run gives no advice, so codes of advice are left out.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

const list = process.argv.includes('--list');
const at = process.argv.indexOf('--against');
const others = at > 0 ? process.argv.splice(at, 2)[1] : undefined;
const [recordings, programs] = process.argv.slice(2).filter((argument) => argument !== '--list');
if (!recordings || !(programs || others)) {
  console.error('usage: recordings-table.mjs [--list] RECORDINGS PROGRAMS');
  process.exit(2);
}

const kinds = {
  order: [
    'missing-wait',
    'write-after-read',
    'unjoined-output',
    'reversed-wait',
    'event-never-recorded',
    'event-rerecorded',
    'collective-not-waited',
    'backward-missing-sync',
  ],
  lifetime: ['missing-record-stream', 'late-record-stream'],
  host: ['host-read-before-sync', 'pinned-overwritten-in-flight', 'host-read-too-early'],
  capture: ['capture-unjoined', 'capture-illegal-sync', 'capture-external-event', 'capture-record-stream'],
};
const kindOf = (code) => Object.keys(kinds).find((kind) => kinds[kind].includes(code));

/** The labels of a program: [{ file, line, code, expected }], over all files of a package. */
function labelsOf(source) {
  const files = statSync(source).isDirectory()
    ? readdirSync(source, { recursive: true })
        .map(String)
        .filter((name) => name.endsWith('.py'))
        .map((name) => path.join(source, name))
    : [source];
  const labels = [];
  for (const file of files) {
    const text = readFileSync(file, 'utf8');
    const planted = /^EXPECT = .*'bug': '([a-z-]+)', 'where': '([^']+)'/m.exec(text);
    text.split('\n').forEach((line, index) => {
      for (const match of line.matchAll(/#\s*(expect|may):\s*([a-z-]+(?:\s*,\s*[a-z-]+)*)/g))
        for (const code of match[2].split(/\s*,\s*/))
          labels.push({ file: path.basename(file), line: index + 1, code, expected: match[1] === 'expect' });
      if (planted && !line.startsWith('EXPECT') && (line.includes(planted[2]) || line.includes('# BUG')))
        labels.push({ file: path.basename(file), line: index + 1, code: planted[1], expected: true });
    });
  }
  return labels;
}

function hazardsOf(trace) {
  let text;
  try {
    text = execFileSync('node', ['dist/cli.js', 'trace', '--format', 'json', trace], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    if (error.status !== 1) return undefined;
    text = error.stdout;
  }
  return JSON.parse(text).hazards;
}

if (others) {
  compare();
  process.exit(0);
}

/** Tells each program whose hazards differ: the code and the line of each that only one of the two has. */
function compare() {
  let same = 0;
  let compared = 0;
  for (const run of JSON.parse(readFileSync(path.join(recordings, 'runs.json'), 'utf8'))) {
    const [here, there] = [recordings, others].map((folder) => path.join(folder, run.trace));
    if (!existsSync(here) || !existsSync(there)) continue;
    compared++;
    const [ours, theirs] = [here, there].map(
      (trace) =>
        new Set((hazardsOf(trace) ?? []).map(({ code, at }) => `${code} at ${path.basename(at.file)}:${at.line}`)),
    );
    const [only, missing] = [
      [...theirs].filter((hazard) => !ours.has(hazard)),
      [...ours].filter((hazard) => !theirs.has(hazard)),
    ];
    if (only.length === 0 && missing.length === 0) same++;
    else
      console.log(
        `${run.name}: only there ${only.join(', ') || 'nothing'}; only here ${missing.join(', ') || 'nothing'}`,
      );
  }
  console.log(`${compared} programs in both, the same hazards in ${same}`);
}

const rows = new Map();
const notes = [];
for (const run of JSON.parse(readFileSync(path.join(recordings, 'runs.json'), 'utf8'))) {
  const source = path.join(programs, run.name);
  const trace = path.join(recordings, run.trace);
  if (!existsSync(source) || !existsSync(trace)) continue;
  const labels = labelsOf(source);
  const expected = labels.filter((label) => label.expected && kindOf(label.code));
  const name = run.name.includes('/') ? run.name.split('/')[0] : 'programs';
  const row = rows.get(name) ?? { bad: 0, held: 0, csanBad: 0, good: 0, silent: 0, csanGood: 0 };
  rows.set(name, row);
  const hazards = hazardsOf(trace);
  if (!hazards) {
    notes.push(`${run.name}: the trace cannot be read`);
    continue;
  }
  const told = hazards.map((hazard) => `${hazard.code} at ${hazard.at.file}:${hazard.at.line}`).join(', ') || 'nothing';
  const alarm = (run.races ?? 0) > 0;
  if (labels.length > 0 && expected.length === 0) continue; // advice only
  if (expected.length === 0) {
    row.good++;
    if (hazards.length === 0) row.silent++;
    else notes.push(`${run.name}: meant to be clean, found ${told}`);
    if (alarm) row.csanGood++;
    continue;
  }
  row.bad++;
  const on = (place, label) => path.basename(place.file) === label.file && place.line === label.line;
  const held = expected.every((wanted) => {
    const same = labels.filter((label) => kindOf(label.code) === kindOf(wanted.code));
    return hazards.some(
      (hazard) =>
        hazard.code === wanted.code ||
        (kindOf(hazard.code) === kindOf(wanted.code) &&
          same.some((label) => on(hazard.at, label) || hazard.related.some((place) => on(place, label)))),
    );
  });
  if (held) row.held++;
  else
    notes.push(
      `${run.name}: expected ${expected.map((label) => `${label.code} at ${label.line}`).join(', ')}, found ${told}`,
    );
  if (alarm) row.csanBad++;
}

console.log(
  '| kind of fault | bad programs | the trace holds it | CSAN reports a race | good twins | silent | CSAN alarms |',
);
console.log('|---|---|---|---|---|---|---|');
const sum = { bad: 0, held: 0, csanBad: 0, good: 0, silent: 0, csanGood: 0 };
for (const [name, row] of [...rows].sort()) {
  for (const key of Object.keys(sum)) sum[key] += row[key];
  console.log(
    `| ${name} | ${row.bad} | ${row.held} | ${row.csanBad} | ${row.good} | ${row.silent} | ${row.csanGood} |`,
  );
}
console.log(`| all | ${sum.bad} | ${sum.held} | ${sum.csanBad} | ${sum.good} | ${sum.silent} | ${sum.csanGood} |`);
if (list) for (const note of notes) console.log(`- ${note}`);
