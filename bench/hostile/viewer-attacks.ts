/** What two hostile VIEWERs ask for: valid, within the limits of one request, and meant to cost as much as it can. */
import { fleetId } from '../fleet/fleet-model.ts';

const FIELDS = `id name namespace generation delivery { state sync } status { phase mode readyPods freshness pods { name } }
  memberCluster { id name freshness } project { id name }`;
const ALIASES = 270;
/** The hub refuses more counts than this in one request; the version before took all of them. */
const MOST_COUNTS = 18;

const aliases = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join(' ');

export interface ViewerAttack {
  readonly name: string;
  /** The document of the request with this number. */
  readonly document: (request: number) => string;
}

export const VIEWER_ATTACKS: readonly ViewerAttack[] = [
  {
    name: '512 distinct documents, each twice',
    document: (request: number): string => {
      const number = Math.floor(request / 2) % 512;
      return `{ ${aliases(40, (at) => `a${number}_${at}: redisClusters(first: 1) { nodes { ${FIELDS} } }`)} }`;
    },
  },
  {
    name: `${ALIASES} counts by aliases`,
    document: (request: number): string =>
      `{ ${aliases(ALIASES, (at) => `a${at}: redisClusters(first: 1, filter: { namespace: "n${request}-${at}" }) { totalCount }`)} }`,
  },
  {
    name: 'as many counts as pass',
    document: (): string =>
      `{ ${aliases(MOST_COUNTS, (at) => `a${at}: redisClusters(first: 1, filter: { projectId: "${projectId(at)}" }) { totalCount }`)} }`,
  },
  {
    name: 'the deepest pages that are allowed',
    document: (): string =>
      `{ redisClusters(first: 100) { nodes { ${FIELDS} memberCluster { agents { memberCluster { name region } } } } } }`,
  },
];

const projectId = (at: number): string => Buffer.from(`Project:${fleetId('project', at)}`).toString('base64url');
