// `raceline confirm`, `bisect` and `run --with`, with a stand-in for the interpreter that answers as the executor does: what
// is asked of it, what is said of its answers, and the exit codes. The executor has tests of its own.
import { chmodSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { execute } from '../../core/execute/execute.ts';
import { tell } from '../core/order/verbs.ts';
import { folder, raceline } from './raceline.ts';

/** Two hazards of lines 3 and 7, one of which is about a call alone. */
const text =
  'alloc x on a\na: w x\nb: r x\nb waits never\nalloc y on a\na: w y\nb: w y\nrecord f on b\na waits f\na: r y';

const program = `import torch
side = torch.cuda.Stream()
x = torch.ones(8, device="cuda")
with torch.cuda.stream(side):
    y = x * 2
torch.cuda.synchronize()
`;

let at: string;
const json = (name: string) => JSON.parse(readFileSync(path.join(at, name), 'utf8'));

/** Records by copying a trace; answers plans with what stands in answers.json, one answer a process. */
const standIn = `#!${process.execPath}
const { copyFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
const value = (name) => args[args.indexOf(name) + 1];
writeFileSync('seen.json', JSON.stringify({ args, queues: process.env.CUDA_DEVICE_MAX_CONNECTIONS }));
if (args.includes('-o')) copyFileSync('recorded.raceline', value('-o'));
else if (args.includes('--report')) {
  const answers = JSON.parse(readFileSync('answers.json', 'utf8'));
  const answer = answers.shift();
  writeFileSync('answers.json', JSON.stringify(answers));
  if (answer) writeFileSync(value('--report'), JSON.stringify(answer.report));
  else console.error('nothing works');
  process.exit(answer ? answer.code ?? 0 : 2);
} else {
  console.error(readFileSync('csan.txt', 'utf8'));
  process.exitCode = Number(process.env.ENDS_WITH ?? 0);
}
`;

const wrong = {
  what: 'second',
  name: 'aten::mul',
  file: 'told.py',
  line: 3,
  tensor: 'float32[4, 2]',
  index: [1, 0],
  expected: '6',
  got: 'nan',
  wrong: 3,
  total: 8,
};
const reproduced = { id: 0, status: 'reproduced', happened: true, message: '', wrong };
const held = { status: 'not reproduced', happened: false, message: 'The second call waited.' };

function run(command: string, answers: readonly object[], more: readonly string[] = []) {
  at = folder({
    'program.py': program,
    'told.py': '',
    'csan.txt': 'no race',
    'recorded.raceline': recording,
    'answers.json': JSON.stringify(answers),
    'python.cjs': standIn,
  });
  chmodSync(path.join(at, 'python.cjs'), 0o755);
  const python = path.join(at, 'python.cjs');
  const {
    code,
    stdout: out,
    stderr: err,
  } = raceline(at, command, '--python', python, ...more, '--', 'program.py', '--flag');
  return { code, out, err };
}

let recording: string;
beforeAll(() => {
  const { program: told, lines } = tell(text);
  recording = execute(told, {
    producer: 'test',
    placeOf: (step) => [{ file: 'told.py', line: lines[step]!, function: 'run' }],
  });
});

describe('raceline confirm', () => {
  it('records, asks for each hazard, and says what came out wrong', () => {
    const two = [reproduced, { id: 2, ...held }];
    const { code, out } = run('confirm', [{ report: { results: two } }], ['--record', 'kept.raceline']);
    expect(code).toBe(1);
    expect(out).toContain('told.py:3: missing-wait: reproduced');
    expect(out).toMatch(
      /what `aten::mul` at told.py:3 gives \(float32\[4, 2\]\) is wrong at \[1, 0\]: expected 6, got nan; 3 of 8 elements are wrong/,
    );
    expect(out).toContain('not reproduced');
    expect(out).toContain('event-never-recorded: not tried');
    const { args, queues } = json('seen.json');
    expect(args.slice(-2)).toEqual(['program.py', '--flag']);
    expect(queues).toBe('32');
    const plan = json('kept.plan.json').hazards;
    expect(plan[0]).toMatchObject({
      kind: 'order',
      conflict: 'read-after-write',
      first: { file: 'told.py', line: 2, occurrence: 0 },
      second: { file: 'told.py', line: 3, occurrence: 0 },
    });
  });

  it('goes on in another process when the device is lost, until nothing new comes', () => {
    const lost = { id: 2, status: 'failed', message: 'The process ended while this hazard was tried.' };
    const { code, out } = run('confirm', [
      { code: 75, report: { results: [reproduced] } },
      { code: 1, report: { results: [reproduced, lost] } },
    ]);
    expect(out).toContain('failed');
    expect(code).toBe(2);
    expect(json('answers.json')).toEqual([]);
  });

  it('says which hazard no run came to', () => {
    const { code, out } = run('confirm', [{ code: 1, report: { results: [reproduced] } }]);
    expect(code).toBe(1);
    expect(out).toMatch(/told.py:7: missing-wait: not tried\n.*\n.*No run came to it/);
  });

  it('is silent where nothing was reproduced, in JSON too', () => {
    const all = [0, 2].map((id) => ({ id, ...held }));
    const { code, out } = run('confirm', [{ report: { results: all } }], ['--format', 'json']);
    expect(code).toBe(0);
    const statuses = JSON.parse(out).hazards.map((one: { result: { status: string } }) => one.result.status);
    expect(new Set(statuses)).toEqual(new Set(['not reproduced', 'not tried']));
  });

  it('says what the runs printed where they fail', () => {
    const { code, err } = run('confirm', []);
    expect(code).toBe(2);
    expect(err).toContain('cannot be run again (exit code 2)');
    expect(err).toContain('nothing works');
  });
});

describe('raceline bisect', () => {
  it('names what the checker and the recording know of the place', () => {
    const line = (number: number) => ({ file: 'program.py', line: number });
    const place = { site: line(5), earliest: line(5), after: line(3) };
    const report = {
      status: 'found',
      message: '',
      runs: 7,
      places: [{ ...place, stress: 'with each side stream delayed' }],
    };
    const { code, out } = run('bisect', [{ report }]);
    expect(code).toBe(1);
    expect(out).toContain('program.py:5: a synchronization before this line makes the result right');
    expect(out).toContain('wrong with each side stream delayed');
    expect(out).toMatch(/the checker: .*program.py:5: missing-wait/);
    expect(out).toContain('7 runs');
  });

  it('tells logic from synchronization by its exit code', () => {
    const report = { status: 'logic', message: 'No matter of synchronization.', runs: 2, places: [] };
    const { code, out } = run('bisect', [{ report }], ['--check', 'loss < 1']);
    expect([code, out.includes('No matter of synchronization.')]).toEqual([2, true]);
    const plan = readFileSync(
      path.join(
        at,
        json('seen.json').args.find((word: string) => word.endsWith('.plan.json')),
      ),
    );
    expect(JSON.parse(plan.toString()).check).toBe('loss < 1');
    const right = { status: 'right', message: 'Every run was right.', runs: 9, places: [] };
    expect(run('bisect', [{ report: right }], ['--exit-code']).code).toBe(0);
  });
});

describe('raceline run --with', () => {
  it('says that nothing was reported', () => {
    const { code, out } = run('run', [], ['--with', 'csan']);
    expect([code, out]).toEqual([0, expect.stringContaining('the CUDA sanitizer reports no race')]);
    process.env.ENDS_WITH = '3';
    try {
      const failed = run('run', [], ['--with', 'csan']);
      expect([failed.code, failed.out]).toEqual([
        2,
        expect.stringContaining('The program failed (exit code 3). Up to there,'),
      ]);
    } finally {
      delete process.env.ENDS_WITH;
    }
  });

  it('says where to get what is not installed', () => {
    const { code, err } = run('run', [], ['--with', 'compute-sanitizer']);
    expect([code, err.includes('It comes with the CUDA toolkit')]).toEqual([2, true]);
  });
});
