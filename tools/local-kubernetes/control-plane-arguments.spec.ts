import { describe, expect, it } from 'vitest';
import type { ClusterSpec } from './cluster-spec.ts';
import { controlPlaneArguments, renderCorefile } from './control-plane-arguments.ts';
import { nodeConfiguration } from './node-configuration.ts';

const spec = (changes: Partial<ClusterSpec> = {}): ClusterSpec => ({
  index: 3,
  name: 'trial',
  nodes: 2,
  shortGracePeriods: false,
  binary: '/cache/kubernetes',
  pauseImage: '/cache/pause.tar',
  images: [],
  detached: false,
  ...changes,
});

const everything = (value: ClusterSpec): string => Object.values(controlPlaneArguments(value)).flat().join('\n');

describe('arguments of the control plane', () => {
  it("keep Kubernetes' own grace periods unless short ones are asked for", () => {
    expect(everything(spec())).not.toMatch(/toleration-seconds|node-monitor/);
    const short = everything(spec({ shortGracePeriods: true }));
    expect(short).toContain('--node-monitor-grace-period=8s');
    expect(short).toContain('--default-unreachable-toleration-seconds=10');
  });

  it('share no address and no folder with another cluster', () => {
    const own = (text: string) => text.match(/198\.1[89]\.[\d.]+|127\.0\.0\.\d+|\/var\/lib[^\s]+/g) ?? [];
    const here = new Set(own(everything(spec())));
    expect(here.size).toBeGreaterThan(10);
    expect(own(everything(spec({ index: 4 }))).filter((text) => here.has(text))).toEqual([]);
  });

  it('answer DNS on the address that kubelets give to pods', () => {
    expect(renderCorefile(spec())).toContain('bind 198.18.3.1');
    expect(JSON.parse(nodeConfiguration(spec(), 1)['kubelet.yaml'] ?? '')).toMatchObject({
      clusterDNS: ['198.18.3.1'],
    });
  });
});
