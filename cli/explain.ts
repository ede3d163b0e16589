/** `raceline explain CODE`: the page of a rule, the same that docs/rules shows; `--list` names all rules. */
import { rules } from '../core/rules/index.ts';
import pages from '../core/rules/pages.json' with { type: 'json' };
import { unknownCode } from '../core/settings/codes.ts';
import { parseArguments, UsageError } from './arguments.ts';
import { terminalPage } from './terminal-page.ts';

const narrow = 60;
const wide = 100;

export async function explain(args: readonly string[]): Promise<number> {
  const given = parseArguments(args, [], ['--list']);
  if (given.flags.has('--list')) {
    const width = Math.max(...rules.map(({ code }) => code.length));
    for (const { code, severity, title } of rules)
      console.log(`${code.padEnd(width)}  ${severity.padEnd(7)}  ${title}`);
    return 0;
  }
  if (!given.rest.length) throw new UsageError("explain needs a code; 'raceline explain --list' names them all");
  const { isTTY, columns = 80 } = process.stdout;
  const style = {
    width: Math.min(wide, Math.max(narrow, columns)),
    bold: isTTY === true && !process.env.NO_COLOR,
  };
  const found = given.rest.map(ruleOf);
  console.log(found.map(({ code, title, severity }) => page(code, title, severity, style)).join('\n\n\n'));
  return 0;
}

function ruleOf(code: string): (typeof rules)[number] {
  const rule = rules.find((candidate) => candidate.code === code);
  if (rule) return rule;
  throw new Error(unknownCode(code));
}

function page(code: string, title: string, severity: string, style: { width: number; bold: boolean }): string {
  const reported = severity === 'error' ? 'an error' : `a ${severity}`;
  const body = (pages as Readonly<Record<string, string>>)[code] ?? '';
  const silencing = `## Silencing it\n\n\`# raceline: ignore[${code}]\` at the end of the line, or \`ignore = ["${code}"]\` under \`[tool.raceline]\` in pyproject.toml.`;
  return terminalPage(`# ${code}\n\n${title}. Reported as ${reported}.\n\n${body}\n\n${silencing}`, style);
}
