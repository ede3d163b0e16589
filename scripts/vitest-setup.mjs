// vitest's global setup: tests that start a bundle find it built from the present source.
import { setUp } from './setup.mjs';

export default function setup() {
  setUp();
}
