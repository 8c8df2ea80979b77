import type pg from 'pg'
import type { Calls, KeyedCall } from './calls.ts'
import type { WalkStore } from './store.ts'

/** Compares the answers to the callers with the rows of the database, and lists the differences. */
export async function compareAnswers(
  superuser: pg.Pool,
  calls: Calls,
  stores: readonly WalkStore[],
): Promise<string[]> {
  return [
    ...(await compareCheckouts(superuser, calls, stores)),
    ...(await compareRefunds(superuser, calls)),
    ...(await compareGrants(superuser, calls, stores)),
  ]
}

interface OrderRow {
  id: string
  tenant_ref: string
  idempotency_key: string
  status: string
  placed_at: Date | null
  cancelled_at: Date | null
  subscriptions: { id: string; status: string; variant_id: string }[]
}

const bodyOf = ({ first }: KeyedCall) => JSON.parse(first?.text ?? '{}')
const succeeded = ({ first }: KeyedCall) => first !== null && first.status < 300

/** Each checkout has at most one order, which its answer names, with its subscriptions. */
async function compareCheckouts(superuser: pg.Pool, calls: Calls, stores: readonly WalkStore[]) {
  const { rows } = await superuser.query<OrderRow>(
    `
    select o.id, o.tenant_ref, o.idempotency_key, o.status, o.placed_at, o.cancelled_at,
           coalesce((select jsonb_agg(jsonb_build_object('id', s.id, 'status', s.status,
                                                         'variant_id', s.variant_id))
                       from subscriptions s
                      where s.tenant_ref = o.tenant_ref and s.origin_order_id = o.id), '[]')
             as subscriptions
      from orders o
     where o.tenant_ref = any($1) and o.source <> 'exchange'`,
    [stores.map(({ tenant }) => tenant)],
  )
  const byKey = new Map(rows.map((row) => [row.idempotency_key, row]))
  const faults: string[] = []
  for (const call of calls.all) {
    if (call.operation !== 'checkout') continue
    const row = byKey.get(call.key)
    byKey.delete(call.key)
    const fault = checkoutFault(call, row)
    if (fault !== null) faults.push(`${fault}: ${call.key} ${JSON.stringify(row ?? null)}`)
  }
  for (const row of byKey.values())
    faults.push(`an order without a request: ${JSON.stringify(row)}`)
  return faults
}

function checkoutFault(call: KeyedCall, row: OrderRow | undefined): string | null {
  const body = bodyOf(call)
  if (!succeeded(call)) {
    return row === undefined || row.status === 'payment_failed' ? null : 'a refused order is there'
  }
  if (row === undefined || row.id !== body.order.id) return 'the order of an answer is not there'
  if (row.status === 'payment_failed' || row.status === 'pending_payment') {
    return 'an accepted order was not placed'
  }
  const { subscribe = false } = call.body as { subscribe?: boolean }
  const expected = subscribe && row.placed_at !== null ? 1 : 0
  if (row.subscriptions.length !== expected) return 'an order has not its subscriptions'
  const known = row.subscriptions.map(({ id }) => id)
  const isNamed = body.subscriptions.every(({ id }: { id: string }) => known.includes(id))
  return isNamed ? null : 'a subscription of an answer is not there'
}

interface RefundRow {
  refund_id: string
  order_id: string
  actor: string
  status: string
  amount: number
}

/** Each refund that an answer names is there once, and each refund has an answer. */
async function compareRefunds(superuser: pg.Pool, calls: Calls): Promise<string[]> {
  const named = new Map<string, string[]>()
  for (const call of [...calls.all].filter(succeeded)) {
    for (const id of refundsOf(call)) named.set(id, [...(named.get(id) ?? []), call.key])
  }
  const { rows } = await superuser.query<RefundRow>(`
    select refund_id, order_id, actor, status, amount_cents::int as amount
      from refunds
     -- Neither an exchange nor a lost dispute is answered as a refund.
     where method <> 'exchange' and actor <> 'operator'`)
  const faults = [...named]
    .filter(([, keys]) => keys.length > 1)
    .map(([id, keys]) => `refund ${id} is the answer of several keys: ${keys}`)
  const parts = partsOf(calls)
  for (const row of rows) {
    const part = `${row.order_id} ${row.amount}`
    if (row.status !== 'succeeded') named.delete(row.refund_id)
    // A late refund is counted by a loop, and has no caller.
    else if (named.delete(row.refund_id) || row.actor === 'system') continue
    else if ((parts.get(part) ?? 0) > 0) parts.set(part, (parts.get(part) ?? 0) - 1)
    else faults.push(`no key answers ${JSON.stringify(row)}`)
  }
  return [...faults, ...[...named.keys()].map((id) => `refund ${id} of an answer is not there`)]
}

/** Refunds of which one gateway has paid its part and another has not: by order and amount. */
function partsOf(calls: Calls): Map<string, number> {
  const parts = new Map<string, number>()
  for (const call of calls.all) {
    if (call.first?.code !== 'refund_failed') continue
    const id = /\/(?:orders|reviews)\/([^/]+)/.exec(call.path)?.[1]
    const part = `${id} ${bodyOf(call).refunded_cents}`
    parts.set(part, (parts.get(part) ?? 0) + 1)
  }
  return parts
}

/** The refunds that the call made, and not those that it only shows. */
function refundsOf(call: KeyedCall): string[] {
  const { refund, refunds = [], already_cancelled } = bodyOf(call)
  if (already_cancelled) return []
  return [refund, ...refunds].flatMap((each) => (each ? [each.refund_id as string] : []))
}

/** Each key that issued a gift card or gave credit did so once. A demo store has cards of its own. */
async function compareGrants(
  superuser: pg.Pool,
  calls: Calls,
  stores: readonly WalkStore[],
): Promise<string[]> {
  const counted = (operation: string) =>
    [...calls.all].filter((call) => call.operation === operation && succeeded(call)).length
  const { rows } = await superuser.query<{ cards: number; credits: number }>(
    `select (select count(*)::int from gift_cards where tenant_ref = any ($1) and order_item_id is null) as cards,
            (select count(*)::int from store_credit_transactions
              where tenant_ref = any ($1) and type = 'credit' and event = 'adjustment') as credits`,
    [stores.map(({ tenant }) => tenant)],
  )
  const [found] = rows
  const expected = {
    cards: counted('gift_card_issue'),
    credits: counted('store_credit_credit'),
  }
  const isSame = found?.cards === expected.cards && found.credits === expected.credits
  return isSame ? [] : [`granted ${JSON.stringify(found)}, answered ${JSON.stringify(expected)}`]
}
