import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { brandOf } from '../card.ts'
import type { DayRecord } from '../gateway.ts'
import { noRecord, unreachable } from '../results.ts'
import {
  type CardFacts,
  type Lookup,
  type LookupState,
  NETWORK_CODE,
  type NetworkCodes,
} from '../schema.ts'
import { toCents } from './amount.ts'

/**
 * The parser of the record. Entities are not expanded: the record has ids, amounts and
 * plain words, which need none.
 */
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  maxNestedTags: 20,
  isArray: (name) => ['transaction', 'action', 'merchant_defined_field'].includes(name),
})

interface Action extends NetworkCodes {
  type: string
  amount_cents: number
  isSuccess: boolean
  code: string | null
  date: string
}

/** One transaction of the gateway's record. */
export interface NmiTransaction {
  txn_id: string
  ref: string
  condition: string
  /** The store of the transaction, which we send with every request. */
  tenant: string
  actions: Action[]
  auth_code: string | null
  avs: string | null
  cvv: string | null
  vault_id: string | null
  card: CardFacts | null
}

/**
 * Reads a record. Returns null if the text is no record, or incomplete, and an empty list if
 * NMI has no such transaction.
 */
export function readTransactions(xml: string): NmiTransaction[] | null {
  // NMI never sends a document type, and its entities are a known way to attack an XML parser.
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

/** Returns the text of a node, or null if it is empty, nested or longer than any value of a record. */
function text(node: Record<string, unknown>, name: string): string | null {
  const value = node[name]
  return typeof value === 'string' && value !== '' && value.length <= 100 ? value : null
}

const CURRENCY = /^[A-Z]{3}$/

function readTransaction(node: Record<string, unknown>): NmiTransaction | null {
  const currency = text(node, 'currency')
  const actions = list(node.action).map((each) =>
    readAction(each, currency !== null && CURRENCY.test(currency) ? currency : null),
  )
  const [txn_id, condition] = [text(node, 'transaction_id'), text(node, 'condition')]
  if (txn_id === null || condition === null || !actions.every((each) => each !== null)) return null
  const storeField = list(node.merchant_defined_field).find((each) => each['@id'] === '1')
  return {
    txn_id,
    condition,
    actions,
    ref: text(node, 'order_id') ?? '',
    tenant: (storeField && text(storeField, '#text')) ?? '',
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
    network_code: networkCode(node, 'processor_response_code'),
    advice_code: networkCode(node, 'merchant_advice_code'),
    date: text(node, 'date') ?? '',
  }
}

function networkCode(node: Record<string, unknown>, name: string): string | null {
  const code = text(node, name)
  return code !== null && NETWORK_CODE.test(code) ? code : null
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
 * The states that rank lowest. Several transactions have one reference if the first failed, or was refunded under
 * it. The lookup shows the most significant one: active before voided before failed, a charge before its refund.
 */
const INACTIVE: readonly (LookupState | undefined)[] = ['failed', 'voided']
const significance = (each: NmiTransaction) => {
  const at = INACTIVE.indexOf(CONDITIONS[each.condition])
  return at === -1 ? INACTIVE.length : at
}
const bySignificance = (a: NmiTransaction, b: NmiTransaction) =>
  significance(b) - significance(a) || Number(isRefundOnly(a)) - Number(isRefundOnly(b))

/** Adds up separate refund transactions. NMI's record of the charge may not show them. */
const sumSeparateRefunds = (others: NmiTransaction[]) =>
  others
    .filter((each) => isRefundOnly(each) && significance(each) === INACTIVE.length)
    .reduce((cents, { actions }) => cents + sum(actions, 'refund', 'credit'), 0)

/** Combines the transactions of one reference to a lookup. */
export function lookupOf(record: NmiTransaction[]): Lookup {
  const [main, ...others] = record.toSorted(bySignificance)
  if (main === undefined) return noRecord()
  const condition = CONDITIONS[main.condition]
  // The transaction is still in progress at NMI, or has a condition that we do not know.
  if (condition === undefined || !hasMoney(main)) return unreachable()
  const { actions, txn_id, auth_code, avs, cvv, vault_id, card } = main
  const isRefund = isRefundOnly(main)
  const captured_cents = condition === 'voided' ? 0 : sum(actions, 'sale', 'capture')
  const refunds = sum(actions, 'refund', 'credit')
  const allRefunds = isRefund ? refunds : Math.max(refunds, sumSeparateRefunds(others))
  const refunded_cents = condition === 'failed' ? 0 : allRefunds
  const isRefunded = refunded_cents > 0 && refunded_cents >= captured_cents
  const failed = actions.find((each) => !each.isSuccess)
  const decisive = (condition === 'failed' ? failed : undefined) ?? actions[0]
  return {
    found: 'yes',
    state: isRefunded && condition !== 'voided' ? 'refunded' : condition,
    amount_cents: isRefund ? refunded_cents : authorised(actions),
    captured_cents,
    refunded_cents,
    txn_id,
    auth_code,
    avs,
    cvv,
    vault_id,
    card,
    code: decisive?.code ?? null,
    network_code: decisive?.network_code ?? null,
    advice_code: decisive?.advice_code ?? null,
    refunds: actions
      .filter((each) => !isRefund && each.type === 'refund')
      .map(({ amount_cents, isSuccess }) => {
        return { ref: null, amount_cents, outcome: isSuccess ? 'approved' : 'declined' }
      }),
    disputed: false,
  }
}

/** Whether a record shows the money that its condition implies. A record without it is incomplete. */
function hasMoney(transaction: NmiTransaction): boolean {
  const { actions, condition } = transaction
  const state = CONDITIONS[condition]
  if (isRefundOnly(transaction)) return true
  if (state === 'authorized') return sum(actions, 'auth', 'sale') > 0
  return (state !== 'captured' && state !== 'settled') || sum(actions, 'sale', 'capture') > 0
}

const isRefundOnly = ({ actions }: NmiTransaction) =>
  actions.some((each) => ['refund', 'credit'].includes(each.type)) &&
  !actions.some((each) => ['auth', 'sale'].includes(each.type))

const authorised = (actions: Action[]) =>
  actions.find((each) => each.type === 'auth' || each.type === 'sale')?.amount_cents ?? 0

/** Returns a transaction for the comparison of a day, or null if it has no reference or no time. */
export function dayRecordOf(transaction: NmiTransaction): DayRecord | null {
  const { actions, txn_id, ref, condition } = transaction
  const state = CONDITIONS[condition]
  const at = toTime(actions[0]?.date ?? '')
  if (ref === '' || at === null) return null
  const isRefund = isRefundOnly(transaction)
  const captured = sum(actions, 'sale', 'capture')
  const amount = captured > 0 ? captured : authorised(actions)
  return {
    ref,
    txn_id,
    kind: isRefund ? 'refund' : 'charge',
    is_active: state === 'authorized' || state === 'captured' || state === 'settled',
    amount_cents: isRefund ? sum(actions, 'refund', 'credit') : amount,
    created_at: at,
  }
}

/** Reads a time such as `20150312215205`, in UTC. */
function toTime(date: string): string | null {
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(date)?.slice(1).map(Number)
  if (parts === undefined) return null
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
  return new Date(Date.UTC(year, month - 1, day, hour, minute, second)).toISOString()
}
