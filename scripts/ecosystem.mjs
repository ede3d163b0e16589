// `npm run ecosystem`: checks pinned packages from PyPI and compares with test/ecosystem/findings.json, where every finding
// bears a verdict from reading that code. Exit code 1 if findings differ from the list, 2 if a package could not be checked.
//   npm run ecosystem -- [--only NAME,…] [--list] [--update] [--fetch]
// --list prints all findings with their verdicts; --update writes new findings into the list as unread and takes the gone
// ones out; --fetch only downloads.
import { parseArgs } from 'node:util';
import { checkFolder } from './ecosystem/check.mjs';
import { obtain, pinnedPackages } from './ecosystem/packages.mjs';
import { pythonFiles, usesStreams } from './ecosystem/python-files.mjs';
import { byPlace, compare, judged, update, verdicts } from './ecosystem/verdicts.mjs';
import { setUp } from './setup.mjs';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    list: { type: 'boolean' },
    update: { type: 'boolean' },
    fetch: { type: 'boolean' },
  },
});
setUp({ build: !options.fetch });
const packages = chosen(
  pinnedPackages(),
  options.only?.flatMap((names) => names.split(',')),
);
const failed = [];
const checked = new Set();
const known = options.fetch ? [] : judged();
const paired = [];
const gone = [];
const sums = { files: 0, streams: 0, seconds: 0, wall: 0 };
for (const pinned of packages) await take(pinned);
if (!options.fetch) summarize();
for (const line of failed) console.log(`not checked: ${line}`);
if (failed.length) process.exitCode = 2;

async function take(pinned) {
  const title = `${pinned.name} ${pinned.version}`;
  try {
    const folder = obtain(pinned);
    const files = pythonFiles(folder);
    const streams = files.filter(usesStreams).length;
    if (options.fetch) return console.log(`${title.padEnd(34)} ${count(files)} files, ${count(streams)} use streams`);
    const result = await checkFolder(folder);
    checked.add(pinned.name);
    sums.files += files.length;
    sums.streams += streams;
    sums.seconds += result.seconds;
    sums.wall += result.wall;
    console.log(
      `${title.padEnd(34)} ${count(files.length)} files, ${count(streams)} use streams, ${count(result.findings.length)} findings, ` +
        `${result.seconds.toFixed(1).padStart(6)} s CPU`,
    );
    for (const problem of result.problems) console.log(`    ${problem}`);
    settle(pinned.name, result.findings);
  } catch (error) {
    failed.push(`${title}: ${error.message}`);
    console.log(`${title.padEnd(34)} not checked`);
  }
}

/** Told at once, since a run of all packages takes its time. */
function settle(name, findings) {
  const own = compare(
    findings.map((finding) => ({ package: name, ...finding })).sort(byPlace),
    known.filter((one) => one.package === name),
  );
  for (const { finding, known } of own.paired)
    if (!known) print('new', finding);
    else if (options.list) print(known.verdict, finding, known.reason);
  for (const one of own.gone) print('gone', one, `was ${one.verdict}: ${one.reason}`);
  paired.push(...own.paired);
  gone.push(...own.gone);
}

function summarize() {
  const fresh = paired.filter((pair) => !pair.known);
  const of = (severe) =>
    verdicts.map((verdict) => ({
      verdict,
      count: paired.filter(
        ({ finding, known }) => (finding.severity !== 'hint') === severe && (known?.verdict ?? 'unread') === verdict,
      ).length,
    }));
  console.log(
    `\n${checked.size} packages, ${sums.files} files, ${sums.streams} use streams; ` +
      `${sums.seconds.toFixed(1)} s CPU, ${sums.wall.toFixed(1)} s in all`,
  );
  console.log(`errors and warnings: ${tally(of(true))}`);
  console.log(`hints: ${tally(of(false))}`);
  console.log(`${fresh.length} new, ${gone.length} gone`);
  if (options.update) update(paired, gone, known);
  else if (fresh.length || gone.length) process.exitCode = 1;
}

function tally(counts) {
  const all = counts.reduce((sum, { count }) => sum + count, 0);
  const right = counts.find(({ verdict }) => verdict === 'right').count;
  const parts = counts.map(({ verdict, count }) => `${count} ${verdict}`).join(', ');
  return all ? `${all} (${parts}): ${((100 * right) / all).toFixed(1)} % right` : 'none';
}

function print(mark, { package: name, file, line, code, severity, message }, reason) {
  console.log(`${mark}: ${name} ${file}:${line} ${severity ? `${severity} ` : ''}${code}`);
  if (message) console.log(`    ${message}`);
  if (reason) console.log(`    ${reason}`);
}

function chosen(all, names) {
  for (const name of names ?? [])
    if (!all.some((one) => one.name === name))
      throw new Error(
        `--only: there is no '${name}' in test/ecosystem/packages.json; there are ${all.map((one) => one.name).join(', ')}`,
      );
  return names ? all.filter(({ name }) => names.includes(name)) : all;
}

function count(of) {
  return String(of.length ?? of).padStart(5);
}
