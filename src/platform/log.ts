import { type DestinationStream, type Logger, pino } from 'pino'
import { passesLuhn } from '../kernel/luhn.ts'

/**
 * What people and programs write between the digits of a card number, including the escapes of
 * JSON.
 */
const BETWEEN = '(?:[\\s._/+-]|\\\\[nrt])'

/** Our ids are full of digits and dashes, and must stay whole to be useful. */
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/** At least as many digits as the shortest card number has. */
const CANDIDATE = new RegExp(`\\b${UUID}\\b|\\d(?:${BETWEEN}{0,3}\\d){12,}`, 'gi')
const IS_UUID = new RegExp(`^${UUID}$`, 'i')

const DIGITS_MIN = 13
const DIGITS_MAX = 19

/** Masks card numbers in a log line. No code should log one; this is the second line of defence. */
export function scrub(line: string): string {
  return line.replace(CANDIDATE, (run) => (IS_UUID.test(run) ? run : hideCards(run)))
}

/**
 * Masks the card numbers in a run of digits. Other digits may stand before and after one: an
 * amount, an expiry, a CVV. So every part of the run is checked, the longest first, and the search
 * continues after the one found.
 */
function hideCards(run: string): string {
  const places = [...run.matchAll(/\d/g)].map(({ index }) => index)
  const digits = run.replace(/\\[nrt]|\D/g, '')
  let shown = ''
  let from = 0
  for (let at = 0; at + DIGITS_MIN <= digits.length; at++) {
    const length = cardLength(digits, at)
    if (length === 0) continue
    shown += `${run.slice(from, places[at])}[card number]`
    at += length - 1
    from = (places[at] ?? 0) + 1
  }
  return shown + run.slice(from)
}

/** The length of the card number that starts here; 0 when there is none. */
function cardLength(digits: string, at: number): number {
  const isWhole = at === 0 && digits.length <= DIGITS_MAX
  if (isWhole && passesLuhn(digits)) return digits.length
  // Inside a longer run only first digits that card networks issue count, else every tenth number
  // would match.
  if (!/[2-6]/.test(digits[at] ?? '')) return 0
  for (let length = DIGITS_MAX; length >= DIGITS_MIN; length--) {
    if (at + length <= digits.length && passesLuhn(digits.slice(at, at + length))) return length
  }
  return 0
}

/**
 * Creates the log of the process: JSON lines of chosen fields. Bodies, headers and query strings
 * are never logged; an error is reduced to what helps to find it.
 */
export function createLogger(
  level: string,
  destination: DestinationStream = process.stdout,
): Logger {
  const scrubbed = { write: (line: string) => void destination.write(scrub(line)) }
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, req: () => undefined, res: () => undefined },
      formatters: { log: keepPlain },
    },
    scrubbed,
  )
}

/** Keeps plain values only. A body, a row or a buffer would be written out whole. */
function keepPlain(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name === 'err') return [name, value]
      if (value instanceof Error) return [name, describeError(value)]
      return [name, isPlain(value) ? value : undefined]
    }),
  )
}

const isPlain = (value: unknown): boolean =>
  value === null ||
  ['string', 'number', 'boolean', 'undefined'].includes(typeof value) ||
  (Array.isArray(value) && value.every((each) => !Array.isArray(each) && isPlain(each)))

interface ErrorFields {
  type: string
  message: string
  code?: string
  stack?: string
  cause?: ErrorFields
}

/** Limits of a logged error: it may quote its input, and its causes may form a cycle. */
const MESSAGE_MAX = 2_000
const STACK_MAX = 8_000
const CAUSES_MAX = 5

/**
 * Reduces an error to its logged fields. PostgreSQL's `detail` quotes rows and its `parameters`
 * quote our values, so neither is logged.
 */
function describeError(thrown: unknown, depth = 0): ErrorFields {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: 'not an Error' }
  const { code } = thrown as { code?: unknown }
  // An AggregateError has no message of its own; its first error stands for all.
  const cause = thrown instanceof AggregateError ? thrown.errors[0] : thrown.cause
  return {
    type: thrown.name,
    message: thrown.message.slice(0, MESSAGE_MAX),
    ...(typeof code === 'string' ? { code } : {}),
    ...(thrown.stack === undefined ? {} : { stack: thrown.stack.slice(0, STACK_MAX) }),
    ...(cause === undefined || depth === CAUSES_MAX
      ? {}
      : { cause: describeError(cause, depth + 1) }),
  }
}
