import type { FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ApiError, FAULTS_MAX, type Fault } from '../errors.ts'
import { findNear } from '../kernel/near-names.ts'
import { readText, readTimestamp } from '../kernel/query.ts'
import { describePattern } from '../kernel/schema.ts'
import { isDay } from '../kernel/time.ts'
import { quotable } from './errors.ts'
import { filtersOf, type Query, refusesFilters } from './known-filters.ts'
import { resolveShape, type Shape } from './known-members.ts'
import type { App } from './route.ts'

/** Parameters that are clamped and never refused, in any spelling, also by reads that have no pages. */
const CLAMPED: readonly string[] = ['limit', 'offset', 'limit[]', 'offset[]']

/** The parameter with the place of a page. */
const PLACE = 'after'

/** The pairs of parameters that are the two ends of a range. */
const ENDS: readonly (readonly [from: string, to: string])[] = [
  ['from', 'to'],
  ['created_from', 'created_to'],
]

/**
 * Refuses filters of lists and reports that their route does not know, or whose values it cannot read: an answer with
 * all rows would otherwise look like one with the requested rows. A malformed id is not refused: like an id of another
 * store it matches nothing. The hook stands before all routes, so that a new route has it.
 */
export function checkFilters(app: App): void {
  app.addHook('onRoute', (route) => {
    const known = filtersOf(route)
    if (known === null) return
    const faultOf = readChecks(known)
    const check = async (request: FastifyRequest) => {
      if (!refusesFilters(request.routeOptions.config.plane)) return
      const sent = request.query as Record<string, unknown>
      const faults: Fault[] = []
      for (const name in sent) {
        const fault = faultOf(name, sent)
        if (fault !== null) faults.push({ path: quotable(name), message: fault })
      }
      if (faults.length === 0) faults.push(...reversedRanges(known, sent))
      if (faults.length > 0) {
        throw new ApiError('validation_error', { body: { issues: faults.slice(0, FAULTS_MAX) } })
      }
    }
    route.preHandler = [check, ...[route.preHandler ?? []].flat()]
  })
}

/** The length of a date, with which a time begins; and the first date that a report has. */
const DAY_LENGTH = 'YYYY-MM-DD'.length
const FIRST_DAY = '1900'

type Check = (query: unknown, name: string) => string | null

/** Makes the function that says what is wrong with a parameter; null if nothing is. */
function readChecks(known: Query) {
  const checks = new Map(
    Object.entries(known).map(([name, shape]) => [
      name,
      isCursor(name, shape) ? NO_CHECK : once(checkOf(shape)),
    ]),
  )
  const names = Object.keys(known)
  return (name: string, query: unknown): string | null => {
    if (CLAMPED.includes(name)) return null
    const check = checks.get(name)
    if (check === undefined) return unknownName(name, names)
    return check(query, name)
  }
}

/** A list reads its cursor itself. The feed of events continues after a number, which is no cursor. */
const isCursor = (name: string, { type }: QueryShape): boolean =>
  name === PLACE && type !== 'integer'

/** Accepts a parameter once, or empty: of two values, one would be ignored. */
const once =
  (check: Check): Check =>
  (query, name) => {
    if (Array.isArray((query as Record<string, unknown>)[name])) return 'must be sent once'
    return readText(query, name) === undefined ? null : check(query, name)
  }

function unknownName(name: string, known: readonly string[]): string {
  const near = findNear(name, known)
  const meant = near === null ? '' : `; did you mean \`${near}\`?`
  const names = known.length === 0 ? 'None is known' : `Known are ${known.join(', ')}`
  return `is not a known parameter${meant || '.'} ${names}`
}

interface QueryShape {
  type?: string
  enum?: readonly unknown[]
  const?: unknown
  format?: string
  pattern?: string
  minimum?: number
}

const NO_CHECK: Check = () => null

function checkOf(shape: TSchema): Check {
  const {
    type,
    enum: closed,
    const: only,
    format,
    pattern,
    minimum,
  } = resolveShape(shape as Shape) as QueryShape
  if (type === 'boolean') return oneOf(['true', 'false'])
  if (closed !== undefined || only !== undefined) return oneOf((closed ?? [only]).map(String))
  if (type === 'integer') {
    // A number with bounds is clamped to them.
    const form = minimum === undefined ? /^\d{1,15}$/ : /^-?\d+(?:\.\d*)?(?:e\d+)?$/i
    return matching(form, 'must be a whole number')
  }
  if (format === 'date-time') {
    const fault = 'must be a date and time with its zone, such as 2026-01-31T09:00:00Z, or a date'
    return (query, name) => {
      const isTime = readTimestamp(query, name) !== undefined
      return isTime && isDay(textOf(query, name).slice(0, DAY_LENGTH)) ? null : fault
    }
  }
  if (format === 'date') {
    return (query, name) => {
      // Only the day of a time is checked.
      const day = textOf(query, name).slice(0, DAY_LENGTH)
      return isDay(day) && day > FIRST_DAY ? null : 'must be a date, such as 2026-01-31'
    }
  }
  if (pattern === undefined) return NO_CHECK
  return matching(
    new RegExp(pattern, 'u'),
    describePattern(pattern) ?? 'has a wrong form; see the API reference',
  )
}

const textOf = (query: unknown, name: string): string => readText(query, name) ?? ''

const oneOf =
  (values: readonly string[]): Check =>
  (query, name) =>
    values.includes(textOf(query, name)) ? null : `must be one of ${values.join(', ')}`

const matching =
  (form: RegExp, fault: string): Check =>
  (query, name) =>
    form.test(textOf(query, name)) ? null : fault

function reversedRanges(known: Query, query: unknown): Fault[] {
  return ENDS.flatMap(([from, to]) => {
    if (known[from] === undefined || known[to] === undefined) return []
    const [first, last] = [readTimestamp(query, from), readTimestamp(query, to)]
    const isReversed = first !== undefined && last !== undefined && first > last
    return isReversed ? [{ path: from, message: `must not be after \`${to}\`` }] : []
  })
}
