import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { brandOf } from './card.ts'
import type { DayRecord } from './gateway.ts'
import { neverSeen, unreachable } from './gateway.ts'
import { toCents } from './nmi-amount.ts'
import type { CardFacts, Lookup, LookupState } from './schema.ts'

/** Entities stay as they stand: the record holds ids, amounts and words, and none needs one. */
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  maxNestedTags: 20,
  isArray: (name) => ['transaction', 'action', 'merchant_defined_field'].includes(name),
})

interface Action {
  type: string
  amount_cents: number
  isSuccess: boolean
  code: string | null
  date: string
}

/** One transaction of the gateway's record. */
export interface Recorded {
  txn_id: string
  ref: string
  condition: string
  /** The store it was made for: we send it along. */
  tenant: string
  actions: Action[]
  auth_code: string | null
  avs: string | null
  cvv: string | null
  vault_id: string | null
  card: CardFacts | null
}

/** Null: this is no record, or not a whole one. An empty list: the gateway never saw it. */
export function readRecord(xml: string): Recorded[] | null {
  // A document type is never sent, and its entities are how XML is turned against its reader.
  if (/<!(DOCTYPE|ENTITY)/i.test(xml) || XMLValidator.validate(xml) !== true) return null
  try {
    const document = object(parser.parse(xml))
    if (!('nm_response' in document)) return null
    const root = object(document.nm_response)
    if ('error_response' in root) return null
    const transactions = list(root.transaction).map(readTransaction)
    return transactions.every((each) => each !== null) ? transactions : null
  } catch {
    return null
  }
}

const object = (node: unknown): Record<string, unknown> =>
  typeof node === 'object' && node !== null ? (node as Record<string, unknown>) : {}

const list = (node: unknown): Record<string, unknown>[] =>
  Array.isArray(node) ? node.map(object) : []

/** Null for what is empty, nested or longer than anything that stands there. */
function text(node: Record<string, unknown>, name: string): string | null {
  const value = node[name]
  return typeof value === 'string' && value !== '' && value.length <= 100 ? value : null
}

const CURRENCY = /^[A-Z]{3}$/

function readTransaction(node: Record<string, unknown>): Recorded | null {
  const currency = text(node, 'currency')
  const actions = list(node.action).map((each) =>
    readAction(each, currency !== null && CURRENCY.test(currency) ? currency : null),
  )
  const [txn_id, condition] = [text(node, 'transaction_id'), text(node, 'condition')]
  if (txn_id === null || condition === null || !actions.every((each) => each !== null)) return null
  const marks = list(node.merchant_defined_field)
  const mark = marks.find((each) => each['@id'] === '1')
  return {
    txn_id,
    condition,
    actions,
    ref: text(node, 'order_id') ?? '',
    tenant: (mark && text(mark, '#text')) ?? '',
    auth_code: text(node, 'authorization_code'),
    avs: text(node, 'avs_response'),
    cvv: text(node, 'csc_response'),
    vault_id: text(node, 'customerid'),
    card: readCardFacts(node),
  }
}

function readAction(node: Record<string, unknown>, currency: string | null): Action | null {
  const amount_cents = toCents(text(node, 'amount') ?? '0', currency)
  const type = text(node, 'action_type')
  if (amount_cents === null || type === null) return null
  return {
    type,
    amount_cents,
    isSuccess: text(node, 'success') === '1',
    code: text(node, 'response_code'),
    date: text(node, 'date') ?? '',
  }
}

function readCardFacts(node: Record<string, unknown>): CardFacts | null {
  const [number, expiry] = [text(node, 'cc_number'), text(node, 'cc_exp')]
  const last4 = /\d{4}$/.exec(number ?? '')?.[0]
  const [, month, year] = /^(\d\d)(\d\d)$/.exec(expiry ?? '') ?? []
  if (number === null || last4 === undefined || month === undefined) return null
  const brand = text(node, 'cc_type')?.toLowerCase() ?? brandOf(number)
  return { brand, last4, exp_month: Number(month), exp_year: 2_000 + Number(year) }
}

const CONDITIONS: Readonly<Record<string, LookupState>> = {
  pending: 'authorized',
  pendingsettlement: 'captured',
  complete: 'settled',
  canceled: 'voided',
  failed: 'failed',
  abandoned: 'failed',
}

const sum = (actions: Action[], ...types: string[]) =>
  actions
    .filter((each) => each.isSuccess && types.includes(each.type))
    .reduce((cents, each) => cents + each.amount_cents, 0)

/**
 * Several transactions bear one reference when the first failed, or was given back under it: what took
 * money counts, and then what moved any.
 */
const WEIGHT: readonly (LookupState | undefined)[] = ['failed', 'voided']
const weight = (each: Recorded) => {
  const at = WEIGHT.indexOf(CONDITIONS[each.condition])
  return at === -1 ? WEIGHT.length : at
}
const byWeight = (a: Recorded, b: Recorded) =>
  weight(b) - weight(a) || Number(isRefundOnly(a)) - Number(isRefundOnly(b))

/** What was given back in transactions of its own. NMI's record of the charge may not say so. */
const sumApart = (others: Recorded[]) =>
  others
    .filter((each) => isRefundOnly(each) && weight(each) === WEIGHT.length)
    .reduce((cents, { actions }) => cents + sum(actions, 'refund', 'credit'), 0)

/** What a record says about what was looked for. */
export function lookupOf(record: Recorded[]): Lookup {
  const [main, ...others] = record.toSorted(byWeight)
  if (main === undefined) return neverSeen()
  const condition = CONDITIONS[main.condition]
  // Still under way there, or a word nobody told us of: it cannot be known yet.
  if (condition === undefined) return unreachable()
  const { actions, txn_id, auth_code, avs, cvv, vault_id, card } = main
  const isRefund = isRefundOnly(main)
  const captured_cents = condition === 'voided' ? 0 : sum(actions, 'sale', 'capture')
  const refunds = sum(actions, 'refund', 'credit')
  const given = isRefund ? refunds : Math.max(refunds, sumApart(others))
  const refunded_cents = condition === 'failed' ? 0 : given
  const isGivenBack = refunded_cents > 0 && refunded_cents >= captured_cents
  const last = actions.find((each) => !each.isSuccess) ?? actions[0]
  return {
    found: 'yes',
    state: isGivenBack && condition !== 'voided' ? 'refunded' : condition,
    amount_cents: isRefund ? refunded_cents : authorised(actions),
    ...{ captured_cents, refunded_cents, txn_id, auth_code, avs, cvv, vault_id, card },
    code: (condition === 'failed' ? last?.code : actions[0]?.code) ?? null,
    refunds: actions
      .filter((each) => !isRefund && each.type === 'refund')
      .map(({ amount_cents, isSuccess }) => {
        return { ref: null, amount_cents, outcome: isSuccess ? 'approved' : 'declined' }
      }),
    disputed: false,
  }
}

const isRefundOnly = ({ actions }: Recorded) =>
  actions.some((each) => ['refund', 'credit'].includes(each.type)) &&
  !actions.some((each) => ['auth', 'sale'].includes(each.type))

const authorised = (actions: Action[]) =>
  actions.find((each) => each.type === 'auth' || each.type === 'sale')?.amount_cents ?? 0

/** The same for the comparison of a day. Null for what neither moved money nor tried to. */
export function dayRecordOf(recorded: Recorded): DayRecord | null {
  const { actions, txn_id, ref, condition } = recorded
  const state = CONDITIONS[condition]
  const at = toTime(actions[0]?.date ?? '')
  if (ref === '' || at === null) return null
  const isRefund = isRefundOnly(recorded)
  const captured = sum(actions, 'sale', 'capture')
  const amount = captured > 0 ? captured : authorised(actions)
  return {
    ref,
    txn_id,
    kind: isRefund ? 'refund' : 'charge',
    stands: state === 'authorized' || state === 'captured' || state === 'settled',
    amount_cents: isRefund ? sum(actions, 'refund', 'credit') : amount,
    created_at: at,
  }
}

/** `20150312215205`, in UTC. */
function toTime(date: string): string | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(date)?.slice(1).map(Number)
  if (parts === undefined) return null
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second)).toISOString()
}
