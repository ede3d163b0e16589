import { beforeAll, expect, it } from 'vitest';
import { createSourceChecker, type SourceChecker } from '../../../core/checkSource.ts';
import { loadParser } from '../../harness/parser.ts';

let checker: SourceChecker;
beforeAll(async () => {
  checker = createSourceChecker(await loadParser());
});

/** What is found in a program that orders its copy where `test` holds, and not where it fails. */
function found(test: string, torchVersion?: string, before = ''): string[] {
  const text = `import torch
from packaging import version
${before}
def load(host):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x = host.to("cuda", non_blocking=True)
    if ${test}:
        torch.cuda.current_stream().wait_stream(side)
    return x.sum().item()
`;
  const options = { fixes: false, ...(torchVersion === undefined ? {} : { torchVersion }) };
  return checker.check([{ file: 'load.py', text }], options).findings.map((f) => `${f.code} ${f.certainty}`);
}

const holds = [
  'torch.__version__ >= "2.6"',
  'torch.__version__ >= (2, 10)',
  'version.parse(torch.__version__) >= version.parse("2.9.1")',
  'not version.parse(torch.__version__) < version.Version("2.0")',
  'tuple(int(part) for part in torch.__version__.split(".")[:2]) >= (2, 9)',
  'version.parse(torch.__version__).major == 2',
  'torch.__version__.startswith("2.")',
  'hasattr(torch, "accelerator")',
  'torch.version.hip is None',
  'torch.version.cuda is not None',
  'not torch.xpu.is_available()',
];
it.each(holds)('the newest PyTorch is assumed: %s', (test) => {
  expect(found(test)).not.toContain('missing-wait always');
});
it.each(holds.slice(0, 9))('what fails on it: not (%s)', (test) => {
  expect(found(`not (${test})`)).toEqual(['missing-wait always']);
});

it('an older one that the program has to work with goes the other way', () => {
  expect(found('torch.__version__ >= "2.6"', '2.4')).toEqual(['missing-wait some-paths']);
  expect(found('hasattr(torch, "accelerator")', '2.4')).toEqual(['missing-wait some-paths']);
  expect(found('torch.__version__ >= "2.6"', '2.6')).toEqual([]);
  expect(found('torch.__version__ >= "2.6"', '2.11.1')).toEqual([]);
  expect(found('hasattr(torch, "accelerator")', '2.7')).toEqual([]);
});

it('numbers compare as numbers, not as text', () => {
  expect(found('torch.__version__ >= "2.9"')).toEqual([]);
  expect(found('torch.__version__ < "2.9"')).toEqual(['missing-wait always']);
});

it('a constant of the module', () => {
  expect(
    found('NEW', undefined, 'NEW = version.parse(torch.__version__).release >= version.parse("2.1").release'),
  ).toEqual([]);
  expect(found('OLD', undefined, 'OLD = torch.__version__ < "1.12"')).toEqual(['missing-wait always']);
});
