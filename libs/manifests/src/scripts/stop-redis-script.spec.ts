import { describe, expect, it } from 'vitest';
import { HANDING_OVER } from '#domain';
import { GUARD, GUARD_SCENE, startGuard, type GuardScene } from '#testing';

/** preStop, run by the machine's sh on answers as redis-cli gives them, with a clock that moves by itself. */
const SELF = '127.0.0.1';
const { podIp, passwords } = GUARD;
const client = (user: string, laddr: string, name = ''): string =>
  `id=7 addr=10.9.9.9:50000 laddr=${laddr}:6379 fd=9 name=${name} age=60 idle=0 flags=N db=0 cmd=info user=${user} redir=-1 resp=2\n`;
const AGENT = client('atoll', podIp);
const AGENT_HANDING = client('atoll', podIp, HANDING_OVER);
/** The probe, or somebody inside the pod. */
const INSIDE = client('atoll', '127.0.0.1');

const primary = (clients: string, replicas = ['10.0.0.7']): string =>
  `OK\nmaster\n1200\n${replicas.length === 0 ? '\n' : ''}${replicas.map((ip) => `${ip}\n6379\n1200\n`).join('')}${clients}\n`;
const replica = (clients: string): string => `OK\nslave\n10.0.0.7\n6379\nconnected\n1200\n${clients}\n`;

const stop = (first: string | undefined, later: string | undefined = first, change: Partial<GuardScene> = {}) => {
  const scene: GuardScene = {
    spec: GUARD_SCENE.spec('Sentinel'),
    answers: first === undefined ? {} : { [SELF]: first },
    later: later === undefined ? {} : { [SELF]: later },
    ...change,
  };
  const run = startGuard(scene, 'stop-redis.sh');
  return { ...run, looks: run.read('bin/questions').match(/^ROLE$/gm)?.length ?? 0 };
};

describe('preStop of a data pod', () => {
  it.each([
    ['a replica', replica(AGENT)],
    ['a primary without a linked replica', primary(AGENT, [])],
    ['one that loads', 'OK\nmaster\n0\n\n'],
  ])('%s goes at once', (_, answer) => {
    expect(stop(answer)).toMatchObject({ status: 0, looks: 1 });
  });

  it('asks a server that does not answer once more, and goes', () => {
    expect(stop(undefined)).toMatchObject({ status: 0, looks: 2 });
    expect(stop('WRONGPASS invalid username-password pair\n\n')).toMatchObject({ status: 0, looks: 2 });
  });

  it('a primary with a linked replica is held until it is one itself', () => {
    expect(stop(primary(AGENT), replica(AGENT))).toMatchObject({ status: 0, looks: 2 });
  });

  it('goes when its replicas have gone: nobody is left to take over', () => {
    expect(stop(primary(AGENT), primary(AGENT, []))).toMatchObject({ status: 0, looks: 2 });
  });

  it('where the agent is away it is held for a moment only', () => {
    const away = { clockStands: true };
    expect(stop(primary(''), primary(''), away)).toMatchObject({ status: 0, looks: 6 });
    const others = primary(INSIDE + client('app', podIp, HANDING_OVER));
    expect(stop(others, others, away)).toMatchObject({ status: 0, looks: 6 });
  });

  it('where the agent is there and begins nothing it is held for 4 s', () => {
    expect(stop(primary(AGENT))).toMatchObject({ status: 0, looks: 4 });
  });

  it('a hand-over that is on holds it, also once it is a replica, until that is over', () => {
    expect(stop(replica(AGENT_HANDING), replica(AGENT))).toMatchObject({ status: 0, looks: 2 });
  });

  it('one that is never over holds it for 10 s', () => {
    const { status, looks, read } = stop(primary(AGENT_HANDING));
    const seconds = Number(read('bin/seconds').split('\n').length - 1);
    expect({ status, seconds }).toEqual({ status: 0, seconds: 11 });
    expect(looks).toBe(5);
  });

  it('tells no password, in no argument and no environment', () => {
    expect(stop(primary(AGENT)).told).not.toContain(passwords.atoll);
  });
});
