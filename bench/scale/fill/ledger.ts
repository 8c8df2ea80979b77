import type pg from 'pg'
import type { Database, Tx } from '../../../src/db/database.ts'
import * as analytics from '../../../src/modules/analytics/jobs.ts'
import { chainNewJournals } from '../../../src/modules/ledger/jobs.ts'
import * as segments from '../../../src/modules/segments/jobs.ts'
import type { Step } from './plan.ts'

/** The journals of sales, refunds, gift cards and store credit, with their entries. */
export const LEDGER_STEPS: readonly Step[] = [
  [
    'journals',
    `
    create unlogged table scale.journals as
    select tenant_ref, scale.id('sale', tenant_ref, n) as id, 'order.placed' as kind, id as order_id,
           id::text as ref, at, n, 'sale' as source
      from scale.orders where placed
     union all
    select tenant_ref, scale.id('refund journal', tenant_ref, n), 'order.refunded', id,
           scale.id('refund', tenant_ref, n)::text, at, n, 'refund'
      from scale.orders where refunded_cents > 0
     union all
    select tenant_ref, scale.id('gift journal', tenant_ref, n), 'gift_card.issued', null, id::text, at, n,
           'gift'
      from scale.gifts
     union all
    select tenant_ref, scale.id('credit journal', tenant_ref, n), 'store_credit.credited', null, id::text,
           at, n, 'credit'
      from scale.credits;
    insert into ledger_journals (tenant_ref, id, kind, currency, order_id, ref, created_at)
    select tenant_ref, id, kind, 'USD', order_id, ref, at from scale.journals`,
  ],
  [
    'entries',
    `
    insert into ledger_entries (tenant_ref, journal_id, position, account, ref, currency, amount_cents)
    select tenant_ref, journal_id, row_number() over (partition by tenant_ref, journal_id
                                                      order by position) - 1, account, ref, 'USD', cents
      from (select o.tenant_ref, scale.id('sale', o.tenant_ref, o.n) as journal_id, e.*
              from scale.orders o
             cross join lateral (
               values (0, 'gift_card', scale.id('gift card', o.tenant_ref, o.n / 100)::text, o.gift_cents),
                      (1, 'card_clearing', '', o.total_cents - o.gift_cents),
                      (2, 'sales', '', -o.subtotal_cents), (3, 'discount', '', o.off_cents))
               as e (position, account, ref, cents)
             where o.placed
             union all
            select o.tenant_ref, scale.id('refund journal', o.tenant_ref, o.n), e.*
              from scale.orders o
             cross join lateral (values (0, 'refund', '', o.refunded_cents),
                                        (1, 'card_clearing', '', -o.refunded_cents)) e
             where o.refunded_cents > 0
             union all
            select g.tenant_ref, scale.id('gift journal', g.tenant_ref, g.n), e.*
              from scale.gifts g
             cross join lateral (values (0, 'gift_card', g.id::text, -g.cents),
                                        (1, 'suspense', '', g.cents)) e
             union all
            select c.tenant_ref, scale.id('credit journal', c.tenant_ref, c.n), e.*
              from scale.credits c
             cross join lateral (values (0, 'store_credit', c.id::text, -700),
                                        (1, 'suspense', '', 700)) e) as posted
     where cents <> 0;
    create unlogged table scale.unchained as
    select row_number() over (order by tenant_ref, at, n, source) as place, tenant_ref, id
      from scale.journals;
    alter table scale.unchained add primary key (place)`,
  ],
]

/** Journals that wait in the queue at one time: the queue's dead rows are read at every step. */
const QUEUED = 20_000

/** Announces new links to reports and segments, as the worker does. */
const announce = (tx: Tx) => Promise.all([analytics.onNewLinks(tx), segments.onNewLinks(tx)])

/** Numbers and hashes all journals by the platform's own loop, so that the hash chain is a real one. */
export async function chainJournals(admin: pg.Client, worker: Database): Promise<void> {
  const { rows } = await admin.query<{ last: string }>(
    'select coalesce(max(place), 0) as last from scale.unchained',
  )
  for (let from = 0; from < Number(rows[0]?.last); from += QUEUED) {
    await admin.query(
      `insert into ledger_unsealed (tenant_ref, journal_id)
       select tenant_ref, id from scale.unchained where place > $1 and place <= $2`,
      [from, from + QUEUED],
    )
    while ((await chainNewJournals(worker, { onLinks: announce })) > 0);
    await admin.query('truncate ledger_unsealed')
  }
}
