import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AGENT_NODE_FLAGS } from './agent-node-flags.ts';

const MAKER = fileURLToPath(new URL('make-code-cache.ts', import.meta.url));
/** Reads the cache as the agent's start does, and says whether V8 takes it. */
const CHECK = `
  const [{ readFileSync }, { Script }, { wrap }] = ['fs', 'vm', 'module'].map((name) => require(name));
  const [program, cache] = process.argv.slice(1);
  const script = new Script(wrap(readFileSync(program, 'latin1')), { cachedData: readFileSync(cache) });
  console.log(script.cachedDataRejected === false ? 'taken' : 'refused');
`;

/**
 * Writes to `cache` what V8 makes of `program` under the agent's flags, with the Node that runs this, which is the one in the
 * image. Throws when V8 would not take it, since a start would then be slow without a word.
 */
export function writeCodeCache(program: string, cache: string): void {
  run([MAKER, program, cache]);
  const answer = run(['-e', CHECK, program, cache]).trim();
  if (answer !== 'taken') throw new Error(`V8 does not take the code cache that it just made of ${program}: ${answer}`);
}

function run(args: readonly string[]): string {
  // No configuration at all: the program ends with an error once it is loaded.
  const env = { ATOLL_SCOPE: 'none: the code cache is made', PATH: process.env['PATH'] };
  const { stdout, error } = spawnSync(process.execPath, [...AGENT_NODE_FLAGS, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (error !== undefined) throw error;
  return stdout;
}

/** The text as the agent's start hands it to V8: one byte a character, or it would be read wrongly and take twice the memory. */
export function assertAscii(program: string): void {
  const text = readFileSync(program, 'utf8');
  const at = text.search(/[^\0-\x7f]/);
  if (at === -1) return;
  const around = text.slice(Math.max(0, at - 40), at + 40);
  throw new Error(`the agent's bundle has a character that is not ASCII; write it another way, near: ${around}`);
}
