// Writes docs/rules/ and core/rules/pages.json, which programs read, from the doc comments of core/rules/. `--check` writes
// nothing and fails where one of them is stale.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const source = path.join(root, 'core', 'rules');
const target = path.join(root, 'docs', 'rules');
const headings = [
  'What it does',
  'What happens on the GPU',
  'Example',
  'Use instead',
  'Fix safety',
  'When not to fix it',
  'Known limits',
];
const check = process.argv.includes('--check');
const faults = [];

/** The registry's order is the order of the list. */
function rulesInOrder() {
  const index = readFileSync(path.join(source, 'index.ts'), 'utf8');
  const registry = /export const rules[^=]*=\s*\[([\s\S]*?)\]/.exec(index)?.[1] ?? '';
  return [...registry.matchAll(/\w+/g)].map(([name]) => {
    const from = new RegExp(`import \\{ ${name} \\} from '\\./(.+)\\.ts'`).exec(index)?.[1];
    if (!from) throw new Error(`core/rules/index.ts does not import ${name} from a file of its own`);
    return readRule(from);
  });
}

function readRule(name) {
  const text = readFileSync(path.join(source, `${name}.ts`), 'utf8');
  const field = (key) => new RegExp(`^ {2}${key}: (['"])(.*)\\1,$`, 'm').exec(text)?.[2]?.replaceAll("\\'", "'");
  const rule = { code: field('code'), title: field('title'), severity: field('severity') };
  if (rule.code !== name) faults.push(`core/rules/${name}.ts: its code is ${rule.code}`);
  if (!rule.title || !rule.severity) faults.push(`core/rules/${name}.ts: title or severity is not a plain string`);
  const comment = /^\/\*\*\n([\s\S]*?)\n \*\//.exec(text)?.[1] ?? '';
  const body = comment.replace(/^ \* ?/gm, '').trim();
  const found = [...body.matchAll(/^## (.*)$/gm)].map((match) => match[1]);
  if (found.join() !== headings.join())
    faults.push(`core/rules/${name}.ts: the headings must be ${headings.join(', ')}; they are ${found.join(', ')}`);
  return { ...rule, body };
}

const generated = '<!-- Written by `npm run generate` from core/rules/; edit the rule file. -->';
const rules = rulesInOrder();
const pages = new Map();
for (const { code, title, severity, body } of rules)
  pages.set(
    `${code}.md`,
    `${generated}\n\n# ${code}\n\n${title}. Reported as ${severity === 'error' ? 'an error' : `a ${severity}`}.\n\n${body}\n\n## Silencing it\n\n` +
      `\`# raceline: ignore[${code}]\` at the end of the line silences one finding, \`# raceline: ignore-file\` on a line ` +
      `of its own all findings of the file, \`ignore = ["${code}"]\` under \`[tool.raceline]\` in pyproject.toml all of ` +
      `the project ([configuration](../configuration.md)).\n`,
  );
pages.set(
  'README.md',
  `${generated}\n\n# Rules\n\n| code | severity | what it reports |\n| --- | --- | --- |\n${rules
    .map(({ code, title, severity }) => `| [${code}](${code}.md) | ${severity} | ${title} |`)
    .join('\n')}\n`,
);

mkdirSync(target, { recursive: true });
for (const [name, text] of pages) write(path.join(target, name), text);
write(
  path.join(source, 'pages.json'),
  `${JSON.stringify(Object.fromEntries(rules.map(({ code, body }) => [code, body])), undefined, 2)}\n`,
);
for (const name of readdirSync(target))
  if (!pages.has(name)) {
    if (check) faults.push(`docs/rules/${name} has no rule; run npm run generate`);
    else rmSync(path.join(target, name));
  }

function write(file, text) {
  const old = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (old === text) return;
  if (check) faults.push(`${path.relative(root, file)} is stale; run npm run generate`);
  else writeFileSync(file, text);
}

for (const fault of faults) console.error(fault);
if (faults.length) process.exit(1);
console.log(`rules: ${rules.length} pages ${check ? 'are current' : 'written'}`);
