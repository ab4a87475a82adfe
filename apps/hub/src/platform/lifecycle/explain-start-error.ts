/** What to do about the common reasons why a hub does not start: the system's own texts name a cause, and no way out. */
import { ownValue } from '#domain';

interface SystemError {
  readonly code?: string;
  readonly syscall?: string;
  readonly port?: number;
  readonly path?: string;
}
type Advice = (error: SystemError) => string;

const notAllowed: Advice = ({ syscall, port, path }) =>
  syscall === 'listen'
    ? `port ${port} is not allowed to this user: set ATOLL_API_PORT, ATOLL_AGENT_PORT and ATOLL_METRICS_PORT above 1023`
    : `${path} may not be used: let this user read and write it, or set ATOLL_DATA_DIR to another folder`;
const notWritable: Advice = ({ path }) => `${path} cannot be written: set ATOLL_DATA_DIR to a folder that can`;
const noSuchPath: Advice = (error) =>
  error.syscall === 'mkdir' ? notWritable(error) : `${error.path} does not exist: correct the variable that names it`;
const noAnswer: Advice = () => 'the database does not answer: start it, or correct DATABASE_URL';
const noSuchHost: Advice = () => 'a host name is not known: correct DATABASE_URL or ATOLL_LISTEN_ADDRESS';
const noSuchUser: Advice = () => 'the database refuses this user or password: correct DATABASE_URL';

/** By the code of Node's system errors, or the SQLSTATE of PostgreSQL's. */
const ADVICE: Readonly<Record<string, Advice>> = {
  EADDRINUSE: ({ port }) =>
    `port ${port} is in use: stop what listens there, or set ATOLL_API_PORT, ATOLL_AGENT_PORT or ATOLL_METRICS_PORT to another`,
  EADDRNOTAVAIL: () => 'this host has no such address: correct ATOLL_LISTEN_ADDRESS or ATOLL_METRICS_ADDRESS',
  EACCES: notAllowed,
  EPERM: notAllowed,
  EROFS: notWritable,
  EEXIST: notWritable,
  ENOTDIR: notWritable,
  ENOSPC: notWritable,
  ENOENT: noSuchPath,
  ECONNREFUSED: noAnswer,
  ECONNRESET: noAnswer,
  ETIMEDOUT: noAnswer,
  ENOTFOUND: noSuchHost,
  EAI_AGAIN: noSuchHost,
  '28P01': noSuchUser,
  '28000': noSuchUser,
  '53300': () => 'the database has no free connection: end other clients, or raise its max_connections',
  '57P03': () => 'the database is still starting up: wait for it, and look at its log when it takes long',
  '3D000': () => 'the server has no such database: create it, or correct DATABASE_URL',
};

/** One sentence for the operator; undefined when the error speaks for itself. */
export function explainStartError(error: unknown): string | undefined {
  const system = error as SystemError;
  return ownValue(ADVICE, system.code ?? '')?.(system);
}
