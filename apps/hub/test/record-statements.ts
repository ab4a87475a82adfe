import type { DataSource, EntityManager } from 'typeorm';

/** The data source, with a record of each statement that goes through its transactions; BEGIN and COMMIT left out. */
export function recordStatements(dataSource: DataSource): { readonly dataSource: DataSource; readonly sql: string[] } {
  const sql: string[] = [];
  const watch = (tx: EntityManager): EntityManager =>
    new Proxy(tx, {
      get(target, name): unknown {
        if (name === 'query') {
          return (text: string, parameters?: unknown[]): Promise<unknown> => {
            sql.push(text);
            return target.query(text, parameters);
          };
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  const recording = {
    transaction: <T>(work: (tx: EntityManager) => Promise<T>) => dataSource.transaction((tx) => work(watch(tx))),
  };
  return { dataSource: recording as unknown as DataSource, sql };
}
