import { parseArgs } from 'node:util';
import { formatHead, type ChainHead, verifyAudit } from '../features/audit/index.ts';
import { type Command, CommandError, ExitCode } from './command.ts';
import { withDatabase } from './command-database.ts';

const HEAD = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}):(\d{1,15}):([0-9a-f]{64})$/;
/** The first of each chain; a table that was put back from elsewhere has a fault in all of them. */
const MOST_FAULTS = 20;

export const verifyAuditCommand: Command = {
  words: ['audit', 'verify'],
  usage: '[--expect CHAIN:NUMBER:HASH]… [--heads]',
  async run(args, config, { print, error }) {
    const { expect = [], heads = false } = read(args);
    const expected = expect.map(parseHead);
    const report = await withDatabase(config, 'REPEATABLE READ', (tx) => verifyAudit(tx, expected));
    const { faults, removed, unchained } = report;
    if (heads) for (const head of report.heads) print(formatHead(head));
    print(`${report.rows} rows in ${report.heads.length} chains; ${unchained} rows have no place in a chain yet`);
    for (const head of removed) print(`${formatHead(head)}: removed for its age since, nothing to compare with`);
    for (const fault of faults.slice(0, MOST_FAULTS)) {
      error(`${fault.reason} chain ${fault.chain} number ${fault.chainNumber}: ${MEANINGS[fault.reason](fault.seq)}`);
    }
    if (faults.length > MOST_FAULTS) error(`and ${faults.length - MOST_FAULTS} more`);
    return faults.length > 0 ? ExitCode.FAULTS : ExitCode.DONE;
  },
};

function read(args: readonly string[]): { expect?: string[]; heads?: boolean } {
  try {
    const options = { expect: { type: 'string', multiple: true }, heads: { type: 'boolean' } } as const;
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}

function parseHead(text: string): ChainHead {
  const [, chain, chainNumber, chainHash] = HEAD.exec(text) ?? [];
  if (chain === undefined || chainHash === undefined)
    throw new CommandError(`--expect ${text}: must be CHAIN:NUMBER:HASH, as --heads prints it`);
  return { chain, chainNumber: Number(chainNumber), chainHash };
}

const MEANINGS = {
  HASH_DIFFERS: (seq: number | null) =>
    `the row with seq ${seq} is not the one that was written, or one before it is not`,
  ROW_MISSING: (seq: number | null) => `one or more rows before the one with seq ${seq} are gone`,
  EXPECTED_MISSING: () => 'this place was written down elsewhere, and the chain ends before it',
  EXPECTED_DIFFERS: (seq: number | null) =>
    `another hash was written down elsewhere${seq === null ? '' : ` for the row with seq ${seq}`}: the chain was made again`,
} as const;
