import type pg from 'pg'
import type { NmiTransaction } from '../../harness/nmi.ts'

const toCents = (amount: string | undefined) => Math.round(Number(amount ?? '0') * 100)

const sumOf = ({ actions }: NmiTransaction, ...types: string[]) =>
  actions
    .filter(({ type }) => types.includes(type))
    .reduce((sum, { amount }) => sum + toCents(amount), 0)

/** One charge in the gateway's own record. */
interface GatewayCharge {
  txn_id: string
  ref: string
  order_id: string
  isVoided: boolean
  authorized: number
  captured: number
  refunded: number
}

/** Compares the gateway's own record with our charges and journals, and lists the differences. */
export async function compareGateway(
  superuser: pg.Pool,
  journal: readonly NmiTransaction[],
): Promise<string[]> {
  const charges = journal.filter(isCharge).map((each) => readCharge(each, journal))
  const refunds = journal.filter(({ fields }) => fields.type === 'refund')
  return [
    ...twice(
      'a charge',
      charges.map(({ ref }) => ref),
    ),
    ...twice(
      'a refund',
      refunds.map(({ order_id }) => order_id),
    ),
    ...(await compareCharges(superuser, charges)),
    ...(await compareOrders(superuser, charges)),
  ]
}

const isCharge = ({ fields }: NmiTransaction) => fields.type === 'sale' || fields.type === 'auth'

function readCharge(each: NmiTransaction, journal: readonly NmiTransaction[]): GatewayCharge {
  const isVoided = each.condition === 'canceled'
  const refunded = journal
    .filter(({ fields }) => fields.type === 'refund' && fields.transactionid === each.id)
    .reduce((sum, { fields }) => sum + toCents(fields.amount), 0)
  return {
    txn_id: each.id,
    ref: each.order_id,
    order_id: each.fields.merchant_defined_field_2 ?? '',
    isVoided,
    authorized: isVoided ? 0 : toCents(each.fields.amount),
    captured: isVoided ? 0 : sumOf(each, 'sale', 'capture'),
    refunded,
  }
}

function twice(what: string, refs: readonly string[]): string[] {
  const repeated = refs.filter((ref, at) => refs.indexOf(ref) !== at)
  return repeated.map((ref) => `${what} was carried out twice under ${ref}`)
}

interface ChargeRow {
  txn_id: string
  charge_id: string
  order_id: string
  status: string
  amount: number
  captured: number
  refunded: number
}

/** Every charge that is active at the gateway is one of ours, with the same amounts. */
async function compareCharges(
  superuser: pg.Pool,
  charges: readonly GatewayCharge[],
): Promise<string[]> {
  const { rows } = await superuser.query<ChargeRow>(`
    select c.txn_id, c.charge_id, c.order_id, c.status, c.amount_cents::int as amount,
           c.captured_cents::int as captured, r.refunded
      from charges c,
           -- Exchanges move parts of a transaction to other orders, which refund them. Nothing is taken from
           -- the card by a refund as store credit, and the gateway does not know of a lost dispute.
           lateral (select coalesce(sum(t.amount_cents), 0)::int as refunded
                      from charges m
                      join refund_tenders t on t.tenant_ref = m.tenant_ref
                       and t.charge_id = m.charge_id
                     where m.tenant_ref = c.tenant_ref
                       and (m.charge_id = c.charge_id or m.txn_id = c.txn_id)
                       and t.tender = 'card' and t.status = 'succeeded'
                       and t.attempt_id is not null) r
     where c.tender = 'card' and c.status in ('captured', 'authorized') and c.moved_from is null`)
  const ours = new Map(rows.map((row) => [row.txn_id, row]))
  const faults: string[] = []
  for (const charge of charges) {
    const row = ours.get(charge.txn_id)
    ours.delete(charge.txn_id)
    const about = `${JSON.stringify(charge)} at the gateway is ${JSON.stringify(row ?? null)} here`
    if (row === undefined) {
      const isActive = charge.captured > charge.refunded || charge.authorized > charge.captured
      if (!charge.isVoided && isActive) faults.push(about)
      continue
    }
    const net = charge.captured - charge.refunded
    const isSame =
      row.status === 'authorized'
        ? charge.authorized === row.amount && charge.captured === 0
        : net === row.captured - row.refunded
    if (!isSame || charge.order_id !== row.order_id) faults.push(about)
  }
  return [...faults, ...[...ours.values()].map((row) => `${JSON.stringify(row)} has no charge`)]
}

/** The journals of each order, with those of its exchanges, have what the gateway has captured and not refunded. */
async function compareOrders(
  superuser: pg.Pool,
  charges: readonly GatewayCharge[],
): Promise<string[]> {
  const { rows } = await superuser.query<{ order_id: string; net: number }>(`
    select j.order_id, sum(e.amount_cents)::int as net
      from ledger_journals j
      join ledger_entries e on e.tenant_ref = j.tenant_ref and e.journal_id = j.id
     -- The gateway does not know what banks took.
     where e.account = 'card_clearing' and j.kind <> 'dispute.lost'
       and not exists (select from refund_tenders t
                         join refunds r on r.tenant_ref = t.tenant_ref and r.refund_id = t.refund_id
                        where j.kind = 'order.refunded' and r.tenant_ref = j.tenant_ref
                          and r.refund_id::text = j.ref and r.method = 'original'
                          and t.tender = 'card' and t.attempt_id is null)
     group by j.order_id`)
  const firstOf = await readFirstOrders(superuser)
  const booked = new Map<string, number>()
  const held = new Map<string, number>()
  const add = (to: Map<string, number>, id: string, cents: number) => {
    const first = firstOf.get(id) ?? id
    to.set(first, (to.get(first) ?? 0) + cents)
  }
  for (const { order_id, net } of rows) add(booked, order_id, net)
  for (const { order_id, captured, refunded } of charges) add(held, order_id, captured - refunded)
  return [...new Set([...booked.keys(), ...held.keys()])]
    .filter((id) => (booked.get(id) ?? 0) !== (held.get(id) ?? 0))
    .map((id) => `order ${id}: booked ${booked.get(id) ?? 0}, at the gateway ${held.get(id) ?? 0}`)
}

/** Reads the first order of each chain of exchanges, by the later ones. */
async function readFirstOrders(superuser: pg.Pool): Promise<ReadonlyMap<string, string>> {
  const { rows } = await superuser.query<{ order_id: string; from_id: string }>(`
    select x.order_id, r.order_id as from_id
      from return_exchanges x
      join returns r on r.tenant_ref = x.tenant_ref and r.id = x.return_id`)
  const before = new Map(rows.map(({ order_id, from_id }) => [order_id, from_id]))
  const firstOf = (id: string): string => {
    const from = before.get(id)
    return from === undefined ? id : firstOf(from)
  }
  return new Map([...before.keys()].map((id) => [id, firstOf(id)]))
}
