// `node tools/ledger/main.ts --kubeconfig FILE NAMESPACE NAME`: writes and probes until Ctrl-C (or --seconds), then prints the report.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startLedger } from './start-ledger.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { kubeconfig: { type: 'string', default: process.env['KUBECONFIG'] ?? '' }, seconds: { type: 'string' } },
});
const [namespace, name] = positionals;
if (namespace === undefined || name === undefined || values.kubeconfig === '') {
  console.error('usage: node tools/ledger/main.ts [--kubeconfig FILE] [--seconds N] NAMESPACE NAME');
  process.exit(2);
}
const ledger = await startLedger({ kubeconfigPath: values.kubeconfig }, namespace, name);
const interrupted = new AbortController();
process.once('SIGINT', () => interrupted.abort());
const waitMs = values.seconds === undefined ? 2 ** 31 - 1 : Number(values.seconds) * 1_000;
await sleep(waitMs, undefined, { signal: interrupted.signal }).catch(() => undefined);
const report = await ledger.finish({ everywhere: true });
console.log(JSON.stringify(report, null, 2));
process.exitCode = report.lost.length === 0 ? 0 : 1;
