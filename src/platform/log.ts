import { Writable } from 'node:stream'
import { type DestinationStream, type Logger, pino } from 'pino'

/** Digits as a person may type a card number: 13 to 19 of them, spaced or dashed. */
const CARD_LIKE = /\d(?:[ -]?\d){12,18}/g

/** The second net: whatever slips into a log line, no card number leaves the process. */
export function scrub(line: string): string {
  return line.replace(CARD_LIKE, (digits) =>
    passesLuhn(digits.replace(/\D/g, '')) ? '[card number]' : digits,
  )
}

function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    let digit = Number(digits[digits.length - 1 - i])
    if (i % 2 === 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2
    sum += digit
  }
  return sum % 10 === 0
}

/**
 * The process's log: JSON lines of chosen fields. Bodies, headers and query strings are never
 * logged; an error is reduced to what helps to find it.
 */
export function createLogger(
  level: string,
  destination: DestinationStream = process.stdout,
): Logger {
  const scrubbed = new Writable({
    decodeStrings: false,
    write: (line: string, _encoding, done) => {
      destination.write(scrub(line))
      done()
    },
  })
  return pino(
    {
      level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      serializers: { err: describeError, req: () => undefined, res: () => undefined },
    },
    scrubbed,
  )
}

interface ErrorFields {
  type: string
  message: string
  code?: string
  stack?: string
  cause?: ErrorFields
}

/** PostgreSQL's `detail` quotes rows and its `parameters` our values, so neither is kept. */
function describeError(thrown: unknown): ErrorFields {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: 'not an Error' }
  const { code } = thrown as { code?: unknown }
  return {
    type: thrown.name,
    message: thrown.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(thrown.stack === undefined ? {} : { stack: thrown.stack }),
    ...(thrown.cause === undefined ? {} : { cause: describeError(thrown.cause) }),
  }
}
