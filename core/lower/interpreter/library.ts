/** The parts of Python's library, and of NumPy, that move references, call back or read host memory. */
import type { Node } from '../../python/ast.ts';
import {
  ClassV,
  DictV,
  FunctionV,
  InstanceV,
  isObj,
  IteratorV,
  keyOf,
  ListV,
  NativeV,
  PartialV,
  TensorV,
  ThreadV,
  TupleV,
  Unknown,
  type Value,
} from '../values.ts';
import { lazy, newContainer, range } from './builtins.ts';
import { call, callMethod, type Keywords, noKeywords, tensorsIn, unknownCall } from './calls.ts';
import { lookup } from './classes.ts';
import { concurrentCall } from './concurrent.ts';
import { enterContext, leaveStack, plainContext } from './contexts.ts';
import { keepResults } from './functions.ts';
import { hasHooks, isModule } from './hooks.ts';
import { iterate, itemsOf } from './iteration.ts';
import type { Machine } from './machine.ts';
import { hostRead } from './memory.ts';
import { copyOfContainer, copyOfModule } from './modulesOfTorch.ts';
import { newLock } from './threads.ts';
import { resolved } from './truth.ts';

function plain(name: string): Unknown {
  const value = new Unknown(name, 'result');
  value.plain = true;
  return value;
}

/** Wrappers that show how far an iteration has come. */
const showsProgress = /^tqdm(?:\.\w+)*\.(?:tqdm|tqdm_notebook|trange)$|^rich\.progress\.track$/;

/** What gives the same items as what it goes over. */
function handedThrough(m: Machine, shown: Value, node: Node): Value {
  return lazy(m, [shown], () => {
    const inner = iterate(m, shown, node);
    return { next: inner.next, keep: inner.keep ?? null };
  });
}

export function libraryCall(
  m: Machine,
  path: string,
  args: readonly Value[],
  keywords: Keywords,
  node: Node,
): Value | undefined {
  const concurrent = concurrentCall(m, path, args, keywords, node);
  if (concurrent !== undefined) return concurrent;
  if (showsProgress.test(path)) {
    if (path.endsWith('range')) return range(m, args, node);
    const shown = args[0] ?? keywords.get('iterable') ?? keywords.get('sequence') ?? null;
    // A bar that somebody moves by hand goes over nothing.
    return shown === null ? undefined : handedThrough(m, shown, node);
  }
  const first = args[0] === undefined ? null : resolved(m, args[0]);
  switch (path) {
    case 'functools.partial':
      return m.temp(new PartialV(first, args.slice(1), new Map(keywords)));
    // Its argument is the function whose name the decorated one takes, not the one that it decorates.
    case 'functools.wraps':
      return new NativeV('decorator');
    case 'functools.lru_cache':
    case 'functools.cache':
      if (args.length !== 1 || !(first instanceof FunctionV)) return new NativeV('functools.cache');
      keepResults(first);
      return first;
    case 'functools.total_ordering':
      return args.length === 1 && isObj(first) && first.kind === 'function' ? first : new NativeV('decorator');
    case 'functools.reduce': {
      const items = itemsOf(m, args[1] ?? null, node);
      let total = args.length > 2 ? args[2]! : (items.shift() ?? null);
      for (const item of items) total = call(m, first, [total, item], new Map(), node);
      return total;
    }
    // Programs run with what they take for unset.
    case 'os.getenv':
    case 'os.environ.get': {
      const value = m.deriveUnknown(`env:${isObj(first) ? keyOf(first) : String(first)}`, 'getenv');
      value.plain = true;
      value.hint = args[1] ?? keywords.get('default') ?? null;
      return value;
    }
    case 'contextlib.nullcontext':
      return plainContext(m, first);
    case 'contextlib.suppress': {
      const context = plainContext(m);
      context.suppresses = true;
      return context;
    }
    case 'contextlib.ExitStack':
      return exitStack(m, node);
    case 'contextlib.closing':
      return plainContext(m, first);
    case 'collections.deque':
    case 'queue.Queue':
    case 'queue.SimpleQueue':
    case 'queue.LifoQueue':
    case 'multiprocessing.Queue':
    case 'asyncio.Queue':
    case 'collections.UserList': {
      const bounded = path === 'collections.deque';
      const list = new ListV(bounded && args.length > 0 ? itemsOf(m, first, node) : []);
      const longest = bounded ? (args[1] ?? keywords.get('maxlen')) : undefined;
      if (typeof longest === 'number') list.longest = longest;
      return newContainer(m, list);
    }
    case 'collections.OrderedDict':
    case 'weakref.WeakKeyDictionary':
    case 'weakref.WeakValueDictionary':
    case 'collections.Counter': {
      const dict = newContainer(m, new DictV());
      if (first instanceof DictV)
        for (const [key, entry] of first.entries) dict.entries.set(key, { key: entry.key, value: entry.value });
      return dict;
    }
    case 'dict.fromkeys':
    case 'collections.OrderedDict.fromkeys': {
      // Each key has the same object.
      const dict = m.temp(new DictV());
      for (const key of itemsOf(m, first, node)) dict.entries.set(keyOf(key), { key, value: args[1] ?? null });
      return dict;
    }
    case 'collections.defaultdict': {
      const dict = m.temp(new DictV());
      dict.factory = first;
      return dict;
    }
    case 'collections.namedtuple':
    case 'typing.NamedTuple': {
      const fields =
        typeof args[1] === 'string'
          ? args[1].split(/[\s,]+/).filter(Boolean)
          : args[1] instanceof ListV || args[1] instanceof TupleV
            ? args[1].items.map((item) => (item instanceof TupleV ? String(item.items[0]) : String(item)))
            : [];
      const cls = new ClassV(typeof first === 'string' ? first : 'namedtuple', undefined, [], undefined);
      cls.named = true;
      cls.fields = fields.map((name) => ({ name }));
      return cls;
    }
    case 'types.SimpleNamespace': {
      const cls = new ClassV('SimpleNamespace', undefined, [], undefined);
      cls.fields = [];
      const self = m.temp(new InstanceV(cls));
      for (const [name, value] of keywords) self.attributes.set(name, value);
      return self;
    }
    case 'dataclasses.replace': {
      if (!(first instanceof InstanceV)) return undefined;
      const copy = m.temp(new InstanceV(first.cls));
      for (const [name, value] of first.attributes) copy.attributes.set(name, value);
      for (const [name, value] of keywords) copy.attributes.set(name, value);
      return copy;
    }
    case 'dataclasses.field':
      return new Unknown('field', 'result');
    case 'dataclasses.dataclass':
    case 'dataclasses.fields':
    case 'dataclasses.asdict':
      return new NativeV('decorator');
    case 'copy.copy':
    case 'copy.deepcopy':
      return copied(m, first, path.endsWith('deepcopy'));
    case 'threading.Thread': {
      const given = keywords.get('args');
      const extra = given instanceof TupleV || given instanceof ListV ? given.items : [];
      const named = keywords.get('kwargs');
      const inner = new Map<string, Value>();
      if (named instanceof DictV)
        for (const entry of named.entries.values())
          if (typeof entry.key === 'string') inner.set(entry.key, entry.value);
      return m.temp(new ThreadV(keywords.get('target') ?? args[1] ?? null, extra, inner));
    }
    case 'threading.RLock':
      return plainContext(m);
    case 'threading.Lock':
      return newLock(m, path, 1);
    case 'threading.Semaphore':
    case 'threading.BoundedSemaphore':
      return newLock(
        m,
        path,
        args.length === 0 && keywords.size === 0 ? 1 : (args[0] ?? keywords.get('value') ?? null),
      );
    case 'threading.Event':
    case 'threading.Condition':
    case 'threading.local':
    case 'threading.Barrier':
      return m.temp(new NativeV(path));
    case 'itertools.chain': {
      const parts = args.map((arg) => itemsOf(m, arg, node));
      return m.temp(new ListV(parts.flat()));
    }
    case 'itertools.chain.from_iterable': {
      const parts = itemsOf(m, first, node).map((part) => itemsOf(m, part, node));
      return m.temp(new ListV(parts.flat()));
    }
    case 'itertools.cycle': {
      const items = itemsOf(m, first, node);
      let at = 0;
      return m.temp(new IteratorV(() => (items.length > 0 ? items[at++ % items.length] : undefined), items));
    }
    case 'itertools.repeat': {
      let at = 0;
      const count = typeof args[1] === 'number' ? args[1] : 1_000_000;
      return m.temp(new IteratorV(() => (at++ < count ? first : undefined), [first]));
    }
    case 'itertools.count': {
      let at = typeof first === 'number' ? first : 0;
      return m.temp(new IteratorV(() => at++, []));
    }
    case 'itertools.islice': {
      const stopAt = args.length > 2 ? args[2]! : (args[1] ?? null);
      const startAt = args.length > 2 && typeof args[1] === 'number' ? args[1] : 0;
      const items = itemsOf(m, first, node, typeof stopAt === 'number' ? Math.min(stopAt, 64) : 64);
      return m.temp(new ListV(items.slice(startAt)));
    }
    case 'itertools.product':
    case 'itertools.zip_longest':
    case 'itertools.pairwise': {
      if (path.endsWith('pairwise')) {
        const items = itemsOf(m, first, node);
        return m.temp(new ListV(items.slice(1).map((item, i) => new TupleV([items[i]!, item]))));
      }
      const rows = args.map((arg) => itemsOf(m, arg, node));
      if (path.endsWith('zip_longest')) {
        const longest = Math.max(0, ...rows.map((row) => row.length));
        return m.temp(
          new ListV(Array.from({ length: longest }, (_, i) => new TupleV(rows.map((row) => row[i] ?? null)))),
        );
      }
      let product: Value[][] = [[]];
      for (const row of rows) product = product.flatMap((prefix) => row.map((item) => [...prefix, item])).slice(0, 256);
      return m.temp(new ListV(product.map((row) => new TupleV(row))));
    }
    case 'weakref.ref':
    case 'weakref.proxy':
    case 'weakref.finalize':
    case 'gc.collect':
    case 'gc.disable':
    case 'gc.enable':
    case 'warnings.warn':
    case 'warnings.filterwarnings':
    case 'logging.getLogger':
      return plain(path);
    case 'time.sleep':
      return null;
    case 'sys.exit':
    case 'os._exit':
      return null;
    case 'typing.cast':
      return args[1] ?? null;
    case 'operator.itemgetter':
    case 'operator.attrgetter':
      return undefined;
  }
  if (
    /^(math|time|os|sys|random|string|re|json|typing|enum|abc|inspect|platform|datetime|argparse|pathlib|uuid|hashlib)\./.test(
      path,
    )
  ) {
    if (/^math\.(ceil|floor|sqrt|prod|gcd|log2|log)$/.test(path) && typeof first === 'number') {
      const result = { ceil: Math.ceil, floor: Math.floor, sqrt: Math.sqrt, log2: Math.log2, log: Math.log }[
        path.slice(5)
      ];
      if (result) return result(first);
    }
    for (const tensor of tensorsIn(m, args)) hostRead(m, tensor, path);
    const value = m.deriveUnknown(`${path}:${args.map(keyOf).join()}:${node.start}`, path);
    value.plain = !/^(argparse|pathlib|json|inspect)\./.test(path);
    return value;
  }
  if (/^(pickle|json|np|numpy|shutil|io|struct)\./.test(path)) return hostLibrary(m, path, args, keywords);
  return undefined;
}

/** Functions that read the host memory that they are given, at once. */
function hostLibrary(m: Machine, path: string, args: readonly Value[], keywords: Keywords): Value {
  const tensors = tensorsIn(m, [...args, ...keywords.values()]);
  const first = tensors[0];
  if (/\.(asarray|ascontiguousarray|array|asanyarray|frombuffer|from_dlpack)$/.test(path)) {
    if (first?.storage.memory === 'pinned' && !path.endsWith('.array')) {
      const array = m.temp(new TensorV(first.storage, first.start, first.end));
      array.numpy = true;
      return array;
    }
  }
  if (/\.copyto$/.test(path)) {
    // Only its first argument is written, which may well be memory of something else's than a tensor's.
    const target = tensorsIn(m, [args[0] ?? keywords.get('dst') ?? null])[0];
    if (target) m.hostAccess(path, target, true);
    for (const tensor of tensors) if (tensor !== target) hostRead(m, tensor, path);
    return null;
  }
  for (const tensor of tensors) hostRead(m, tensor, path);
  const out = keywords.get('out');
  if (out instanceof TensorV) m.hostAccess(path, out, true);
  return plain(path);
}

const moduleLikeName =
  /(?:^|[._])\w*?(?:model|module|net|network|layer|block|encoder|decoder|policy|actor|critic|teacher|student)s?(?:\[.*\])?$/i;

function copiesItself(value: Value): boolean {
  return value instanceof InstanceV && lookup(value.cls, '__deepcopy__') !== undefined;
}

function copied(m: Machine, value: Value, deep: boolean): Value {
  // A module's hooks are copied with it: which of them a copy has is not followed.
  if (deep && isObj(value) && isModule(value))
    return hasHooks(m, value) || copiesItself(value) ? value : copyOfModule(m, value);
  if (deep && value instanceof Unknown) {
    if (value.tensor) return copied(m, value.tensor, true);
    // What is no module is mostly told from, not written: the copy says the same.
    if (value.parameters || moduleLikeName.test(value.name)) return unknownCall(m, 'deepcopy', [value], noKeywords);
  }
  if (value instanceof TupleV && !deep) return value;
  const container = copyOfContainer(m, value, (item) => (deep ? copied(m, item, true) : item));
  if (container) return container;
  if (value instanceof InstanceV && !deep) {
    const copy = m.temp(new InstanceV(value.cls));
    for (const [name, item] of value.attributes) copy.attributes.set(name, item);
    return copy;
  }
  if (value instanceof TensorV) return deep ? callMethod(m, value, 'clone', [], new Map(), m.frame.node) : value;
  return value;
}

/** `ExitStack`: what `enter_context` entered is left in reverse. */
function exitStack(m: Machine, node: Node): NativeV {
  const stack = m.temp(new NativeV('contextlib.ExitStack'));
  m.exitStacks.set(stack, []);
  void node;
  return stack;
}

export function exitStackMethod(
  m: Machine,
  self: NativeV,
  name: string,
  args: readonly Value[],
  node: Node,
): Value | undefined {
  const entered = m.exitStacks.get(self);
  if (!entered) return undefined;
  switch (name) {
    case '__enter__':
      return self;
    case 'enter_context': {
      const context = enterContext(m, args[0] ?? null, node);
      self.parts.push(args[0] ?? null);
      entered.push(context.exit);
      return context.value;
    }
    case 'callback':
    case 'push': {
      const fn = args[0] ?? null;
      self.parts.push(fn);
      entered.push(() => {
        if (name === 'callback') call(m, fn, args.slice(1), new Map(), node);
      });
      return fn;
    }
    case 'close':
    case '__exit__':
      leaveStack(m, self);
      return false;
    case 'pop_all': {
      const other = exitStack(m, node);
      m.exitStacks.get(other)!.push(...entered.splice(0));
      other.parts = self.parts;
      self.parts = [];
      return other;
    }
  }
  return undefined;
}
