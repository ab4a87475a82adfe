import { describe, expect, it } from 'vitest';
import { runCommand, tryCommand } from './run-command.ts';

describe('commands', () => {
  it('hand back output and exit code', async () => {
    const result = await tryCommand(['sh', '-c', 'cat; echo oops >&2; exit 3'], { input: 'in' });
    expect(result).toEqual({ stdout: 'in', stderr: 'oops\n', exitCode: 3 });
  });

  it('are killed at their deadline and say so', async () => {
    const result = await tryCommand(['sleep', '30'], { timeoutMs: 100 });
    expect(result.exitCode).toBe(124);
    expect(result.stderr).toContain('no end within 0.1 s');
  });

  it('fail with what they said last', async () => {
    await expect(runCommand(['sh', '-c', 'echo first >&2; echo last >&2; exit 1'])).rejects.toThrow(/first\nlast/);
  });

  it('fail at once when there is no such command', async () => {
    await expect(tryCommand(['/no/such/command'])).rejects.toThrow('ENOENT');
  });

  it('give each line of stderr as it comes, the last one without a line end too', async () => {
    const lines: string[] = [];
    await runCommand(['sh', '-c', 'echo a >&2; printf b >&2'], { onStderrLine: (line) => lines.push(line) });
    expect(lines).toEqual(['a', 'b']);
  });
});
