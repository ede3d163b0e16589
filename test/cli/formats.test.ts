/** Reports for other tools: SARIF against its schema, workflow commands of GitHub. */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv';
import { describe, expect, it } from 'vitest';
import { github } from '../../cli/formats/github.ts';
import { rules } from '../../core/rules/index.ts';
import type { Finding } from '../../core/rules/finding.ts';
import { folder, raceline, racy } from './raceline.ts';

interface Place {
  physicalLocation: { artifactLocation: { uri: string; uriBaseId?: string }; region: Record<string, number> };
  id?: number;
}
interface Result {
  ruleId: string;
  ruleIndex: number;
  level: string;
  message: { text: string };
  locations: Place[];
  relatedLocations: Place[];
  partialFingerprints: Record<string, string>;
  fixes: { artifactChanges: { replacements: { insertedContent: { text: string } }[] }[] }[];
}

function sarif(at: string, ...args: readonly string[]) {
  const { stdout } = raceline(at, 'check', '--format', 'sarif', ...args);
  const log = JSON.parse(stdout);
  return { log, run: log.runs[0], results: log.runs[0].results as Result[] };
}

function repository(files: Readonly<Record<string, string>>): string {
  const at = folder(files);
  mkdirSync(path.join(at, '.git'));
  return at;
}

describe('SARIF', () => {
  it('is what the schema allows', () => {
    const schema = JSON.parse(
      readFileSync(
        fileURLToPath(
          new URL('../../node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json', import.meta.url),
        ),
        'utf8',
      ),
    );
    // Of draft 4 it uses nothing that later drafts read otherwise.
    delete schema.$schema;
    delete schema.id;
    const ajv = new Ajv({ strict: false, validateFormats: false, unicodeRegExp: false, logger: false });
    const validate = ajv.compile(schema);
    const bad = repository({
      'a b/racy.py': racy,
      'none.py': 'x = 1\n',
      'pyproject.toml': '[tool.raceline]\nfoo = 1\n',
    });
    for (const args of [['.'], ['none.py'], ['.', 'nowhere']]) {
      const { log } = sarif(bad, ...args);
      expect(validate(log) ? [] : validate.errors).toEqual([]);
    }
  });

  it('has what code scanning reads', () => {
    const at = repository({ 'sub/a b.py': racy });
    const { run, results } = sarif(path.join(at, 'sub'), '.');
    expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(rules.map(({ code }) => code));
    for (const rule of run.tool.driver.rules) {
      for (const text of [rule.shortDescription.text, rule.fullDescription.text, rule.help.text, rule.help.markdown])
        expect(text.length).toBeGreaterThan(10);
      expect(rule.fullDescription.text.length).toBeLessThanOrEqual(1024);
    }
    expect(run.originalUriBaseIds['%SRCROOT%'].uri).toMatch(/^file:\/\/\/.*\/$/);
    const [result] = results;
    expect(results).toHaveLength(1);
    expect(result).toMatchObject({ ruleId: 'missing-wait', level: 'error' });
    expect(rules[result!.ruleIndex]!.code).toBe('missing-wait');
    expect(result!.locations[0]!.physicalLocation).toEqual({
      artifactLocation: { uri: 'sub/a%20b.py', uriBaseId: '%SRCROOT%' },
      region: { startLine: 10, startColumn: 9, endLine: 10, endColumn: 19 },
    });
    expect(result!.relatedLocations[0]).toMatchObject({ id: 1, physicalLocation: { region: { startLine: 8 } } });
    expect(result!.message.text).toMatch(/lies between\. \[.*written here.*\]\(1\)$/);
    expect(result!.fixes[0]!.artifactChanges[0]!.replacements[0]!.insertedContent.text).toMatch(/wait_event/);
  });

  it('keeps fingerprints apart, and through edits elsewhere', () => {
    const twice = `${racy}with torch.cuda.stream(copy):\n    x.fill_(1.0)\nwith torch.cuda.stream(compute):\n    y = x.mul(2.0)\n`;
    const prints = (text: string) =>
      sarif(repository({ 'a.py': text })).results.map(
        ({ partialFingerprints }) => partialFingerprints.primaryLocationLineHash,
      );
    const before = prints(twice);
    expect(before.length).toBeGreaterThan(1);
    expect(new Set(before).size).toBe(before.length);
    expect(prints(`# one\n# two\n${twice}`)).toEqual(before);
  });

  it('goes to a file, and says there what could not be read', () => {
    const at = repository({ 'racy.py': racy });
    const { code, stdout, stderr } = raceline(
      at,
      'check',
      '--format=sarif',
      '-o',
      'out.sarif',
      'racy.py',
      'nowhere.py',
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^nowhere\.py: there is no such file or folder/);
    const [run] = JSON.parse(readFileSync(path.join(at, 'out.sarif'), 'utf8')).runs;
    expect(run.invocations[0]).toMatchObject({
      executionSuccessful: false,
      toolExecutionNotifications: [{ level: 'error', message: { text: expect.stringMatching(/no such file/) } }],
    });
    expect(run.results).toHaveLength(1);
  });
});

describe('workflow commands', () => {
  const finding = (severity: Finding['severity'], code: string, line: number, lines = 0): Finding => ({
    file: path.resolve('a,b:c.py'),
    range: { start: { line, character: 1 }, end: { line: line + lines, character: 3 } },
    code,
    severity,
    certainty: 'always',
    message: '100% of `x`\nis: read',
    related: [],
    fixes: [],
  });
  const rendered = (...findings: Finding[]) =>
    github({ findings, problems: [], texts: new Map(), files: 1, fixed: 0, known: 0, milliseconds: 0 })
      .trim()
      .split('\n');

  it('are escaped', () => {
    expect(rendered(finding('hint', 'unused-event', 4))[0]).toBe(
      '::notice file=a%2Cb%3Ac.py,line=5,endLine=5,col=2,endColumn=4,title=raceline unused-event::100%25 of `x`%0Ais: read',
    );
  });

  it('have no columns where they span lines', () => {
    expect(rendered(finding('error', 'missing-wait', 4, 2))[0]).toMatch(/line=5,endLine=7,title=/);
  });

  it('put errors first, and each code once before any twice', () => {
    const lines = rendered(
      finding('hint', 'unused-event', 1),
      finding('error', 'missing-wait', 2),
      finding('error', 'missing-wait', 3),
      finding('error', 'reversed-wait', 4),
    );
    expect(lines.map((line) => /^::(\w+) .*line=(\d+),endLine/.exec(line)?.slice(1).join(' '))).toEqual([
      'error 3',
      'error 5',
      'error 4',
      'notice 2',
      undefined,
    ]);
    expect(lines.at(-1)).toBe('raceline: 4 findings');
  });

  it('are counted where GitHub leaves some out', () => {
    const many = Array.from({ length: 12 }, (_, line) => finding('error', 'missing-wait', line));
    expect(rendered(...many).at(-1)).toMatch(/^raceline: 12 findings; GitHub shows 10 of a kind/);
  });
});
