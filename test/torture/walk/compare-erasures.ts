import type pg from 'pg'
import { dumpText } from '../../harness/superuser.ts'
import type { Calls, KeyedCall } from './calls.ts'

interface Erasure {
  tenant_ref: string
  pseudonym: string
  created_at: Date
}

interface OrderRow {
  id: string
  tenant_ref: string
  idempotency_key: string
  customer_ref: string
  email: string | null
  customer_name: string | null
  ship_to: object | null
  created_at: Date
  placed_at: Date | null
  cancelled_at: Date | null
  subscriptions: { customer_ref: string; status: string }[]
  erased_events: number
}

/**
 * Checks that an erased customer leaves no trace, and that later data stays. Lists the differences.
 */
export async function compareErasures(superuser: pg.Pool, calls: Calls): Promise<string[]> {
  const pseudonyms = new Map<string, string>()
  for (const { operation, tenant, customer, first } of calls.all) {
    if (operation !== 'privacy_erase' || first?.status !== 200) continue
    pseudonyms.set(`${tenant}/${customer}`, JSON.parse(first.text).erasure.pseudonym)
  }
  const { rows: erasures } = await superuser.query<Erasure>(
    `select tenant_ref, pseudonym, created_at from privacy_erasures`,
  )
  const known = new Set(pseudonyms.values())
  const faults = erasures
    .filter(({ pseudonym }) => !known.has(pseudonym))
    .map((each) => `an erasure without an answer: ${JSON.stringify(each)}`)
  const erasedAt = (tenant: string, customer: string) => {
    const pseudonym = pseudonyms.get(`${tenant}/${customer}`)
    const times = erasures
      .filter((each) => each.tenant_ref === tenant && each.pseudonym === pseudonym)
      .map(({ created_at }) => created_at.getTime())
    return { pseudonym, last: Math.max(0, ...times) }
  }
  const corrections = Map.groupBy(
    [...calls.all].filter(({ operation }) => operation === 'correct'),
    ({ path }) => path.slice(path.lastIndexOf('/') + 1),
  )
  const found = marksIn(await dumpText(superuser as unknown as pg.Client))
  for (const { call, order } of await readOrders(superuser, calls)) {
    const { pseudonym, last } = erasedAt(call.tenant, call.customer ?? '')
    const isErased = order.created_at.getTime() < last
    const marks = [call, ...(corrections.get(order.id) ?? [])].map(({ mark }) => mark ?? '')
    const isThere = marks.some((mark) => found.has(mark))
    const trace = traceOf(order, pseudonym ?? '') ?? (isThere ? 'its data is there' : null)
    const loss = lossOf(order, call, marks)
    const isEither = isErased && isBegunMeanwhile(order, last) && (trace === null || loss === null)
    const fault = isEither ? null : isErased ? trace : loss
    if (fault !== null) {
      const about = { ...order, mark: call.mark, customer: call.customer, last: new Date(last) }
      faults.push(`${isErased ? 'erased' : 'kept'}: ${fault}: ${JSON.stringify(about)}`)
    }
  }
  return [...faults, ...(await staleRows(superuser, pseudonyms, erasedAt))]
}

/** Longer than the transaction takes that begins a checkout, also in a paused process. */
const BEGIN_MS = 70_000

/**
 * Whether the checkout may have begun before the erasure and have committed after it. Such an order
 * is erased as a whole, or stays as a whole.
 */
const isBegunMeanwhile = ({ created_at, placed_at }: OrderRow, erasedAt: number) =>
  created_at.getTime() > erasedAt - BEGIN_MS &&
  (placed_at === null || placed_at.getTime() > erasedAt)

/** Texts of the form that `shoppers.ts` gives to the marks. */
const marksIn = (dump: string) => new Set(dump.match(/\bw[a-z2-9]{12}\b/g))

async function readOrders(superuser: pg.Pool, calls: Calls) {
  const { rows } = await superuser.query<OrderRow>(`
    select o.id, o.tenant_ref, o.idempotency_key, o.customer_ref, o.email, o.customer_name,
           o.ship_to, o.created_at, o.placed_at, o.cancelled_at,
           coalesce((select jsonb_agg(jsonb_build_object('customer_ref', s.customer_ref,
                                                         'status', s.status))
                       from subscriptions s
                      where s.tenant_ref = o.tenant_ref and s.origin_order_id = o.id), '[]')
             as subscriptions,
           (select count(*)::int from witness.events w
              join webhook_events e on e.tenant_ref = w.tenant_ref and e.id = w.id
             where w.tenant_ref = o.tenant_ref and w.order_id = o.id
               and e.erase_requested_at is not null) as erased_events
      from orders o`)
  const byKey = new Map([...calls.all].map((call) => [call.key, call]))
  return rows.flatMap((order) => {
    const call = byKey.get(order.idempotency_key)
    return call === undefined ? [] : [{ call, order }]
  })
}

/** What is left of an erased person in the order. */
function traceOf(order: OrderRow, pseudonym: string): string | null {
  const { customer_ref, email, customer_name, ship_to, subscriptions } = order
  if (customer_ref !== pseudonym) return `it has the reference ${customer_ref}`
  if (email !== null || customer_name !== null || ship_to !== null) return 'it names the person'
  const isOpen = subscriptions.some(
    (each) => each.customer_ref !== pseudonym || each.status === 'active',
  )
  return isOpen ? 'its subscription goes on' : null
}

/** What is missing in an order that no erasure was about. Its mark is that of its checkout, or of a correction. */
function lossOf(order: OrderRow, { customer }: KeyedCall, marks: readonly string[]): string | null {
  if (order.customer_ref !== customer) return `it has the reference ${order.customer_ref}`
  const mark = marks.find((each) => order.email === `${each}@walk.example`)
  if (mark === undefined) return `it has the address ${order.email}`
  if (order.customer_name !== `Name ${mark}`) return `it has the name ${order.customer_name}`
  if (order.erased_events > 0) return 'its events were erased'
  const status = order.cancelled_at === null ? 'active' : 'cancelled'
  const isLost = order.subscriptions.some(
    (each) => each.customer_ref !== customer || each.status !== status,
  )
  return isLost ? 'it has lost its subscription' : null
}

/** Rows that name a customer and are older than the erasure. */
async function staleRows(
  superuser: pg.Pool,
  pseudonyms: ReadonlyMap<string, string>,
  erasedAt: (tenant: string, customer: string) => { last: number },
): Promise<string[]> {
  const { rows: tables } = await superuser.query<{ table_name: string }>(`
    select table_name from information_schema.columns
     where table_schema = 'public' and column_name in ('tenant_ref', 'customer_ref', 'created_at')
     group by 1 having count(*) = 3`)
  const faults: string[] = []
  for (const { table_name } of tables) {
    const { rows } = await superuser.query(
      `select tenant_ref, customer_ref, created_at from "${table_name}"
        where customer_ref is not null`,
    )
    for (const { tenant_ref, customer_ref, created_at } of rows) {
      if (!pseudonyms.has(`${tenant_ref}/${customer_ref}`)) continue
      // A customer who is not in it since the erasure began has no row.
      const { last } = erasedAt(tenant_ref, customer_ref)
      if (created_at === null || created_at.getTime() >= last) continue
      faults.push(`${table_name} has ${customer_ref} of ${created_at.toISOString()}`)
    }
  }
  return faults
}
