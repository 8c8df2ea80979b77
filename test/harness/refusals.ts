import assert from 'node:assert/strict'
import type { Answer } from './app.ts'

/** What is sent, and the refusal it must meet: the code, and for a body where it is wrong. */
export type Refusal = readonly [what: string, body: unknown, code: string, path?: string]

/** Sends each row of a table and holds the answer against it. */
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

/** Everything but what must differ from one answer to the next. */
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
