/**
 * Python functions as the profiler names them, `train.py(12): step`, and which of them are the user's. The line is the
 * one of the definition: the profiler does not know the executing line.
 */

export interface PythonFrame {
  readonly file: string;
  readonly line: number;
  readonly function: string;
  /** `user`: worth showing as the place; `package`: installed code; `hidden`: torch itself and the standard library. */
  readonly owner: 'user' | 'package' | 'hidden';
}

/** Undefined for what is not a function in a file: `<built-in method …>`, `nn.Module: Linear_3`. */
export function parsePythonFrame(name: string): PythonFrame | undefined {
  const open = /\((\d+)\): /.exec(name);
  if (!open || open.index === 0) return undefined;
  const file = name.slice(0, open.index);
  if (file.startsWith('<')) return undefined;
  return {
    file,
    line: Math.min(Number(open[1]), 0x7fffffff),
    function: name.slice(open.index + open[0].length),
    owner: ownerOf(file),
  };
}

export function ownerOf(file: string): PythonFrame['owner'] {
  const path = file.replaceAll('\\', '/');
  if (path === '' || path === '??' || path.startsWith('<')) return 'hidden';
  if (/(^|\/)torch\//.test(path)) return 'hidden';
  if (/(^|\/)(site|dist)-packages\//.test(path)) return 'package';
  if (/(^|\/)lib\/python\d/.test(path)) return 'hidden';
  // The profiler cuts the folder of installed modules off, so packages are told by their names.
  const top = path.split('/', 1)[0]!.replace(/\.py$/, '');
  if (standardModules.has(top)) return 'hidden';
  return knownPackages.has(top) ? 'package' : 'user';
}

/** Modules of the standard library that stand on stacks; a program cannot well have modules of these names. */
const standardModules = new Set(
  (
    'abc argparse ast asyncio bdb codecs collections concurrent contextlib contextvars copy copyreg ctypes ' +
    'dataclasses decimal email encodings enum fractions functools gc genericpath gzip heapq http importlib inspect io ' +
    'json linecache locale logging multiprocessing numbers opcode operator os pathlib pdb pickle pkgutil posixpath ' +
    'pprint queue random re runpy selectors shutil signal site socket socketserver ssl string ' +
    'subprocess tempfile textwrap threading timeit tokenize traceback types typing unittest urllib uuid warnings ' +
    'weakref xml zipfile'
  ).split(' '),
);

/** Packages that are often between the program and torch. They are shown, but a frame of the program comes first. */
const knownPackages = new Set(
  (
    'IPython accelerate apex bitsandbytes datasets deepspeed diffusers einops fairscale flash_attn fsspec functorch ' +
    'huggingface_hub ignite ipykernel jupyter lightning lightning_fabric megatron monai numba numpy pandas peft ' +
    'pytest pytorch_lightning ray safetensors scipy sglang sklearn tensordict tensorboard timm tokenizers torchao ' +
    'torchaudio torchdata torchmetrics torchrec torchtext torchtune torchvision tqdm transformer_engine transformers ' +
    'triton trl vllm wandb xformers'
  ).split(' '),
);
