// Preloaded into a check: writes its CPU time in microseconds to the fourth descriptor when it ends.
import { writeSync } from 'node:fs';

process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  writeSync(3, JSON.stringify({ user, system }));
});
