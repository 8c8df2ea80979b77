import assert from 'node:assert/strict'
import { ERRORS, type ErrorCode } from '../../src/errors.ts'

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** Stands in what tests send wrong, and must stand in no answer. */
export const ECHO = 'kq-7zj-xw'

interface Refusal {
  status: number
  headers: Record<string, string>
  text: string
}

/** The contract's error body, and nothing that the caller sent or that happened inside. */
export function isRefusal(
  answer: Refusal | undefined,
  code: ErrorCode,
  showsCorrelation = false,
): asserts answer is Refusal {
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
