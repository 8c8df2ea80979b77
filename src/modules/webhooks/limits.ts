import type { Db } from '../../db/database.ts'
import type { OwnLimit } from '../face-parts.ts'
import { countSubscriptions, SUBSCRIPTIONS_MAX } from './service.ts'

export const readOwn = async (db: Db): Promise<OwnLimit> => ({
  limit: 'webhooks',
  description: 'Webhook endpoints.',
  used: await countSubscriptions(db),
  max: SUBSCRIPTIONS_MAX,
})
