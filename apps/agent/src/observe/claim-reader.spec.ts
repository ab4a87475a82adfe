import { describe, expect, it } from 'vitest';
import { LABEL } from '#domain';
import type { KubeObject } from '#domain';
import type { KubeClient } from '#kube';
import { ClaimReader } from './claim-reader.ts';

const claim = (name: string, labels?: Readonly<Record<string, string>>): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'shop', uid: `uid-${name}`, ...(labels === undefined ? {} : { labels }) },
});

const read = async (live: readonly KubeObject[], cached: readonly KubeObject[]) => {
  const asked: string[] = [];
  const find: KubeClient['find'] = (_, { name }) => {
    asked.push(name);
    return Promise.resolve(live.find(({ metadata }) => metadata.name === name) as never);
  };
  const names = ['data-a-0', 'data-a-1', 'data-a-2'];
  const found = await new ClaimReader({ find }).readUnlabelled({ namespace: 'shop', hash: 'h', names }, cached);
  return { asked, found: found.map(({ metadata }) => metadata.name) };
};

describe('claims without the label of their data set', () => {
  const ours = { [LABEL.dataSet]: 'h' };

  it('are found by the name under which a pod would mount them', async () => {
    const cached = [claim('data-a-0', ours), claim('data-a-1', ours)];
    expect(await read([...cached, claim('data-a-2')], cached)).toEqual({ asked: ['data-a-2'], found: ['data-a-2'] });
  });

  it('where all are labelled, nobody is asked', async () => {
    const cached = ['data-a-0', 'data-a-1', 'data-a-2'].map((name) => claim(name, ours));
    expect(await read(cached, cached)).toEqual({ asked: [], found: [] });
  });

  it('also with the label of another data set; one with ours is told by the watch, so a new one is not taken for an old', async () => {
    const live = [claim('data-a-0', ours), claim('data-a-1', { [LABEL.dataSet]: 'other' })];
    expect((await read(live, [])).found).toEqual(['data-a-1']);
  });
});
