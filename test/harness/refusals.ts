import assert from 'node:assert/strict'
import { ERRORS } from '../../src/compose/errors.ts'
import type { ErrorCode } from '../../src/error-codes.ts'
import type { Answer } from './app.ts'

/** A request and its expected refusal: the code, and for a body the path of the issue. */
export type Refusal = readonly [what: string, body: unknown, code: string, path?: string]

/** Sends each row of a table and compares the answer with it. */
export async function assertRefused(
  refusals: readonly Refusal[],
  send: (body: unknown) => Promise<Answer>,
): Promise<void> {
  for (const [what, body, code, path] of refusals) {
    const answer = await send(body)
    assert.equal(answer.body.error?.code, code, `${what}: ${answer.status} ${answer.text}`)
    if (path !== undefined) assert.equal(answer.body.issues?.[0]?.path, path, what)
  }
}

/** The parts of an answer that must be equal in all answers. */
export function essence({ status, headers, text }: Answer) {
  const { date, 'x-correlation-id': _, ...rest } = headers
  return { status, headers: rest, text }
}

/** How often each status occurs, e.g. `{ 201: 1, 409: 49 }`. */
export function countStatuses(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

export const times = <T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => make(index)))

/** The members of an object, sorted: the exact shape of an answer. */
export const keysOf = (value: object): string[] => Object.keys(value).sort()

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A text that tests send in bad input, and that no answer may repeat. */
export const ECHO = 'kq-7zj-xw'

interface RawAnswer {
  status: number
  headers: Record<string, string>
  text: string
}

/**
 * Fails unless the body is the contract's error body, without the caller's input or internal
 * errors.
 */
export function isRefusal(
  answer: RawAnswer | undefined,
  code: ErrorCode,
  showsCorrelation = false,
): asserts answer is RawAnswer {
  assert.ok(answer, 'there must be an answer')
  const [status, message] = ERRORS[code]
  assert.equal(answer.status, status, answer.text)
  assert.match(answer.headers['content-type'] ?? '', /^application\/json; charset=utf-8$/)
  const id = answer.headers['x-correlation-id'] ?? ''
  assert.match(id, UUID)
  const { error, issues, ...others } = JSON.parse(answer.text)
  const expected = showsCorrelation ? { code, message, correlationId: id } : { code, message }
  assert.deepEqual(error, expected)
  assert.deepEqual(others, {})
  assert.equal(issues === undefined, code !== 'invalid_body')
  assert.ok(!answer.text.includes(ECHO), `echoes its input: ${answer.text}`)
  assert.doesNotMatch(answer.text, /\bat .*\.[jt]s\b/)
}
