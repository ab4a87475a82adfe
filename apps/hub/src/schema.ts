import { migrations } from '../../../migrations/index.ts';
import type { Schema } from './platform/database/open-data-source.ts';

/** What the data source is opened with. */
export const schema: Schema = { migrations, entities: [] };
