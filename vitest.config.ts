import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    globalSetup: ['scripts/vitest-setup.mjs'],
    include: ['test/**/*.test.ts'],
    exclude: ['test/vscode/**', 'node_modules/**', 'dist/**'],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    // What a page shows settles a frame or more after an action; on a loaded machine that takes longer than vitest's second.
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 2,
    minWorkers: 1,
  },
});
