import { expect, it } from 'vitest';
import { ownerOf, parsePythonFrame } from '../../../core/trace/python-frames.ts';

it.each([
  ['train.py', 'user'],
  ['app/model/blocks.py', 'user'],
  ['/home/me/project/torch_models/net.py', 'user'],
  ['C:\\work\\train.py', 'user'],
  ['torch/nn/modules/module.py', 'hidden'],
  ['/opt/venv/lib/python3.12/site-packages/torch/cuda/streams.py', 'hidden'],
  ['/opt/venv/lib/python3.12/site-packages/some_package/a.py', 'package'],
  ['/usr/lib/python3.12/threading.py', 'hidden'],
  ['contextlib.py', 'hidden'],
  ['multiprocessing/spawn.py', 'hidden'],
  ['transformers/models/llama/modeling_llama.py', 'package'],
  ['<frozen importlib._bootstrap>', 'hidden'],
  ['??', 'hidden'],
])('%s is %s', (file, owner) => {
  expect(ownerOf(file)).toBe(owner);
});

it('reads the name of a function in a file, and of nothing else', () => {
  expect(parsePythonFrame('a (1)/train.py(12): Net.forward')).toEqual({
    file: 'a (1)/train.py',
    line: 12,
    function: 'Net.forward',
    owner: 'user',
  });
  expect(parsePythonFrame('<built-in method mul of type object at 0x7f>')).toBeUndefined();
  expect(parsePythonFrame('nn.Module: Linear_3')).toBeUndefined();
  expect(parsePythonFrame('<string>(1): <module>')).toBeUndefined();
});
