import { invalidBody, readEach, readParts } from '../../errors.ts'
import { isUuid } from '../../kernel/schema.ts'
import { toUtc } from '../../kernel/time.ts'
import { STATUSES } from '../subscriptions/schema.ts'
import {
  ALL_VALUES_MAX,
  CONDITIONS_MAX,
  CONSENTS,
  type Condition,
  DEPTH_MAX,
  type Field,
  type Group,
  MATCHES,
  VALUES_MAX,
} from './schema.ts'

/** Checks the conditions of a segment, member by member, so that a refusal names the member that is wrong. */

/**
 * The greatest number of days in a condition. Ten thousand years of days would overflow a timestamp; a hundred are
 * more than any store has.
 */
const DAYS_MAX = 36_500

/** A country's code, alone or with a state as orders spell it, cut to the same length as theirs. */
const PLACE = /^[A-Za-z]{2}(?:-[^\s\p{C}](?:[^\p{C}]{0,37}[^\s\p{C}])?)?$/u

/** How many conditions and values a segment may still have. */
interface Budget {
  conditions: number
  values: number
}

/** The depth of a group in the tree, and how much of the budget is left for it. */
interface Place {
  depth: number
  budget: Budget
}

interface Wire {
  match?: unknown
  conditions?: unknown
  field?: unknown
  op?: unknown
  value?: unknown
}

export const readTree = (tree: { match: Group['match']; conditions: readonly unknown[] }): Group =>
  readGroup(tree, '', {
    depth: 1,
    budget: { conditions: CONDITIONS_MAX, values: ALL_VALUES_MAX },
  })

function readGroup({ match, conditions }: Wire, path: string, { depth, budget }: Place): Group {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`)
  return readParts({
    match: () => {
      const known = MATCHES.find((each) => each === match)
      if (known === undefined) throw invalidBody(at('match'), 'must be all or any')
      return known
    },
    conditions: () => {
      if (!Array.isArray(conditions) || conditions.length === 0) {
        throw invalidBody(at('conditions'), 'must have at least one condition')
      }
      if (depth > DEPTH_MAX) {
        throw invalidBody(at('conditions'), `must be at most ${DEPTH_MAX} groups deep`)
      }
      return readEach(conditions, (each: unknown, index) =>
        readOne(each, `${at('conditions')}.${index}`, { depth, budget }),
      )
    },
  })
}

/** Reads one condition, or a group of them. */
function readOne(each: unknown, path: string, { depth, budget }: Place): Condition {
  if (typeof each !== 'object' || each === null) throw invalidBody(path, 'must be an object')
  const wire = each as Wire
  if (wire.conditions === undefined) {
    const condition = readCondition(wire, path)
    spend(budget, condition, path)
    return condition
  }
  if (wire.field !== undefined) throw invalidBody(path, 'must be a condition or a group, not both')
  return readGroup(wire, path, { depth: depth + 1, budget })
}

/**
 * Counts a condition and its values against the budget, and refuses the first one that is too many: naming the others
 * would add nothing.
 */
function spend(budget: Budget, { value }: Exclude<Condition, Group>, path: string): void {
  budget.conditions -= 1
  if (budget.conditions === -1) {
    throw invalidBody(path, `a segment may have at most ${CONDITIONS_MAX} conditions`)
  }
  const left = budget.values
  budget.values -= Array.isArray(value) ? value.length : 0
  if (left >= 0 && budget.values < 0) {
    throw invalidBody(`${path}.value`, `a segment may name at most ${ALL_VALUES_MAX} values`)
  }
}

type Ops = Readonly<Record<string, (value: unknown, path: string) => unknown>>

const amount = { gte: wholeNumber, lte: wholeNumber, eq: wholeNumber }
const time = { within_days: days, not_within_days: days, before: moment, after: moment }

/** The operators of each field, and how each reads its value. */
const READERS: Readonly<Record<Field, Ops>> = {
  total_spent_cents: amount,
  orders_count: amount,
  first_order_at: time,
  last_order_at: time,
  product: { bought: productIds, not_bought: productIds },
  subscription: { is: states, is_not: states },
  place: { in: places, not_in: places },
  consent: { is: consent, is_not: consent },
}

function readCondition({ field, op, value }: Wire, path: string): Exclude<Condition, Group> {
  if (typeof field !== 'string' || !Object.hasOwn(READERS, field)) {
    throw invalidBody(`${path}.field`, `must be one of ${Object.keys(READERS).join(', ')}`)
  }
  const ops = READERS[field as Field]
  const read = typeof op === 'string' && Object.hasOwn(ops, op) ? ops[op] : undefined
  if (read === undefined) {
    throw invalidBody(`${path}.op`, `must be one of ${Object.keys(ops).join(', ')}`)
  }
  return { field, op, value: read(value, `${path}.value`) } as Exclude<Condition, Group>
}

function wholeNumber(value: unknown, path: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) {
    throw invalidBody(path, 'must be a whole number that is not negative')
  }
  return value as number
}

function days(value: unknown, path: string): number {
  const count = wholeNumber(value, path)
  if (count < 1 || count > DAYS_MAX) throw invalidBody(path, `must be 1 to ${DAYS_MAX} days`)
  return count
}

function moment(value: unknown, path: string): string {
  const utc = typeof value === 'string' ? toUtc(value) : null
  if (utc === null) throw invalidBody(path, 'must be a date or a time')
  return utc
}

/** Reads a list of texts, each once. */
function texts(value: unknown, path: string, isValid: (text: string) => boolean, what: string) {
  const list: unknown[] = Array.isArray(value) ? value : []
  if (list.length === 0 || list.length > VALUES_MAX) {
    throw invalidBody(path, `must be a list of 1 to ${VALUES_MAX} ${what}`)
  }
  const named = readEach(list, (each, index) => {
    if (typeof each === 'string' && isValid(each)) return each
    throw invalidBody(`${path}.${index}`, `must be one of ${what}`)
  })
  return [...new Set(named)]
}

function productIds(value: unknown, path: string): string[] {
  return texts(value, path, isUuid, 'product ids')
}

function states(value: unknown, path: string): string[] {
  const known: readonly string[] = STATUSES
  return texts(value, path, (each) => known.includes(each), `the states ${known.join(', ')}`)
}

/** Reads a list of places, in capitals, as the counted orders have them. */
function places(value: unknown, path: string): string[] {
  const named = texts(value, path, (each) => PLACE.test(each.trim()), 'places such as US or US-CA')
  return [...new Set(named.map((each) => each.trim().toUpperCase()))]
}

function consent(value: unknown, path: string): string {
  const known = CONSENTS.find((each) => each === value)
  if (known === undefined) throw invalidBody(path, `must be one of ${CONSENTS.join(', ')}`)
  return known
}
