import { describe, expect, it } from 'vitest';
import { diffObject } from './diff-object.ts';

interface Container {
  name: string;
  image: string;
  resources: { limits: { memory: string } };
  terminationMessagePath?: string;
}
interface Live {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: { replicas?: number; template: { spec: { containers: [Container, ...Container[]] } } };
  status?: object;
}

const make = (): Live => ({
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'a', labels: { x: '1' } },
  spec: {
    replicas: 3,
    template: {
      spec: { containers: [{ name: 'redis', image: 'redis:8.0', resources: { limits: { memory: '1Gi' } } }] },
    },
  },
});

const diffAfter = (change: (live: Live, container: Container) => void): string | undefined => {
  const live = make();
  change(live, live.spec.template.spec.containers[0]);
  return diffObject({ ...make() }, { ...live });
};

describe('diffObject', () => {
  it.each<[string, (live: Live, container: Container) => void]>([
    ['nothing differs', () => {}],
    [
      'the server filled in defaults',
      (_, container) => {
        container.terminationMessagePath = '/dev/termination-log';
      },
    ],
    [
      'a quantity is spelt otherwise',
      (_, container) => {
        container.resources.limits.memory = '1024Mi';
      },
    ],
    [
      'somebody added a label',
      (live) => {
        live.metadata.labels['y'] = '2';
      },
    ],
    [
      'there is a status',
      (live) => {
        live.status = { replicas: 3 };
      },
    ],
  ])('sees no difference when %s', (_, change) => {
    expect(diffAfter(change)).toBeUndefined();
  });

  it.each<[string, string, (live: Live, container: Container) => void]>([
    [
      'a value',
      'spec.template.spec.containers[0].image',
      (_, container) => {
        container.image = 'redis:7.0';
      },
    ],
    [
      'an amount',
      'spec.template.spec.containers[0].resources.limits.memory',
      (_, container) => {
        container.resources.limits.memory = '2Gi';
      },
    ],
    [
      'a lost field',
      'spec.replicas',
      (live) => {
        delete live.spec.replicas;
      },
    ],
    [
      'a lost label',
      'metadata.labels.x',
      (live) => {
        live.metadata.labels = {};
      },
    ],
    [
      'a further list item',
      'spec.template.spec.containers',
      (live, container) => {
        live.spec.template.spec.containers.push(container);
      },
    ],
  ])('names the path of %s', (_, path, change) => {
    expect(diffAfter(change)).toBe(path);
  });
});
