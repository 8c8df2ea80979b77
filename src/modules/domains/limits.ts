import type { Db } from '../../db/database.ts'
import type { OwnLimit } from '../face-parts.ts'
import { countInUse, DOMAINS_MAX } from './service.ts'

export const readOwn = async (db: Db): Promise<OwnLimit> => ({
  limit: 'domains',
  description: 'Hostnames of the store.',
  used: await countInUse(db),
  max: DOMAINS_MAX,
})
