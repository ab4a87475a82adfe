/**
 * Runs the documents that come by POST, in the place of Mercurius' own function. Mercurius keeps 1,024 documents by number and
 * compiles each at its second run, whatever they take, and keeps 1,024 wrong ones of up to 1 MB beside them; neither a size nor a
 * store of one's own can be given. So reading, keeping and compiling are here, with graphql-js and graphql-jit as before.
 */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { execute, type GraphQLSchema, parse, validate, type DocumentNode, type ExecutionResult } from 'graphql';
import { compileQuery, isCompiledQuery } from 'graphql-jit';
import { JobLine } from '../database/job-line.ts';
import { countRun, isWorthCompiling, spendOnCompiling, type Spent } from './compile.rules.ts';
import { compiledBytes, countFields, parsedBytes } from './document-size.rules.ts';
import { DocumentStore, type KeptDocument } from './document-store.ts';

const MAX_BYTES = 64 * 1024 * 1024;
/** One that is larger is read again each time. */
const MAX_DOCUMENT_BYTES = MAX_BYTES / 64;
/**
 * Reading a document takes up to some 50 ms, in which nothing else runs. After each, its principal pauses for three times as
 * long: one that sends only new documents takes a quarter of the processor for them.
 */
const PAUSES = 3;
const READING = { slots: Infinity, perOwner: 1, reserved: 0, maxWaiting: 100, maxWaitMs: 10_000 };
/** Principals whose spending is kept. */
const MAX_SPENDERS = 10_000;

/** As Mercurius names it: error-formatter.ts tells each of its errors. */
class InvalidDocument extends Error {
  readonly code = 'MER_ERR_GQL_VALIDATION';
  readonly errors: readonly Error[];

  constructor(errors: readonly Error[]) {
    super('the document is not valid');
    this.errors = errors;
  }
}

export interface Request {
  readonly source: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
  readonly context: object;
  /** The principal that sent it. */
  readonly owner: string;
}

export class RunDocuments {
  readonly store: DocumentStore;
  readonly #schema: GraphQLSchema;
  readonly #maxTokens: number;
  readonly #nowMs: () => number;
  readonly #reading = new JobLine(READING);
  readonly #spent = new Map<string, Spent>();

  constructor(
    schema: GraphQLSchema,
    limits: { readonly maxTokens: number; readonly maxBytes?: number },
    nowMs: () => number,
  ) {
    this.#schema = schema;
    this.#maxTokens = limits.maxTokens;
    this.store = new DocumentStore(limits.maxBytes ?? MAX_BYTES);
    this.#nowMs = nowMs;
  }

  /** The parsed document, which is valid. Throws InvalidDocument and TooManyJobs. */
  async read({
    source,
    operationName,
    owner,
  }: Request): Promise<{ readonly key: string; readonly kept: KeptDocument }> {
    // Compiled code is that of one operation.
    const key = createHash('sha256')
      .update(`${operationName ?? ''}\0${source}`)
      .digest('base64');
    const known = this.store.get(key);
    if (known) return { key, kept: known };
    const document = await this.#readInTurn(source, owner);
    const kept = { document, fields: countFields(document), bytes: parsedBytes(document) };
    if (kept.bytes <= MAX_DOCUMENT_BYTES) this.store.put(key, owner, kept);
    return { key, kept };
  }

  async run(
    request: Request,
    { key, kept }: { readonly key: string; readonly kept: KeptDocument },
  ): Promise<ExecutionResult> {
    const { context, variables, operationName } = request;
    kept.runs = countRun(kept.runs, this.#nowMs());
    if (!kept.compiled && isWorthCompiling(kept.fields, kept.runs)) this.#compile(request, key, kept);
    if (kept.compiled) return kept.compiled({}, context, variables ?? {});
    return execute({
      schema: this.#schema,
      document: kept.document,
      rootValue: {},
      contextValue: context,
      variableValues: variables,
      operationName,
    });
  }

  async #readInTurn(source: string, owner: string): Promise<DocumentNode> {
    const leave = await new Promise<() => void>((done, failed) => {
      this.#reading.enter(owner, (error, end) => (error ? failed(error) : done(end)));
    });
    const beganMs = this.#nowMs();
    try {
      return this.#parse(source);
    } finally {
      void sleep((this.#nowMs() - beganMs) * PAUSES, undefined, { ref: false }).then(leave);
    }
  }

  #parse(source: string): DocumentNode {
    let document: DocumentNode;
    try {
      document = parse(source, { maxTokens: this.#maxTokens });
    } catch (error) {
      throw new InvalidDocument([error as Error]);
    }
    const errors = validate(this.#schema, document);
    if (errors.length > 0) throw new InvalidDocument(errors);
    return document;
  }

  #compile({ owner, operationName }: Request, key: string, kept: KeptDocument): void {
    const spent = spendOnCompiling(this.#spent.get(owner), kept.fields, this.#nowMs());
    if (!spent) return;
    this.#spent.delete(owner);
    this.#spent.set(owner, spent);
    const [oldest] = this.#spent.keys();
    if (this.#spent.size > MAX_SPENDERS && oldest !== undefined) this.#spent.delete(oldest);
    const compiled = compileQuery(this.#schema, kept.document, operationName);
    if (!isCompiledQuery(compiled)) return;
    kept.compiled = compiled.query;
    this.store.grow(key, compiledBytes(kept.fields));
  }
}
