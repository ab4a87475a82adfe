/**
 * Starts the bundled agent with the code cache that was made with it: V8 then neither parses nor compiles a megabyte of
 * program, which is a third of the CPU time until it runs and 5 MiB of memory that was never given back. V8 itself refuses
 * a cache of another program, Node or set of flags; then, and without one, it compiles as ever.
 */
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Script } from 'node:vm';

/** Takes exports, require, module, file and folder, as every CommonJS module does. */
type Program = (...parameters: readonly unknown[]) => void;

const folder = dirname(process.argv[1] ?? '');
const file = join(folder, 'agent.cjs');

const readIfThere = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
};

const cachedData = readIfThere(join(folder, 'agent.cache'));
// The build lets nothing but ASCII in, so that V8 needs one byte a character.
const script = new Script(Module.wrap(readFileSync(file, 'latin1')), {
  filename: file,
  ...(cachedData === undefined ? {} : { cachedData }),
});
const module = { exports: {} };
(script.runInThisContext() as Program)(module.exports, createRequire(file), module, file, folder);
