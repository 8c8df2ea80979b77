import type { Db } from '../../db/database.ts'
import { csvLine } from '../../kernel/csv.ts'
import { type UnsubscribeDeps, unsubscribeUrl } from './consent.ts'
import { listAfter } from './newsletter-queries.ts'
import type { Subscriber, SubscriberState } from './newsletter-schema.ts'

/** A table of subscribers for another program that sends mail. Each line has its link to unsubscribe. */

const COLUMNS = [
  'id',
  'email',
  'status',
  'source',
  'requested_at',
  'confirmed_at',
  'unsubscribed_at',
] as const satisfies readonly (keyof Subscriber)[]

const PAGE_ROWS = 1_000
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000'

/** Writes the table in pages: no transaction is open between two of them, and only one is in memory. */
export async function* exportCsv(
  deps: UnsubscribeDeps,
  db: Db,
  status: SubscriberState,
): AsyncGenerator<string> {
  yield csvLine([...COLUMNS, 'unsubscribe_url'])
  for (let after = BEFORE_ALL; ; ) {
    const page = await listAfter(db, status, after, PAGE_ROWS)
    const last = page.at(-1)
    if (last === undefined) return
    yield page
      .map((each) =>
        csvLine([...COLUMNS.map((name) => each[name]), unsubscribeUrl(deps, db, each.email)]),
      )
      .join('')
    after = last.id
  }
}
