// Builds every bundle into dist/. `--watch` rebuilds on change, `--production` minifies and leaves source maps out.
import { cp, mkdir } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import esbuild from 'esbuild';

const root = path.dirname(fileURLToPath(import.meta.url));
const production = process.argv.includes('--production');
const watch = process.argv.includes('--watch');

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: production,
  sourcemap: production ? false : 'linked',
  target: 'es2022',
  logLevel: 'warning',
  legalComments: 'none',
  outdir: 'dist',
  entryNames: '[name]',
};

// Bundled CommonJS packages (the language server's) call `require`, which an ES module of Node does not have by itself.
const esmOnNode = {
  platform: 'node',
  format: 'esm',
  target: 'node20',
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
};

/** A dynamic import of the client library stays one, so that activation does not read it. */
const loadedWhenAskedFor = {
  name: 'loaded when asked for',
  setup(build) {
    build.onResolve({ filter: /\/clientLibrary\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './clientLibrary.cjs', external: true } : undefined,
    );
  },
};

const bundles = [
  {
    ...common,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
    outExtension: { '.js': '.cjs' },
    entryPoints: { extension: 'extension/main.ts', clientLibrary: 'extension/clientLibrary.ts' },
    plugins: [loadedWhenAskedFor],
  },
  { ...common, ...esmOnNode, entryPoints: { server: 'server/main.ts' } },
  { ...common, ...esmOnNode, entryPoints: { cli: 'cli/main.ts' } },
  {
    ...common,
    platform: 'browser',
    format: 'iife',
    entryPoints: { webview: 'webview/main.ts' },
    loader: { '.css': 'css' },
  },
  { ...common, platform: 'browser', format: 'iife', entryPoints: { worker: 'webview/worker.ts' } },
];

const files = [
  ['node_modules/web-tree-sitter/web-tree-sitter.wasm', 'dist/web-tree-sitter.wasm'],
  ['node_modules/tree-sitter-python/tree-sitter-python.wasm', 'dist/tree-sitter-python.wasm'],
];

await mkdir(path.join(root, 'dist'), { recursive: true });
for (const [from, to] of files) await cp(path.join(root, from), path.join(root, to));
const entries = bundles.filter((bundle) =>
  Object.values(bundle.entryPoints).every((file) => existsSync(path.join(root, file))),
);
if (watch) for (const bundle of entries) await (await esbuild.context(bundle)).watch();
else await Promise.all(entries.map((bundle) => esbuild.build(bundle)));
