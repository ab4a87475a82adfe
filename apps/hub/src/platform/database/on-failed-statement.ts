import type { DataSource, EntitySubscriberInterface } from 'typeorm';

/** `listener` hears of every statement of this data source that failed, before who asked does. Returns the way to stop. */
export function onFailedStatement(dataSource: DataSource, listener: (error: unknown) => void): () => void {
  const subscriber: EntitySubscriberInterface = {
    afterQuery: ({ success, error }) => {
      if (!success) listener(error ?? {});
    },
  };
  dataSource.subscribers.push(subscriber);
  return () => {
    const at = dataSource.subscribers.indexOf(subscriber);
    if (at >= 0) dataSource.subscribers.splice(at, 1);
  };
}
