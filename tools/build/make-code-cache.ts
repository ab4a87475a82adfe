/**
 * `make-code-cache.ts PROGRAM CACHE`, under the flags that the program is started with: runs the bundled agent until it
 * ends, which without a usable configuration is as soon as all of it is loaded, and keeps what V8 made of it until then.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

const [program = '', cache = ''] = process.argv.slice(2);
const script = new Script(Module.wrap(readFileSync(program, 'latin1')), { filename: program });
process.on('exit', () => {
  // The program sets this one itself; the cache is for a process that has not yet.
  setFlagsFromString('--no-optimize-for-size');
  writeFileSync(cache, script.createCachedData());
});
const module = { exports: {} };
const run = script.runInThisContext() as (...parameters: unknown[]) => void;
run(module.exports, createRequire(program), module, program, '');
