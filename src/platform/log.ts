import { type DestinationStream, type LogFn, type Logger, pino } from 'pino'
import { passesLuhn } from '../kernel/luhn.ts'
import { RepeatedWarnings } from './repeated-warnings.ts'

/** The characters that people and programs write between the digits of a card number, including the escapes of JSON. */
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
 * Masks the card numbers in a run of digits. Other digits may stand before and after one: an amount, an expiry, a
 * CVV. So every part of the run is checked, the longest first, and the search continues after a card number that was
 * found.
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

/** Returns the length of the card number that starts here; 0 when there is none. */
function cardLength(digits: string, at: number): number {
  const isWhole = at === 0 && digits.length <= DIGITS_MAX
  if (isWhole && passesLuhn(digits)) return digits.length
  // Inside a longer run only numbers count that begin with a digit of a card network: otherwise every tenth number
  // would match.
  if (!/[2-6]/.test(digits[at] ?? '')) return 0
  for (let length = DIGITS_MAX; length >= DIGITS_MIN; length--) {
    if (at + length <= digits.length && passesLuhn(digits.slice(at, at + length))) return length
  }
  return 0
}

/** Pino's number of the level `warn`. */
const WARN = 40

/**
 * Creates the log of the process: JSON lines of chosen fields, each of bounded length. Bodies, headers and query
 * strings are never logged; an error is reduced to the fields that help to find it. A warning is written once a
 * minute for each store, with the number of its repetitions.
 */
export function createLogger(
  level: string,
  destination: DestinationStream = process.stdout,
  warnings = new RepeatedWarnings(),
): Logger {
  const scrubbed = { write: (line: string) => void destination.write(scrub(cutLine(line))) }
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, req: () => undefined, res: () => undefined },
      formatters: { log: keepPlain },
      hooks: {
        logMethod(args, method, number) {
          const write = (repeated: number) => method.apply(this, toBounded(args, repeated))
          const key = number === WARN ? warningKey(args, this.bindings()) : null
          if (key === null) write(0)
          else warnings.tell(key, write)
        },
      },
    },
    scrubbed,
  )
}

/** The longest text, and the longest list, in a log line. Either may come from a caller. */
const TEXT_MAX = 1_000
const LIST_MAX = 50

const cut = (text: string): string =>
  text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}… (${text.length} characters)`

const cutValue = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, LIST_MAX).map(cutValue)
  return typeof value === 'string' ? cut(value) : value
}

/** The longest line: an error with its causes has less. */
const LINE_MAX = 100_000

/** Replaces a line that is still too long: the fields of a child logger are not cut. */
function cutLine(line: string): string {
  if (line.length <= LINE_MAX) return line
  const { level, time, msg } = JSON.parse(line) as Record<string, unknown>
  return `${JSON.stringify({ level, time, cut: line.slice(0, TEXT_MAX), msg })}\n`
}

type LogArguments = Parameters<LogFn>

/** Returns the arguments of a log call with a bounded message, and with the number of repetitions, if any. */
function toBounded(args: LogArguments, repeated: number): LogArguments {
  const [first, ...rest] = args.map(cutValue)
  if (repeated === 0) return [first, ...rest] as LogArguments
  const isMessage = typeof first === 'string'
  const fields = isMessage ? { repeated } : { ...Object(first), repeated }
  return (isMessage ? [fields, first, ...rest] : [fields, ...rest]) as LogArguments
}

/** The fields that distinguish warnings of one message: the store, and our own texts for what happened. */
const DISTINCT = ['tenant', 'tenant_ref', 'call', 'why', 'reason', 'code'] as const

/** Names a warning. Returns null for one without a message. */
function warningKey(args: LogArguments, bindings: pino.Bindings): string | null {
  const message = args.find((each) => typeof each === 'string')
  if (message === undefined) return null
  const fields: Record<string, unknown> = { ...bindings, ...Object(args[0]) }
  return JSON.stringify([cut(message), ...DISTINCT.map((name) => cutValue(fields[name]))])
}

/** Keeps plain values only. A body, a row or a buffer would be logged in full. */
function keepPlain(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name === 'err') return [name, value]
      if (value instanceof Error) return [name, describeError(value)]
      return [name, isPlain(value) ? cutValue(value) : undefined]
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

/** The bounds of a logged error: it may quote its input, and its causes may form a cycle. */
const MESSAGE_MAX = 1_000
const FRAMES_MAX = 12
const FRAME_MAX = 200
const CAUSES_MAX = 5

/** PostgreSQL's class 22: a value has no right form. */
const WRONG_VALUE = /^22[0-9A-Z]{3}$/

/**
 * Returns the message of an error without what it quotes of a caller or a provider: PostgreSQL quotes a value that has
 * no right form, and `JSON.parse` the text that is no JSON.
 */
function safeMessage({ message, name }: Error, code: unknown): string {
  const isQuoting = name === 'SyntaxError' || (typeof code === 'string' && WRONG_VALUE.test(code))
  return (isQuoting ? message.replace(/".*"/s, '"…"') : message).slice(0, MESSAGE_MAX)
}

/** Returns the places of a stack, without the message that it begins with. */
function framesOf(stack: string): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return frames
    .slice(0, FRAMES_MAX)
    .map((line) => line.trim().slice(0, FRAME_MAX))
    .join('\n')
}

/**
 * Reduces an error to its logged fields: type, code, message and places. Everything else stays out, whatever a library
 * adds. PostgreSQL's `detail` quotes rows, its `parameters` quote our values, and the driver adds the whole client to
 * the error of a lost connection, with its settings, statements and cancel key.
 */
function describeError(thrown: unknown, depth = 0): ErrorFields {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: 'not an Error' }
  const { code } = thrown as { code?: unknown }
  // An AggregateError has no message of its own; its first error stands for all.
  const cause = thrown instanceof AggregateError ? thrown.errors[0] : thrown.cause
  return {
    type: cut(thrown.name),
    message: safeMessage(thrown, code),
    ...(typeof code === 'string' ? { code: cut(code) } : {}),
    ...(thrown.stack === undefined ? {} : { stack: framesOf(thrown.stack) }),
    ...(cause === undefined || depth === CAUSES_MAX
      ? {}
      : { cause: describeError(cause, depth + 1) }),
  }
}
