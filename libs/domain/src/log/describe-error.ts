/**
 * What of an error reaches a log: its type, codes, names of our own (table, constraint), where it was thrown, and the start of
 * its text; the same of what caused it. Everything else is left out, since libraries hang onto errors what they worked on:
 * TypeORM the statement with all its parameters, PostgreSQL the row (`detail`, `where`), clients whole bodies. Without it a
 * failed statement writes the objects of other tenants to the log: 117 MB in 35 s were seen, on a disk that was full.
 */
const MAX_MESSAGE = 500;
const MAX_NAME = 128;
const MAX_STATEMENT = 100;
const MAX_FRAMES = 10;
const MAX_FRAME = 200;
const MAX_CAUSES = 3;
/** Of these only short texts and numbers count. */
const NAMES = ['code', 'severity', 'schema', 'table', 'column', 'constraint', 'routine', 'syscall', 'reason'] as const;

export interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  /** The first words of the statement that failed, without its values. */
  readonly statement?: string;
  readonly cause?: DescribedError;
  readonly errors?: readonly DescribedError[];
  readonly [name: string]: unknown;
}

type Foreign = Readonly<Record<string, unknown>>;

export const boundText = (text: string, max: number): string => (text.length > max ? `${text.slice(0, max)}…` : text);

export const describeError = (error: unknown): DescribedError => describe(error, MAX_CAUSES);

function describe(error: unknown, causes: number): DescribedError {
  if (typeof error !== 'object' || error === null)
    return { type: typeof error, message: boundText(String(error), MAX_MESSAGE) };
  const foreign = error as Foreign;
  const names = NAMES.flatMap((name) => (isName(foreign[name]) ? [[name, foreign[name]] as const] : []));
  const { stack, query, cause, errors } = foreign;
  return {
    type: typeOf(error),
    message: messageOf(foreign),
    ...Object.fromEntries(names),
    ...(typeof query === 'string' ? { statement: nameStatement(query) } : {}),
    ...(typeof stack === 'string' ? { stack: framesOf(stack) } : {}),
    ...(causes > 0 && isObject(cause) ? { cause: describe(cause, causes - 1) } : {}),
    ...(causes > 0 && Array.isArray(errors)
      ? { errors: errors.slice(0, MAX_CAUSES).map((each) => describe(each, causes - 1)) }
      : {}),
  };
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
const isName = (value: unknown): boolean =>
  typeof value === 'number' || (typeof value === 'string' && value.length <= MAX_NAME);

/** `name` of an object may be foreign as well; that of a class is ours or a library's. */
function typeOf(error: object): string {
  const { constructor } = error as { constructor?: unknown };
  return typeof constructor === 'function' ? boundText(constructor.name, MAX_NAME) : 'Error';
}

/** Texts of PostgreSQL about data (class 22) quote the data. */
function messageOf({ message, code }: Foreign): string {
  const text = typeof message === 'string' ? message.slice(0, 2 * MAX_MESSAGE) : 'without a text';
  const isAboutData = typeof code === 'string' && /^22...$/.test(code);
  return boundText(isAboutData ? text.replace(/"[^]*(?:"|$)/, '"…"') : text, MAX_MESSAGE);
}

/** Values are parameters in our statements; what is written out may still be foreign, and is cut. */
export function nameStatement(query: string): string {
  const start = query.slice(0, 10 * MAX_STATEMENT);
  const bare = start.replace(/'[^']*(?:'|$)/g, '?').replace(/\b\d{3,}\b/g, '?');
  return boundText(bare.replace(/\s+/g, ' ').trim(), MAX_STATEMENT);
}

/** Without the first lines, which repeat the text of the error in full. */
const framesOf = (stack: string): string =>
  stack
    .slice(-20_000)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => boundText(line.trim(), MAX_FRAME))
    .join('\n');
