import assert from 'node:assert/strict'
import { postStockJournals } from '../../src/modules/inventory/journal-jobs.ts'
import { chainNewJournals } from '../../src/modules/ledger/jobs.ts'
import { queueMails } from '../../src/modules/shopper-mail/service.ts'
import { numberNewEvents } from '../../src/modules/webhooks/jobs.ts'
import type { Caller, TestApp } from './app.ts'
import { listFaults, type Oracles, type Queried } from './check-oracles.ts'
import { EVENT_ORACLES } from './event-oracles.ts'
import { EXCHANGE_ORACLES } from './exchange-oracles.ts'
import { ORACLES } from './oracles.ts'
import { ORDER_ORACLES } from './order-oracles.ts'
import { COUNTED, OPEN_UNITS, STOCK_ORACLES } from './stock-oracles.ts'

/**
 * All books of a platform: orders, ledger, balances, stock and events, compared with each other. The
 * database must have a witness (`witness.ts`) from its first event on, and no operation may be running.
 */

/** A rule that is left out here: an erased event names no order. `EVENT_ORACLES` check the same by the witness. */
const BY_WITNESS = 'a placed order without exactly one event, or an event without an order'

const BALANCES: Oracles = {
  'a negative balance': `
    select tenant_ref, id, balance_cents, held_cents from gift_cards
     where balance_cents < 0 or held_cents < 0 or held_cents > balance_cents
    union all
    select tenant_ref, id, balance_cents, held_cents from store_credit_accounts
     where balance_cents < 0 or held_cents < 0 or held_cents > balance_cents`,

  'a gift card whose balance is not the sum of its transactions': `
    select g.tenant_ref, g.id, g.balance_cents, coalesce(t.sum, 0) as transactions
      from gift_cards g
      left join (select tenant_ref, gift_card_id,
                        sum(case when type = 'credit' then amount_cents
                                 when type in ('debit', 'capture', 'expire') then -amount_cents
                                 else 0 end) as sum
                   from gift_card_transactions group by 1, 2) t
        on t.tenant_ref = g.tenant_ref and t.gift_card_id = g.id
     where g.balance_cents <> coalesce(t.sum, 0)`,

  'an account whose balance is not the sum of its transactions': `
    select a.tenant_ref, a.id, a.balance_cents, coalesce(t.sum, 0) as transactions
      from store_credit_accounts a
      left join (select tenant_ref, account_id,
                        sum(case when type = 'credit' then amount_cents
                                 when type in ('debit', 'capture', 'expire') then -amount_cents
                                 else 0 end) as sum
                   from store_credit_transactions group by 1, 2) t
        on t.tenant_ref = a.tenant_ref and t.account_id = a.id
     where a.balance_cents <> coalesce(t.sum, 0)`,
}

const REFUNDED_ONCE: Oracles = {
  'an order of which more was refunded than was captured': `
    select o.tenant_ref, o.id, c.captured, r.returned
      from orders o,
           lateral (select coalesce(sum(captured_cents), 0) as captured from charges
                     where tenant_ref = o.tenant_ref and order_id = o.id) c,
           lateral (select coalesce(sum(t.amount_cents), 0) as returned
                      from refunds f
                      join refund_tenders t on t.tenant_ref = f.tenant_ref
                                           and t.refund_id = f.refund_id
                     where f.tenant_ref = o.tenant_ref and f.order_id = o.id
                       and t.status = 'succeeded') r
     where r.returned > c.captured`,

  'a line of which more units were refunded than it has, or than it counts': `
    select i.tenant_ref, i.order_id, i.id, i.quantity, i.refunded_quantity, r.units
      from order_items i,
           lateral (select coalesce(sum(u.quantity), 0) as units
                      from refund_items u
                      join refunds f on f.tenant_ref = u.tenant_ref and f.refund_id = u.refund_id
                     where u.tenant_ref = i.tenant_ref and u.order_item_id = i.id
                       and f.kind = 'refund' and f.status = 'succeeded'
                       and not exists (select from refund_tenders t
                                        where t.tenant_ref = f.tenant_ref
                                          and t.refund_id = f.refund_id
                                          and t.status = 'failed')) r
     where r.units > i.quantity or r.units > i.refunded_quantity`,
}

/** Compares all books by SQL, and lists the differences. `mayOversell`: a merchant may count less than was sold. */
export async function compareBooks(
  superuser: Queried,
  { mayOversell = false } = {},
): Promise<string[]> {
  const { [BY_WITNESS]: _, ...ordered } = ORDER_ORACLES
  const stock = mayOversell ? COUNTED : STOCK_ORACLES
  const books = [ORACLES, ordered, EXCHANGE_ORACLES, stock, OPEN_UNITS, BALANCES, REFUNDED_ONCE]
  const faults: string[] = []
  for (const oracles of [...books, EVENT_ORACLES]) {
    faults.push(...(await listFaults(superuser, oracles)))
  }
  return faults
}

/**
 * Does the work of a worker after each change: numbers events, queues their mails, posts the cost of goods,
 * and chains the journals.
 */
export async function runWorker({ runtime }: Pick<TestApp, 'runtime'>): Promise<void> {
  const { workerDatabase } = runtime
  while ((await numberNewEvents(workerDatabase, { onNumbered: queueMails })) > 0);
  while ((await postStockJournals(workerDatabase)) > 0);
  while ((await chainNewJournals(workerDatabase)) > 0);
}

/** Fails unless all books agree, the ledger is proved from its first journal, and the feed is whole. */
export async function assertBooks(
  app: Pick<TestApp, 'runtime'>,
  superuser: Queried,
  merchant: Caller,
): Promise<void> {
  await runWorker(app)
  assert.deepEqual(await compareBooks(superuser), [])
  const { body: proof } = await merchant.get('/v1/merchant/ledger/proof?from=1')
  assert.deepEqual(
    [proof.balanced, proof.verified, proof.unsealed_count, proof.next_from],
    [true, true, 0, null],
    JSON.stringify(proof),
  )
  const { body: feed } = await merchant.get('/v1/merchant/events?after=0&limit=500')
  assert.deepEqual(
    feed.events.map(({ data }: { data: { sequence: number } }) => data.sequence),
    feed.events.map((_: unknown, at: number) => at + 1),
    'the feed has every event in order',
  )
}
